"""The runs that one process executes: in the background, alone, and with an ear for signals."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from fingerpost import clock
from fingerpost.errors import PlanInvalid, SourceLimited, StorageUnavailable
from fingerpost.plan.execution import Execution
from fingerpost.plan.journal import Journal, RunRecord, RunState
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_json import RecordedPlans, refuse_newer, write_instant
from fingerpost.plan.run_events import Watch, measure_run
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import ValidPlan

_log = logging.getLogger(__name__)

# Steps of runs that were created and not begun yet; whoever begins one of more reads it again. Each step is ten objects
# that the garbage collector looks at, and it keeps every call waiting meanwhile.
_MOST_FRESH_STEPS = 500
_RETRY_AFTER_S: Final = 5.0
_RETENTION_INTERVAL = timedelta(hours=1)


class CarriedRuns:
    """Carries runs on, in whatever task asks for it.

    Args:
        journal: where they are recorded.
        plans: what reads and checks the plan of one.
        executor: calls the tools.
        limits: of each run.
        poll_s: how often a run that is carried on looks for signals of other processes.
    """

    def __init__(
        self, journal: Journal, plans: RecordedPlans, executor: StepExecutor, limits: Limits, *, poll_s: float
    ) -> None:
        self._journal = journal
        self._plans = plans
        self._executor = executor
        self._limits = limits
        self._poll_s = poll_s
        self._fresh: OrderedDict[str, tuple[RunRecord, ValidPlan]] = OrderedDict()
        self._executions: dict[str, Execution] = {}
        self._watches: dict[str, list[Watch]] = {}

    def keep_fresh(self, run: RunRecord, valid: ValidPlan) -> None:
        """Keep a run that was created just now, for whoever begins it at once."""
        self._fresh[run.run_id] = (run, valid)
        while (
            len(self._fresh) > 1 and sum(len(valid.steps) for _run, valid in self._fresh.values()) > _MOST_FRESH_STEPS
        ):
            self._fresh.popitem(last=False)

    async def carry_on(self, run_id: str) -> RunState:
        """Execute a run in this task until it ends or waits; the engine decides when and where.

        Raises:
            StorageUnavailable: another process carries it on, or the journal cannot be written.
            PlanInvalid: the run is unknown, or what is unfinished of its plan can no longer be carried out.
        """
        state: RunState = "running"
        last_signal = -1
        while True:
            async with self._journal.hold(run_id) as is_ours:
                if not is_ours:
                    if last_signal >= 0:
                        return state
                    raise StorageUnavailable(f"The run {run_id} is being carried on elsewhere")
                run, valid, is_fresh = await self._known(run_id)
                if run.state in ("completed", "cancelled"):
                    return run.state
                execution = Execution(run, valid, self._journal, self._executor, self._limits)
                state = await self._execute(run_id, execution, is_fresh=is_fresh)
                last_signal = execution.last_signal
            # Somebody may have decided between our last look and the end of our hold, and not have got one.
            if state != "waiting" or not await self._journal.list_signals(run_id, last_signal):
                return state

    async def hear(self, run_id: str) -> None:
        execution = self._executions.get(run_id)
        if execution is not None:
            execution.hear(await self._journal.list_signals(run_id, execution.last_signal))

    @contextmanager
    def watching(self, run_id: str, watch: Watch) -> Iterator[None]:
        """Report each event of a run that this process executes during the block, in order, once it is recorded."""
        watches = self._watches.setdefault(run_id, [])
        watches.append(watch)
        try:
            yield
        finally:
            watches.remove(watch)
            self._forget_watches(run_id)

    async def _execute(self, run_id: str, execution: Execution, *, is_fresh: bool) -> RunState:
        execution.tell(self._watches.setdefault(run_id, []))
        self._executions[run_id] = execution
        listener = None
        try:
            if not is_fresh:
                execution.hear(await self._journal.list_signals(run_id, 0))
            listener = asyncio.create_task(self._listen(run_id, execution))
            return await measure_run(execution.carry_on(), run_id)
        finally:
            del self._executions[run_id]
            self._forget_watches(run_id)
            if listener is not None:
                listener.cancel()
                await asyncio.wait([listener])

    async def _listen(self, run_id: str, execution: Execution) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                execution.hear(await self._journal.list_signals(run_id, execution.last_signal))
            except StorageUnavailable as error:
                # The next look may succeed; a record that cannot be written ends the run by itself.
                _log.warning("run=%s could not be listened for: %s", run_id, error.message)

    async def _known(self, run_id: str) -> tuple[RunRecord, ValidPlan, bool]:
        """Return a run that is held, its plan checked, and whether it was made just now and nothing has happened."""
        fresh = self._fresh.pop(run_id, None)
        if fresh is not None and await self._journal.is_untouched(run_id):
            return *fresh, True
        run = await self._journal.find(run_id)
        if run is None:
            raise PlanInvalid(f"There is no run '{run_id}'", {"field": "run_id"})
        refuse_newer(run)
        is_over = run.state in ("completed", "cancelled")
        return run, (self._plans.shape_of if is_over else self._plans.check_again)(run), False

    def _forget_watches(self, run_id: str) -> None:
        if run_id not in self._executions and not self._watches.get(run_id, True):
            del self._watches[run_id]


@dataclass(frozen=True, slots=True)
class _Begun:
    user: str | None
    task: "asyncio.Task[RunState]"


class BackgroundRuns:
    """The background tasks of a process's runs."""

    def __init__(self, carry_on: Callable[[str], Coroutine[Any, Any, RunState]], limits: Limits) -> None:
        self._carry_on = carry_on
        self._limits = limits
        self._begun: dict[str, _Begun] = {}

    def check_room(self, user: str | None) -> None:
        """Check that a user may begin one more run.

        Raises:
            SourceLimited: too many are under way.
        """
        count = sum(begun.user == user for begun in self._begun.values())
        if count >= self._limits.runs_of_user:
            raise SourceLimited(
                f"{count:,} of your plan runs are under way, which is the limit",
                retry_after_s=_RETRY_AFTER_S,
                hint="Wait for one to end, or cancel one: run_plan with its run_id and action cancel",
            )

    def begin(self, run_id: str, user: str | None) -> None:
        task = asyncio.create_task(self._carry_on(run_id), name=f"run {run_id}")
        begun = self._begun[run_id] = _Begun(user, task)
        task.add_done_callback(lambda _task: self._ended(run_id, begun))

    def is_under_way(self, run_id: str) -> bool:
        begun = self._begun.get(run_id)
        return begun is not None and not begun.task.done()

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the task of a run ends, or until a timeout.

        Raises:
            ToolError: the task failed.
        """
        begun = self._begun.get(run_id)
        if begun is not None:
            await asyncio.wait([begun.task], timeout=longest_s)
            if begun.task.done() and not begun.task.cancelled():
                begun.task.result()

    async def stop(self) -> None:
        """Cancel every task; each run can be resumed from its record."""
        tasks = [begun.task for begun in self._begun.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, run_id: str, ended: _Begun) -> None:
        if self._begun.get(run_id) is ended:
            del self._begun[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s stopped: %s", run_id, error)


class RunRetention:
    """Removes runs that ended too long ago; ``days`` counts from a run's end, None keeps for ever."""

    def __init__(self, journal: Journal, days: int | None) -> None:
        self._journal = journal
        self._kept = None if days is None else timedelta(days=days)
        self._applied_at: datetime | None = None

    async def apply(self) -> None:
        """Remove what is too old, once an hour at most.

        Raises:
            SettingsInvalid, StorageUnavailable: the journal cannot be used.
        """
        instant = clock.now()
        if self._kept is None or (self._applied_at is not None and instant - self._applied_at < _RETENTION_INTERVAL):
            return
        self._applied_at = instant
        count = await self._journal.forget_before(write_instant(instant - self._kept))
        if count:
            _log.info("%d runs that ended more than %d days ago were removed", count, self._kept.days)
