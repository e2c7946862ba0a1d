"""Operations on plan runs, shared by all interfaces: create, execute, approve, cancel, resume, replace."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

from fingerpost import clock
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.question_size import has_more_values
from fingerpost.errors import PlanInvalid, StorageUnavailable
from fingerpost.plan.catalogue import HUMAN, Catalogue
from fingerpost.plan.execution import Execution, Watch
from fingerpost.plan.journal import ENDED, PROTOCOL, Event, Given, Journal, NewRun, RunLine, RunRecord, RunState, Verb
from fingerpost.plan.limits import Limits
from fingerpost.plan.memory import Memory
from fingerpost.plan.plan_json import aside, now, plan_of, plan_of_aside, write_plan
from fingerpost.plan.retention import RunRetention
from fingerpost.plan.run_measurement import measure_run
from fingerpost.plan.size_limits import encode, find_excess
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import CANNOT_RUN, ValidPlan, validate_plan
from fingerpost.resilience.breaker import Breaker
from fingerpost.resilience.fair_threads import COMPUTING

_log = logging.getLogger(__name__)

_ID_CHARS = 36
# A longer plan is checked in a thread, and so are more values of a memory.
_QUICK_STEPS = 20
_QUICK_VALUES = 200
# Runs that were created and not begun yet; whoever begins one of more reads it again.
_MOST_FRESH = 16

SeenState = RunState | Literal["interrupted"]


class PlanRuns:
    """Plan runs over one catalogue and one journal.

    Many processes may share a journal: each run is carried on by one of them at a time.
    ``retention_days`` counts from a run's end; None keeps for ever.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        journal: Journal,
        limits: Limits | None = None,
        *,
        poll_s: float = 0.5,
        retention_days: int | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.journal = journal
        self.limits = limits or Limits()
        self._poll_s = poll_s
        self._executor = StepExecutor(catalogue, self.limits, breaker)
        self._retention = RunRetention(journal, retention_days)
        self._fresh: OrderedDict[str, tuple[RunRecord, ValidPlan]] = OrderedDict()
        self._executions: dict[str, Execution] = {}
        self._tasks: dict[str, asyncio.Task[RunState]] = {}
        self._watches: dict[str, list[Watch]] = {}
        journal.attach(self._execute)

    def check(self, plan: Plan, memory: Mapping[str, Any] | None = None) -> ValidPlan:
        """Return a plan that can run; nothing is kept.

        Raises:
            PlanInvalid: it cannot; ``details["errors"]`` has every problem.
        """
        return validate_plan(plan, self.catalogue, memory=memory or (), limits=self.limits)

    async def create(
        self,
        plan: Plan,
        *,
        user: str | None = None,
        memory: Mapping[str, Any] | None = None,
        memory_of: str | None = None,
    ) -> str:
        """Validate a plan, store it as a new run and return the run's id; nothing is executed yet.

        ``memory`` gives values by key; ``memory_of`` an earlier run of the same user, which they go over.

        Raises:
            PlanInvalid: the plan, or the memory, is no good.
        """
        given = await self._given(user, memory or {}, memory_of)
        if len(plan.steps) > _QUICK_STEPS:
            valid, plan_json = await COMPUTING.run(self._check_and_write, plan, given.values)
        else:
            valid, plan_json = self._check_and_write(plan, given.values)
        fixed = clock.find_fixed()
        base = None
        if fixed is not None:
            base = new_correlation_id(fixed, user, "run_plan", [plan_json, dict(given.values)])
        await self._retention.apply()
        new = NewRun(
            base_id=base,
            user=user,
            plan_json=plan_json,
            goal=plan.goal,
            steps=len(plan.steps),
            given=given,
            at=now(),
        )
        run_id = await self.journal.create(new)
        self._fresh[run_id] = (new.record_as(run_id), valid)
        if len(self._fresh) > _MOST_FRESH:
            self._fresh.popitem(last=False)
        return run_id

    def _check_and_write(self, plan: Plan, memory: Mapping[str, Any]) -> tuple[ValidPlan, str]:
        valid = self.check(plan, memory)
        plan_json = write_plan(valid.plan)
        if len(plan_json) > self.limits.plan_bytes:
            raise PlanInvalid(f"The plan has {len(plan_json):,} bytes, and may have {self.limits.plan_bytes:,}")
        return valid, plan_json

    async def carry_on(self, run_id: str) -> RunState:
        """Execute a run in this task until it ends or waits, and return its state.

        Raises:
            StorageUnavailable: another process carries it on, or the journal cannot be written.
            PlanInvalid: the run is unknown, or what is unfinished of its plan can no longer be carried out.
        """
        return await self.journal.carry_out(run_id, self._execute)

    async def _execute(self, run_id: str) -> RunState:
        """Execute a run in this task; the engine decides around it when and where."""
        state: RunState = "running"
        last_signal = -1
        while True:
            async with self.journal.hold(run_id) as is_ours:
                if not is_ours:
                    if last_signal >= 0:
                        return state
                    raise StorageUnavailable(f"The run {run_id} is being carried on elsewhere")
                run, valid, is_fresh = await self._known(run_id)
                if run.state in ("completed", "cancelled"):
                    return run.state
                execution = await aside(run, Execution, run, valid, self.journal, self._executor, self.limits)
                execution.tell(self._watches.setdefault(run_id, []))
                self._executions[run_id] = execution
                listener = None
                try:
                    if not is_fresh:
                        execution.on_signals(await self.journal.list_signals(run_id, 0))
                    listener = asyncio.create_task(self._listen(run_id, execution))
                    state = await measure_run(execution.carry_on(), run_id)
                finally:
                    del self._executions[run_id]
                    self._forget_watches(run_id)
                    if listener is not None:
                        listener.cancel()
                        await asyncio.wait([listener])
                last_signal = execution.last_signal
            # Somebody may have decided between our last look and the end of our hold, and not have got one.
            if state != "waiting" or not await self.journal.list_signals(run_id, last_signal):
                return state

    def begin(self, run_id: str) -> None:
        """Execute a run in a background task."""
        task = asyncio.create_task(self.carry_on(run_id), name=f"run {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda ended: self._ended(run_id, ended))

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

    def is_under_way(self, run_id: str) -> bool:
        """Whether this process executes a run in the background."""
        task = self._tasks.get(run_id)
        return task is not None and not task.done()

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the background execution of a run stops, or until a timeout.

        Raises:
            ToolError: it had to be given up.
        """
        task = self._tasks.get(run_id)
        if task is not None:
            await asyncio.wait([task], timeout=longest_s)
            if task.done() and not task.cancelled():
                task.result()

    async def get(self, run_id: str, user: str | None) -> RunRecord:
        """Return a user's run.

        Raises:
            PlanInvalid: this user has no such run, or a newer fingerpost has begun it.
        """
        run = await self.journal.find(run_id) if len(run_id) == _ID_CHARS else None
        if run is None or run.user != user:
            raise PlanInvalid(f"There is no run '{run_id[:_ID_CHARS]}'", {"field": "run_id"})
        _refuse_newer(run)
        return run

    async def list_runs(self, user: str | None, limit: int = 50) -> list[RunLine]:
        """Return a user's newest runs; who has no name has no list."""
        return [] if user is None else await self.journal.list_runs(user, limit)

    async def state_of(self, run: RunRecord | RunLine) -> SeenState:
        """Return how a run stands as its owner sees it: one that says it runs, and that nobody carries on, does not."""
        is_left = run.state == "running" and not await self.journal.is_held(run.run_id)
        return "interrupted" if is_left else run.state

    def memory_of(self, run: RunRecord) -> Memory:
        """Return what a run remembers as it stands."""
        outputs = {number: step.output for number, step in run.steps.items() if step.output is not None}
        return Memory(self.shape_of(run), run.given, outputs)

    def shape_of(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan for reading alone: whether its tools are still there does not matter."""
        plan = plan_of(run)
        numbers = [step.step_id for step in plan.steps]
        return validate_plan(plan, self.catalogue, memory=run.given.values, done=numbers, limits=self.limits)

    async def cancel(self, run_id: str, user: str | None) -> None:
        """Cancel a run: running steps are stopped, records stay.

        Raises:
            PlanInvalid: there is no such run, or it has ended.
        """
        run = await self.get(run_id, user)
        if run.state in ENDED:
            raise PlanInvalid(f"The run has ended already: it is {run.state}", {"field": "action"})
        await self._signal(run_id, "cancel", None, None)

    async def decide(
        self, run_id: str, user: str | None, step_id: int, *, approved: bool, note: str | None = None, value: Any = None
    ) -> None:
        """Approve or reject a waiting step; of two decisions the first counts.

        Raises:
            PlanInvalid: the run has no such step, or it no longer waits.
        """
        run = await self.get(run_id, user)
        plan = await plan_of_aside(run)
        step = next((step for step in plan.steps if step.step_id == step_id), None)
        if step is None or step.agent != HUMAN:
            waiting = [str(each.step_id) for each in plan.steps if each.agent == HUMAN]
            there = f"steps {', '.join(waiting)} do" if waiting else "none does"
            raise PlanInvalid(f"Step {step_id} waits for no person; {there}", {"field": "step_id"})
        known = run.steps.get(step_id)
        if run.state in ENDED or (known is not None and known.state != "waiting"):
            raise PlanInvalid(f"Step {step_id} no longer waits for a person", {"field": "step_id"})
        decision = {"note": note, "value": value}
        if excess := find_excess(decision, most_bytes=self.limits.plan_bytes, most_depth=self.limits.depth):
            raise PlanInvalid(f"The decision cannot be kept: its value {excess}", {"field": "value"})
        await self._signal(run_id, "approve" if approved else "reject", step_id, decision)

    async def check_resumable(self, run_id: str, user: str | None) -> RunRecord:
        """Return a run that may be carried on.

        Raises:
            PlanInvalid: it is unknown, completed or cancelled, or its plan no longer fits the tools.
        """
        run = await self.get(run_id, user)
        if run.state in ("completed", "cancelled"):
            hint = "Start a new run, with memory_of this one"
            raise PlanInvalid(f"The run cannot be resumed: it is {run.state}", {"field": "action"}, hint=hint)
        await aside(run, self._revalidated, run)
        return run

    async def replace_unfinished(self, run_id: str, user: str | None, plan: Plan) -> None:
        """Replace the unfinished part of a run's plan; finished steps stay as recorded.

        Raises:
            PlanInvalid: the plan may not be changed (any more), or the new one is no good.
            StorageUnavailable: the run is being carried on.
        """
        run = await self.get(run_id, user)
        old = await plan_of_aside(run)
        if run.state in ("completed", "cancelled"):
            raise PlanInvalid(f"The run has ended: it is {run.state}", {"field": "action"})
        if not old.can_modify:
            raise PlanInvalid("The plan says can_modify: false, so its unfinished steps stay as they are")
        if run.replans >= self.limits.replans:
            raise PlanInvalid(f"The plan was changed {run.replans} times already, which is the limit")
        done = finished(run)
        kept = {step.step_id: _as_planned(step) for step in plan.steps}
        changed = [s.step_id for s in old.steps if s.step_id in done and kept.get(s.step_id) != _as_planned(s)]
        if changed:
            numbers = ", ".join(map(str, changed))
            raise PlanInvalid(f"Finished steps must stay as they are: {numbers}", {"field": "plan"})
        await aside(run, validate_plan, plan, self.catalogue, memory=run.given.values, done=done, limits=self.limits)
        async with self.journal.hold(run_id) as is_ours:
            if not is_ours:
                raise StorageUnavailable("The run is being carried on; change it when it has come to a stop")
            data = encode({"goal": plan.goal, "steps": [step.step_id for step in plan.steps]})
            event = Event(run.last_seq + 1, now(), "plan_changed", None, data)
            forget = [number for number in run.steps if number not in done]
            await self.journal.change_plan(run_id, write_plan(plan), plan.goal, forget, event)

    async def stop(self) -> None:
        """Stop every run of this process; each can be resumed from its record."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _given(self, user: str | None, memory: Mapping[str, Any], memory_of: str | None) -> Given:
        values, paths = dict(memory), dict[str, list[str]]()
        check = partial(find_excess, values, most_bytes=self.limits.plan_bytes, most_depth=self.limits.depth)
        if excess := await COMPUTING.run(check) if has_more_values(values, _QUICK_VALUES) else check():
            raise PlanInvalid(f"The memory cannot be kept: a value in it {excess}", {"field": "memory"})
        if memory_of is not None:
            run = await self.get(memory_of, user)
            earlier = await aside(run, self.memory_of, run)
            values = {**earlier.keyed(), **values}
            # Runs that start from one another would gather without end.
            if excess := find_excess(values, most_bytes=self.limits.memory_bytes, most_depth=self.limits.depth + 1):
                raise PlanInvalid(f"The memory cannot be kept: a value in it {excess}", {"field": "memory_of"})
            paths = {key: path for key, path in earlier.paths().items() if key not in memory}
        return Given(values=values, paths=paths)

    async def _signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        await self.journal.signal(run_id, verb, step_id, value)
        execution = self._executions.get(run_id)
        if execution is not None:
            execution.on_signals(await self.journal.list_signals(run_id, execution.last_signal))

    async def _listen(self, run_id: str, execution: Execution) -> None:
        """Poll for signals from other processes while a run is executed."""
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                execution.on_signals(await self.journal.list_signals(run_id, execution.last_signal))
            except StorageUnavailable as error:
                # The next look may succeed; a record that cannot be written ends the run by itself.
                _log.warning("run=%s could not be listened for: %s", run_id, error.message)

    async def _known(self, run_id: str) -> tuple[RunRecord, ValidPlan, bool]:
        """Return a run that is held, its plan checked, and whether it was made just now and nothing has happened."""
        fresh = self._fresh.pop(run_id, None)
        if fresh is not None and await self.journal.is_untouched(run_id):
            return *fresh, True
        run = await self.journal.find(run_id)
        if run is None:
            raise PlanInvalid(f"There is no run '{run_id}'", {"field": "run_id"})
        _refuse_newer(run)
        is_over = run.state in ("completed", "cancelled")
        return run, await aside(run, self.shape_of if is_over else self._revalidated, run), False

    def _revalidated(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan checked against the tools of today: an upgrade may have come between."""
        try:
            return validate_plan(
                plan_of(run), self.catalogue, memory=run.given.values, done=finished(run), limits=self.limits
            )
        except PlanInvalid as error:
            problems = error.message.removeprefix(CANNOT_RUN)
            hint = "Replace the unfinished steps, or cancel the run; what is recorded stays"
            raise PlanInvalid(
                f"What is left of the run no longer fits the tools: {problems}", error.details, hint=hint
            ) from error

    def _forget_watches(self, run_id: str) -> None:
        if run_id not in self._executions and not self._watches.get(run_id, True):
            del self._watches[run_id]

    def _ended(self, run_id: str, task: "asyncio.Task[RunState]") -> None:
        if self._tasks.get(run_id) is task:
            del self._tasks[run_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("run=%s was given up: %s", run_id, error)


def _refuse_newer(run: RunRecord) -> None:
    """Refuse a run that a newer version of fingerpost began."""
    if run.protocol > PROTOCOL:
        raise PlanInvalid("The run was begun by a newer fingerpost; update this one to read it or to carry it on")


def _as_planned(step: PlanStep) -> PlanStep:
    """Return a step without how it stands: a plan that was read from its run says that, and changes nothing by it."""
    return step.model_copy(update={"status": "pending", "completed_at": None, "skipped": False})


def finished(run: RunRecord) -> frozenset[int]:
    """Return the steps that never run again."""
    return frozenset(number for number, step in run.steps.items() if step.state in ("completed", "skipped"))
