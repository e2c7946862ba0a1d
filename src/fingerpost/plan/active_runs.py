"""The runs that one process executes: each in the task that asks for it, or in the background."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from fingerpost.errors import PlanInvalid, SourceLimited, StorageUnavailable
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.execution import Execution
from fingerpost.plan.journal import Journal
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_json import finished, plan_of, refuse_newer
from fingerpost.plan.records import Event, RunRecord, RunState
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import ValidPlan, validate_plan
from fingerpost.runtime.instruments import PLAN_RUNS, measured

_log = logging.getLogger(__name__)

Watch = Callable[[Event], None]
"""Callback for a run's events; it must not raise or block."""

_RETRY_AFTER_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Begun:
    caller: str
    task: "asyncio.Task[RunState]"


class ActiveRuns:
    def __init__(self, catalogue: Catalogue, journal: Journal, limits: Limits, *, poll_s: float) -> None:
        self.catalogue = catalogue
        self.journal = journal
        self.limits = limits
        self._poll_s = poll_s
        self._executor = StepExecutor(catalogue, limits)
        self._executions: dict[str, Execution] = {}
        self._watches: dict[str, list[Watch]] = {}
        self._begun: dict[str, _Begun] = {}
        journal.attach(self._execute)

    async def carry_on(self, run_id: str) -> RunState:
        """Execute a run in this task until it ends or waits, and return its state.

        Raises:
            StorageUnavailable: another process executes it, or the journal cannot be written.
            PlanInvalid: the run is unknown, or what is unfinished of its plan can no longer be carried out.
        """
        return await self.journal.carry_out(run_id)

    def check_room(self, caller: str) -> None:
        """Check that a caller may begin one more run.

        Raises:
            SourceLimited: too many are under way.
        """
        count = sum(begun.caller == caller for begun in self._begun.values())
        if count >= self.limits.runs_of_caller:
            raise SourceLimited(
                f"{count:,} of your plan runs are under way, which is the limit",
                retry_after_s=_RETRY_AFTER_S,
                hint="Wait for one to end, or cancel one: run_plan with its run_id and action cancel",
            )

    def begin(self, run_id: str, caller: str = "") -> None:
        task = asyncio.create_task(self.carry_on(run_id), name=f"run {run_id}")
        begun = self._begun[run_id] = _Begun(caller, task)
        task.add_done_callback(lambda _task: self._end(run_id, begun))

    def is_under_way(self, run_id: str) -> bool:
        begun = self._begun.get(run_id)
        return begun is not None and not begun.task.done()

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the background execution of a run stops, or until a timeout.

        Raises:
            ToolError: the execution failed.
        """
        begun = self._begun.get(run_id)
        if begun is not None:
            await asyncio.wait([begun.task], timeout=longest_s)
            if begun.task.done() and not begun.task.cancelled():
                begun.task.result()

    async def stop(self) -> None:
        """Cancel the background executions; each run can be resumed from its record."""
        tasks = [begun.task for begun in self._begun.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    @contextmanager
    def watching(self, run_id: str, watch: Watch) -> Iterator[None]:
        """Report each event of a run that this process executes during the block, once it is recorded.

        The events of one step come in order; an event of a parallel step may come before one with a lower number.
        """
        watches = self._watches.setdefault(run_id, [])
        watches.append(watch)
        try:
            yield
        finally:
            watches.remove(watch)
            if not watches:
                self._watches.pop(run_id, None)

    def shape_of(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan for display; its tools need not exist any more."""
        plan = plan_of(run)
        done = [step.step_id for step in plan.steps]
        return validate_plan(plan, self.catalogue, memory=run.given.values, done=done, limits=self.limits)

    def validate_again(self, run: RunRecord) -> ValidPlan:
        """Validate the unfinished part of a run's plan again, because an upgrade may have changed the tools.

        Raises:
            PlanInvalid: it no longer fits the tools.
        """
        return validate_plan(
            plan_of(run),
            self.catalogue,
            memory=run.given.values,
            done=finished(run),
            limits=self.limits,
            complaint="What is left of the run no longer fits the tools",
            hint="Replace the unfinished steps, or cancel the run; what is recorded stays",
        )

    async def _execute(self, run_id: str) -> RunState:
        """Execute a run in this task; the engine decides when and where."""
        state: RunState | None = None
        while True:
            async with self.journal.hold(run_id) as is_ours:
                if not is_ours:
                    if state is not None:
                        return state
                    raise StorageUnavailable(f"The run {run_id} is being carried on elsewhere")
                run = await self.journal.find(run_id)
                if run is None:
                    raise PlanInvalid(f"There is no run '{run_id}'", {"field": "run_id"})
                refuse_newer(run)
                if run.state in ("completed", "cancelled"):
                    return run.state
                valid = self.validate_again(run)
                execution = self._executions[run_id] = Execution(
                    run, valid, self.journal, self._executor, self.limits, self._report, poll_s=self._poll_s
                )
                try:
                    await execution.read_signals()
                    with measured("plan run", {}, also={"fingerpost.plan.run_id": run_id}):
                        state = await execution.execute()
                    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": state})
                finally:
                    del self._executions[run_id]
            # While this process still held the run, another could store a decision, but not execute the run.
            if state != "waiting" or not await self.journal.list_signals(run_id, execution.last_signal):
                return state

    def _report(self, run_id: str, event: Event) -> None:
        for watch in self._watches.get(run_id, ()):
            watch(event)

    def _end(self, run_id: str, ended: _Begun) -> None:
        if self._begun.get(run_id) is ended:
            del self._begun[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s stopped: %s", run_id, error)
