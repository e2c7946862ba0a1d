"""Watchers of a run's events: progress for whoever waits, and measures."""

from collections.abc import Awaitable, Callable, Mapping

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.published import ReportProgress
from fingerpost.plan.records import Event, RunState, StepRecord
from fingerpost.runtime.instruments import PLAN_RUNS, PLAN_STEP_DURATION, TOOL
from fingerpost.runtime.spans import Attribute, Measured, measured

Watch = Callable[[Event], None]
"""Callback for a run's events; it must not raise or block."""


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
