"""The runs that one process carries on: each is held by it alone, begins in its turn, and hears what is said of it."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from fingerpost.errors import PlanInvalid, StorageUnavailable
from fingerpost.plan.execution import Execution
from fingerpost.plan.journal import Journal, RunRecord, RunState
from fingerpost.plan.limits import Limits
from fingerpost.plan.recorded_plans import RecordedPlans, refuse_newer
from fingerpost.plan.run_events import Watch
from fingerpost.plan.run_measurement import measure_run
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import ValidPlan

_log = logging.getLogger(__name__)

# Steps of runs that were created and not begun yet; whoever begins one of more reads it again. Each step is ten objects
# that the garbage collector looks at, and it keeps every call waiting meanwhile.
_MOST_FRESH_STEPS = 500


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
        """Look for signals to a run now, if it is executed here."""
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
        """Poll for signals from other processes while a run is executed."""
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
