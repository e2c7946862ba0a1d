"""The events of one run: numbered, recorded, reported to watchers, measured."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fingerpost import clock
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.published import ReportProgress
from fingerpost.plan.journal import Event, Journal, RunState, StepRecord
from fingerpost.runtime.instruments import PLAN_RUNS, PLAN_STEP_DURATION, TOOL
from fingerpost.runtime.spans import Attribute, Measured, measured

Watch = Callable[[Event], None]
"""Callback for a run's events; it must not raise or block."""

_STAMP_S = 0.001


class RunEvents:
    """Numbers a run's events on from the last that is recorded."""

    def __init__(self, run_id: str, last_seq: int, journal: Journal) -> None:
        self._run_id = run_id
        self._seq = last_seq
        self._journal = journal
        self._watches: Sequence[Watch] = ()
        self._unreported: deque[list[Any]] = deque()
        self._stamp = ""
        self._stamped_at = -1.0

    def tell(self, watches: Sequence[Watch]) -> None:
        """Report every event to these; one that is added to them later receives events from then on."""
        self._watches = watches

    def draw(self, kind: str, number: int | None, data: str | None = None) -> Event:
        """Return the next event, which the caller records and then reports."""
        self._seq += 1
        event = Event(self._seq, self.now(), kind, number, data)
        if self._watches:
            self._unreported.append([event, False])
        return event

    def append_undurable(self, kind: str, number: int | None, data: str | None = None) -> None:
        event = self.draw(kind, number, data)
        self._journal.append_event(self._run_id, event)
        self.report(event)

    def report(self, *events: Event) -> None:
        """Report events to the watchers once they and all events before them are recorded."""
        if not self._unreported:
            return
        for entry in self._unreported:
            if any(entry[0] is event for event in events):
                entry[1] = True
        while self._unreported and self._unreported[0][1]:
            event = self._unreported.popleft()[0]
            for watch in self._watches:
                watch(event)

    def now(self) -> str:
        """Return the current instant; events within a millisecond share it."""
        moment = asyncio.get_running_loop().time()
        if moment - self._stamped_at > _STAMP_S:
            self._stamp = clock.now().isoformat().replace("+00:00", "Z")
            self._stamped_at = moment
        return self._stamp


_ENDED = {"step_completed": "done", "step_skipped": "skipped", "step_failed": "failed"}
_BEGUN = {"step_started": "begun", "step_waiting": "waits for a person"}


class RunProgress:
    """Reports a run's progress: a started step counts half, an ended one whole.

    The count never falls: a step that is tried once more after it failed stays counted.
    """

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._steps: dict[int, PlanStep] = {}
        self._shares: dict[int, float] = {}

    def catch_up(self, run_id: str, plan: Plan, recorded: Mapping[int, StepRecord]) -> None:
        """Count the steps that are already recorded; events watched before this call count too."""
        self._steps = {step.step_id: step for step in plan.steps}
        for number, record in recorded.items():
            if record.state in ("completed", "skipped"):
                self._shares[number] = 1.0
        self._report_step(f"{plan.goal} (run {run_id})")

    def watch(self, event: Event) -> None:
        word = _ENDED.get(event.kind) or _BEGUN.get(event.kind)
        if event.step_id is None or word is None:
            return
        share = 1.0 if event.kind in _ENDED else 0.5
        self._shares[event.step_id] = max(self._shares.get(event.step_id, 0.0), share)
        if (step := self._steps.get(event.step_id)) is not None:
            self._report_step(f"{step.step_id}. {step.description}: {word}")

    def _report_step(self, words: str) -> None:
        done = sum(share for number, share in self._shares.items() if number in self._steps)
        self._report(done, len(self._steps), words)


async def measure_run(carried_on: Awaitable[RunState], run_id: str) -> RunState:
    """Carry a run on in a span, and count it by its state afterwards: ended, or waiting for a person."""
    with measured("plan run", {}, also={"fingerpost.plan.run_id": run_id}):
        state = await carried_on
    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": state})
    return state


def measuring_step(tool: str, run_id: str, step_id: int) -> Measured:
    """Return what measures one step with all its attempts; ``tool`` is the tool's or the agent's name."""
    of_run: dict[str, Attribute] = {"fingerpost.plan.run_id": run_id, "fingerpost.plan.step_id": step_id}
    return measured("plan step", {TOOL: tool}, PLAN_STEP_DURATION, also=of_run)
