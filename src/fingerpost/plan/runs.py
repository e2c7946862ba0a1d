"""Operations on plan runs, shared by all interfaces: create, execute, approve, cancel, resume, replace."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from fingerpost import clock
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid, SourceLimited, StorageUnavailable
from fingerpost.plan.catalogue import HUMAN, Catalogue
from fingerpost.plan.execution import Execution
from fingerpost.plan.journal import Journal
from fingerpost.plan.limits import Limits, encode, find_excess
from fingerpost.plan.memory import Memory
from fingerpost.plan.plan_json import finished, now, plan_of, refuse_newer, write_instant, write_plan
from fingerpost.plan.records import ENDED, Event, InitialMemory, RunLine, RunRecord, RunState, Verb
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import ValidPlan, validate_plan
from fingerpost.remedies import Remedy, RemedyKind
from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.instruments import PLAN_RUNS, measure

_log = logging.getLogger(__name__)

_ID_CHARS = 36
_RETENTION_INTERVAL = timedelta(hours=1)

_RETRY_AFTER_S: Final = 5.0

SeenState = RunState | Literal["interrupted"]

Watch = Callable[[Event], None]
"""Callback for a run's events; it must not raise or block."""


class _BackgroundRun(NamedTuple):
    caller: str
    task: "asyncio.Task[RunState]"


