"""Read recorded runs through the journal port, without executing them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fingerpost.plan.journal import Event, Journal, RunRecord
from fingerpost.plan.runs import PlanRuns
from fingerpost.testing.engines.engine import Engine
from fingerpost.testing.engines.fixtures import USER, new_runs

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run's record, its memory by key, and its events."""

    record: RunRecord
    memory: Mapping[str, object]
    events: list[Event]

    @property
    def done(self) -> frozenset[str]:
        """The steps ("run:step") that are recorded as completed."""
        return frozenset(
            f"{self.record.run_id}:{number}" for number, step in self.record.steps.items() if step.state == "completed"
        )


def with_journal(engine: Engine, folder: Path, act: Callable[[Journal], Awaitable[_R]]) -> _R:
    """Run a function on a newly opened journal, and close it."""

    async def once() -> _R:
        journal = engine.open(folder)
        try:
            return await act(journal)
        finally:
            journal.close()

    return asyncio.run(once())


def with_runs(engine: Engine, folder: Path, act: Callable[[PlanRuns], Awaitable[_R]]) -> _R:
    """Run a function on the runs of a newly opened journal."""
    return with_journal(engine, folder, lambda journal: act(new_runs(journal, folder)))


def read_runs(engine: Engine, folder: Path) -> list[RecordedRun]:
    """Return all runs of a place, oldest first."""

    async def read(runs: PlanRuns) -> list[RecordedRun]:
        found = []
        for line in reversed(await runs.list_runs(USER)):
            record = await runs.get(line.run_id, USER)
            events = await runs.journal.list_events(line.run_id, 0, 10_000)
            found.append(RecordedRun(record, runs.memory_of(record).keyed(), events))
        return found

    return with_runs(engine, folder, read)
