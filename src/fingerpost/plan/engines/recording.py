"""What all engines share: ids of runs, the writer's thread, and runs that are executed by who asks for them."""

import asyncio
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import count
from typing import cast

from fingerpost.plan.engines.group_commit import GroupCommit, JournalSession
from fingerpost.plan.journal import (
    ENDED,
    CarryOn,
    Event,
    Given,
    NewRun,
    RunRecord,
    RunState,
    StepRecord,
)
from fingerpost.plan.limits import encode

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost.plan.runs")

_RunRow = tuple[str | None, str, str, RunState, str, str | None, int, int]


class RecordingJournal(ABC):
    """The part of a journal that records through a ``GroupCommit``, one for each event loop."""

    def __init__(self) -> None:
        self._writer: GroupCommit | None = None
        self._attached: CarryOn | None = None

    @abstractmethod
    def _new_session(self) -> JournalSession:
        """Return a connection for a new writer."""

    @abstractmethod
    def _storable_note(self, note: str | None) -> str | None:
        """Return the reason for a step's state as this journal can store it."""

    def record(
        self, run_id: str, step: StepRecord | None, events: Sequence[Event], state: RunState | None, at: str
    ) -> Awaitable[None]:
        return self._writing().put(
            run_id,
            None if step is None else (run_id, *step._replace(note=self._storable_note(step.note))),
            [(run_id, *event) for event in events],
            None if state is None else (state, at if state in ENDED else None, run_id),
        )

    def append_event(self, run_id: str, event: Event) -> None:
        self._writing().append_event((run_id, *event))

    def attach(self, carry_on: CarryOn) -> None:
        """Keep the function for an engine that begins executions by itself."""
        self._attached = carry_on

    async def launch(self) -> None:  # noqa: B027  (nothing has to be started where this process executes its runs)
        """Do nothing."""

    def recovering(self) -> AbstractAsyncContextManager[None]:
        """Do nothing: no other process could have begun a run."""
        return nullcontext()

    async def carry_out(self, run_id: str, carry_on: CarryOn) -> RunState:
        return await carry_on(run_id)

    def close(self) -> None:
        """End the writer's thread; what was recorded is on disk."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _writing(self) -> GroupCommit:
        # One writer an event loop: the command line and the tests begin a new one now and then.
        if self._writer is None or self._writer.loop is not asyncio.get_running_loop():
            RecordingJournal.close(self)
            self._writer = GroupCommit(self._new_session())
        return self._writer


def draw_ids(run: NewRun) -> Iterator[str]:
    """Yield ids for a new run until one is free: random ones, or (rule F4) its base with a counter."""
    for number in count(1):
        yield str(uuid.uuid4() if run.base_id is None else uuid.uuid5(_NAMESPACE, f"{run.base_id}#{number}"))


def run_of(run_id: str, row: Sequence[object], steps: Sequence[StepRecord], last_seq: int | None) -> RunRecord:
    user, plan_json, given, state, created_at, ended_at, protocol, replans = cast("_RunRow", row)
    return RunRecord(
        run_id=run_id,
        user=user,
        plan_json=plan_json,
        given=_read_given(given),
        state=state,
        created_at=created_at,
        ended_at=ended_at,
        protocol=protocol,
        replans=replans,
        steps={step.step_id: step for step in steps},
        last_seq=last_seq or 0,
    )


def write_given(given: Given) -> str:
    return encode({"values": dict(given.values), "paths": dict(given.paths)})


def _read_given(text: str) -> Given:
    # By name: a key that a newer build adds must not keep this one from reporting that the run is newer.
    found = json.loads(text)
    return Given(values=found.get("values", {}), paths=found.get("paths", {}))