class PlanRuns:
    """The plan runs of one catalogue in one journal, which many processes may share.

    ``retention_days`` counts from a run's end; None stores runs for ever.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        journal: Journal,
        limits: Limits | None = None,
        *,
        poll_s: float = 0.5,
        retention_days: int | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.journal = journal
        self.limits = limits or Limits()
        self._poll_s = poll_s
        self._retention_days = retention_days
        self._forgot_at: datetime | None = None
        self._executor = StepExecutor(catalogue, self.limits)
        self._executions: dict[str, Execution] = {}
        self._watches = defaultdict[str, list[Watch]](list)
        self._background: dict[str, _BackgroundRun] = {}
        journal.attach(self._execute)

    def check(self, plan: Plan, memory: Mapping[str, Any] | None = None) -> ValidPlan:
        return validate_plan(plan, self.catalogue, memory=memory or (), limits=self.limits)

    async def create(
        self,
        plan: Plan,
        *,
        user: str | None = None,
        memory: Mapping[str, Any] | None = None,
        memory_of: str | None = None,
    ) -> str:
        """Validate a plan, store it as a new run and return the run's id, or raise PlanInvalid.

        ``memory`` gives values by key, and replaces values of ``memory_of``, an earlier run of the same user.
        """
        given = await self._given(user, memory or {}, memory_of)
        plan_json = await compute(self._check_and_write, plan, given.values)
        fixed = clock.find_fixed()
        base = None
        if fixed is not None:
            base = new_correlation_id(fixed, user, "run_plan", [plan_json, dict(given.values)])
        await self._forget_old()
        return await self.journal.create(plan_json, user=user, given=given, at=now(), base=base)

    def _check_and_write(self, plan: Plan, memory: Mapping[str, Any]) -> str:
        self.check(plan, memory)
        plan_json = write_plan(plan)
        if len(plan_json) > self.limits.plan_bytes:
            raise PlanInvalid(f"The plan has {len(plan_json):,} bytes, and may have {self.limits.plan_bytes:,}")
        return plan_json

    async def get(self, run_id: str, user: str | None) -> RunRecord:
        run = await self.journal.find(run_id) if len(run_id) == _ID_CHARS else None
        if run is None or run.user != user:
            raise PlanInvalid(f"There is no run '{run_id[:_ID_CHARS]}'", {"field": "run_id"})
        refuse_newer(run)
        return run

    async def list_runs(self, user: str | None, limit: int = 50) -> list[RunLine]:
        return [] if user is None else await self.journal.list_runs(user, limit)

    async def state_of(self, run: RunRecord | RunLine) -> SeenState:
        """Return a run's state as its owner sees it: interrupted if it is running and no process executes it."""
        if run.state != "running" or self.is_under_way(run.run_id) or await self.journal.is_leased(run.run_id):
            return run.state
        return "interrupted"

    def memory_of(self, run: RunRecord) -> Memory:
        outputs = {number: step.output for number, step in run.steps.items() if step.output is not None}
        plan = plan_of(run)
        # Nothing runs, so its tools need not exist any more.
        done = [step.step_id for step in plan.steps]
        valid = validate_plan(plan, self.catalogue, memory=run.given.values, done=done, limits=self.limits)
        return Memory(valid, run.given, outputs)

    async def cancel(self, run_id: str, user: str | None) -> None:
        run = await self.get(run_id, user)
        if run.state in ENDED:
            raise PlanInvalid(f"The run has ended already: it is {run.state}", {"field": "action"})
        await self._signal(run_id, "cancel", None, None)

    async def decide(
        self, run_id: str, user: str | None, step_id: int, *, approved: bool, note: str | None = None, value: Any = None
    ) -> None:
        """Approve or reject a waiting step, or raise PlanInvalid; of two decisions the first counts."""
        run = await self.get(run_id, user)
        plan = plan_of(run)
        step = next((step for step in plan.steps if step.step_id == step_id), None)
        if step is None or step.agent != HUMAN:
            waiting = [str(other.step_id) for other in plan.steps if other.agent == HUMAN]
            there = f"steps {', '.join(waiting)} do" if waiting else "none does"
            raise PlanInvalid(f"Step {step_id} is not waiting for a person; {there}", {"field": "step_id"})
        known = run.steps.get(step_id)
        if run.state in ENDED or (known is not None and known.state != "waiting"):
            raise PlanInvalid(f"Step {step_id} no longer waits for a person", {"field": "step_id"})
        decision = {"note": note, "value": value}
        if excess := find_excess(decision, max_bytes=self.limits.plan_bytes, max_depth=self.limits.depth):
            raise PlanInvalid(f"The decision cannot be stored: its value {excess}", {"field": "value"})
        await self._signal(run_id, "approve" if approved else "reject", step_id, decision)

    async def check_resumable(self, run_id: str, user: str | None) -> None:
        """Raise PlanInvalid if a run is unknown, completed or cancelled, or its plan no longer fits the tools."""
        run = await self.get(run_id, user)
        if run.state in ("completed", "cancelled"):
            hint = Remedy(RemedyKind.START_FROM_RUN)
            raise PlanInvalid(f"The run cannot be resumed: it is {run.state}", {"field": "action"}, hint=hint)
        self.validate_again(run)

    async def replace_unfinished(self, run_id: str, user: str | None, plan: Plan) -> None:
        """Replace the unfinished steps of a run, or raise PlanInvalid; StorageUnavailable while it is executed."""
        run = await self.get(run_id, user)
        old = plan_of(run)
        if run.state in ("completed", "cancelled"):
            raise PlanInvalid(f"The run has ended: it is {run.state}", {"field": "action"})
        if not old.can_modify:
            raise PlanInvalid("The plan says can_modify: false, so its unfinished steps stay as they are")
        if run.replans >= self.limits.replans:
            raise PlanInvalid(f"The plan was changed {run.replans} times already, which is the limit")
        done = finished(run)
        planned = {step.step_id: _as_planned(step) for step in plan.steps}
        changed = [s.step_id for s in old.steps if s.step_id in done and planned.get(s.step_id) != _as_planned(s)]
        if changed:
            numbers = ", ".join(map(str, changed))
            raise PlanInvalid(f"Finished steps must stay as they are: {numbers}", {"field": "plan"})
        validate_plan(plan, self.catalogue, memory=run.given.values, done=done, limits=self.limits)
        async with self.journal.lease(run_id) as is_ours:
            if not is_ours:
                raise StorageUnavailable("The run is being executed; change it after it has stopped")
            data = encode({"goal": plan.goal, "steps": [step.step_id for step in plan.steps]})
            event = Event(run.last_seq + 1, now(), "plan_changed", None, data)
            forget = [number for number in run.steps if number not in done]
            await self.journal.change_plan(run_id, write_plan(plan), forget, event)

    async def _given(self, user: str | None, memory: Mapping[str, Any], memory_of: str | None) -> InitialMemory:
        values = dict(memory)
        if excess := find_excess(values, max_bytes=self.limits.plan_bytes, max_depth=self.limits.depth):
            raise PlanInvalid(f"The memory cannot be stored: a value in it {excess}", {"field": "memory"})
        if memory_of is None:
            return InitialMemory(values=values)
        run = await self.get(memory_of, user)
        return await compute(self._continued, run, values)

    def _continued(self, run: RunRecord, given: Mapping[str, Any]) -> InitialMemory:
        max_bytes = self.limits.given_bytes
        outputs = sum(len(step.output) for step in run.steps.values() if step.output is not None)
        excess: str | None = f"is larger than {max_bytes:,} bytes of JSON"
        if outputs <= max_bytes:
            earlier = self.memory_of(run)
            values = {**earlier.keyed(), **given}
            # Runs that start from one another would gather without end.
            excess = find_excess(values, max_bytes=max_bytes, max_depth=self.limits.depth + 1)
        if excess is not None:
            raise PlanInvalid(f"The memory cannot be stored: a value in it {excess}", {"field": "memory_of"})
        return InitialMemory(
            values=values, paths={key: path for key, path in earlier.paths().items() if key not in given}
        )

    async def _signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        await self.journal.signal(run_id, verb, step_id, value)
        if (execution := self._executions.get(run_id)) is not None:
            execution.wake()

    async def _forget_old(self) -> None:
        now_at = clock.now()
        is_recent = self._forgot_at is not None and now_at - self._forgot_at < _RETENTION_INTERVAL
        if self._retention_days is None or is_recent:
            return
        self._forgot_at = now_at
        forgotten = await self.journal.forget_before(write_instant(now_at - timedelta(days=self._retention_days)))
        if forgotten:
            _log.info("%d runs that ended more than %d days ago were removed", len(forgotten), self._retention_days)

    async def execute(self, run_id: str) -> RunState:
        """Execute a run until it ends or waits, and return its state.

        Raise PlanInvalid if it is unknown or no longer valid, StorageUnavailable if another process executes it.
        """
        return await self.journal.execute_run(run_id)

    def check_room(self, caller: str) -> None:
        count = sum(begun.caller == caller for begun in self._background.values())
        if count >= self.limits.runs_of_caller:
            raise SourceLimited(
                f"{count:,} of your plan runs are under way, which is the limit",
                retry_after_s=_RETRY_AFTER_S,
                hint=Remedy(RemedyKind.END_A_RUN),
            )

    def begin(self, run_id: str, caller: str = "") -> None:
        task = asyncio.create_task(self.execute(run_id), name=f"run {run_id}")
        begun = self._background[run_id] = _BackgroundRun(caller, task)
        task.add_done_callback(lambda _task: self._end(run_id, begun))

    def is_under_way(self, run_id: str) -> bool:
        begun = self._background.get(run_id)
        return begun is not None and not begun.task.done()

    async def wait(self, run_id: str, longest_s: float) -> None:
        begun = self._background.get(run_id)
        if begun is not None:
            await asyncio.wait([begun.task], timeout=longest_s)
            if begun.task.done() and not begun.task.cancelled():
                begun.task.result()

    async def stop(self) -> None:
        """Cancel the background executions; each run can be resumed from its record."""
        tasks = [begun.task for begun in self._background.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    @contextmanager
    def watching(self, run_id: str, watch: Watch) -> Iterator[None]:
        """Report each event of a run that this process executes during the block; each step's events are in order."""
        watches = self._watches[run_id]
        watches.append(watch)
        try:
            yield
        finally:
            watches.remove(watch)
            if not watches:
                self._watches.pop(run_id, None)

    def validate_again(self, run: RunRecord) -> ValidPlan:
        """Validate the unfinished part of a plan again, because an upgrade may have changed the tools."""
        return validate_plan(
            plan_of(run),
            self.catalogue,
            memory=run.given.values,
            done=finished(run),
            limits=self.limits,
            complaint="The unfinished steps no longer fit the tools",
            hint="Replace the unfinished steps, or cancel the run; recorded results stay",
        )

    async def _execute(self, run_id: str) -> RunState:
        state: RunState | None = None
        while True:
            async with self.journal.lease(run_id) as is_ours:
                if not is_ours:
                    if state is not None:
                        return state
                    raise StorageUnavailable(f"The run {run_id} is being executed elsewhere")
                run = await self.journal.find(run_id)
                if run is None:
                    raise PlanInvalid(f"There is no run '{run_id}'", {"field": "run_id"})
                refuse_newer(run)
                if run.state in ("completed", "cancelled"):
                    return run.state
                valid = self.validate_again(run)
                execution = self._executions[run_id] = Execution(
                    run=run,
                    valid=valid,
                    journal=self.journal,
                    executor=self._executor,
                    limits=self.limits,
                    report=self._report,
                    poll_s=self._poll_s,
                )
                try:
                    with measure("plan run", {}, span_attributes={"fingerpost.plan.run_id": run_id}):
                        state = await execution.execute()
                    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": state})
                finally:
                    del self._executions[run_id]
            if state not in ("waiting", "failed"):
                return state
            # While this process had the lease, another could store a signal, but not execute the run.
            late = await self.journal.list_signals(run_id, execution.last_signal)
            if not late or (state == "failed" and all(signal.verb != "cancel" for signal in late)):
                return state

    def _report(self, run_id: str, event: Event) -> None:
        for watch in self._watches.get(run_id, ()):
            watch(event)

    def _end(self, run_id: str, ended: _BackgroundRun) -> None:
        if self._background.get(run_id) is ended:
            del self._background[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s stopped: %s", run_id, error)


def _as_planned(step: PlanStep) -> PlanStep:
    """Return a step without its state, which a plan that was read from its run has too."""
    return step.model_copy(update={"status": "pending", "completed_at": None, "skipped": False})
