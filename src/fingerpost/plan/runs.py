"""Plan runs for all interfaces: create, execute, cancel and resume runs, and approve or replace steps."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fingerpost import clock
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.published_tool import new_correlation_id
from fingerpost.errors import PlanInvalid, Remedy, RemedyKind, SourceLimited, StorageUnavailable
from fingerpost.plan.catalogue import HUMAN, Catalogue
from fingerpost.plan.execution import Execution
from fingerpost.plan.journal import Journal
from fingerpost.plan.limits import Limits, encode, find_excess
from fingerpost.plan.memory import Memory
from fingerpost.plan.records import (
    ENDED,
    Event,
    InitialMemory,
    ReportedState,
    RunRecord,
    RunState,
    RunSummary,
    Verb,
    WrittenPlan,
    check_protocol,
    now,
    read_recorded_plan,
    write_plan,
)
from fingerpost.plan.validation import ValidPlan, validate_plan
from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.instruments import PLAN_RUNS, Measurement

_log = logging.getLogger(__name__)

_ID_CHARS = 36
_MAX_VALID_PLANS = 16

_RETRY_AFTER_S: Final = 5.0


class _BackgroundRun(NamedTuple):
    caller: str
    task: "asyncio.Task[RunState]"


class PlanRuns:
    """Plan runs for one catalogue, stored in a journal that many processes may share."""

    def __init__(
        self, catalogue: Catalogue, journal: Journal, limits: Limits | None = None, *, poll_s: float = 0.5
    ) -> None:
        self.catalogue = catalogue
        self.journal = journal
        self.limits = limits or Limits()
        self._poll_s = poll_s
        self._semaphores = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(self.limits.calls_per_tool))
        # Validated plans by run id and plan text, oldest first, because validating takes as long as several steps.
        self._valid_plans: dict[tuple[str, str], ValidPlan] = {}
        self._executions: dict[str, Execution] = {}
        self._background: dict[str, _BackgroundRun] = {}
        journal.execute_here = self._execute

    async def create(
        self,
        plan: Plan,
        *,
        user: str | None = None,
        memory: Mapping[str, Any] | None = None,
        memory_of: str | None = None,
    ) -> str:
        """Validate a plan, store it as a new run and return the run's id, or raise PlanInvalid.

        ``memory`` contains values by key, which override those from ``memory_of``, an earlier run by the same user.
        """
        initial_memory = await self._load_memory(user, memory or {}, memory_of)
        valid, written = await compute(self._check_and_write, plan, initial_memory.values)
        base = None
        if clock.find_fixed_time() is not None:
            base = new_correlation_id(user, "run_plan", [written.text, dict(initial_memory.values)])
        run_id = await self.journal.create(written, user=user, initial_memory=initial_memory, at=now(), base=base)
        if len(self._valid_plans) >= _MAX_VALID_PLANS:
            del self._valid_plans[next(iter(self._valid_plans))]
        self._valid_plans[run_id, written.text] = valid
        return run_id

    def _check_and_write(self, plan: Plan, memory: Mapping[str, Any]) -> tuple[ValidPlan, WrittenPlan]:
        valid = validate_plan(plan, self.catalogue, memory=memory, limits=self.limits)
        written = write_plan(plan)
        if (size_bytes := len(written.text.encode())) > self.limits.plan_bytes:
            raise PlanInvalid(f"The plan is {size_bytes:,} bytes; the limit is {self.limits.plan_bytes:,}")
        return valid, written

    async def get(self, run_id: str, user: str | None) -> RunRecord:
        run = await self.journal.find(run_id) if len(run_id) == _ID_CHARS and run_id.isascii() else None
        if run is None or run.user != user:
            raise PlanInvalid(f"There is no run '{run_id[:_ID_CHARS]}'", {"field": "run_id"})
        check_protocol(run)
        return run

    async def list_runs(self, user: str | None, limit: int = 50) -> list[RunSummary]:
        return [] if user is None else await self.journal.list_runs(user, limit)

    async def find_state(self, run_id: str, recorded: ReportedState) -> ReportedState:
        """Return a run's recorded state, or ``interrupted`` if it is running but no process is executing it."""
        if recorded != "running" or self.is_running(run_id) or await self.journal.is_leased(run_id):
            return recorded
        return "interrupted"

    def build_memory(self, run: RunRecord) -> Memory:
        outputs = {number: step.output for number, step in run.steps.items() if step.output is not None}
        if (valid := self._valid_plans.get((run.run_id, run.plan_json))) is None:
            plan = read_recorded_plan(run)
            # All steps count as finished, because a tool may have been removed since the run.
            done = [step.step_id for step in plan.steps]
            valid = validate_plan(plan, self.catalogue, memory=run.initial_memory.values, done=done, limits=self.limits)
        return Memory(valid, run.initial_memory, outputs)

    async def cancel(self, run_id: str, user: str | None) -> None:
        run = await self.get(run_id, user)
        if run.state in ENDED:
            raise PlanInvalid(f"The run has already ended: its state is {run.state}", {"field": "action"})
        await self._signal(run_id, "cancel", None, None)

    async def decide(
        self, run_id: str, user: str | None, step_id: int, *, approved: bool, note: str | None = None, value: Any = None
    ) -> None:
        """Approve or reject a waiting step, or raise PlanInvalid; if there are two decisions, the first counts."""
        run = await self.get(run_id, user)
        approvals = [step.step_id for step in read_recorded_plan(run).steps if step.agent == HUMAN]
        if step_id not in approvals:
            numbers = ", ".join(map(str, approvals)) or "none"
            raise PlanInvalid(f"Step {step_id} needs no approval; steps that do: {numbers}", {"field": "step_id"})
        record = run.steps.get(step_id)
        if run.state in ENDED or (record is not None and record.state != "waiting"):
            raise PlanInvalid(f"Step {step_id} is no longer waiting for a person", {"field": "step_id"})
        decision = {"note": note, "value": value}
        if excess := find_excess(decision, max_bytes=self.limits.plan_bytes, max_depth=self.limits.depth):
            raise PlanInvalid(f"The decision cannot be stored: its value {excess}", {"field": "value"})
        await self._signal(run_id, "approve" if approved else "reject", step_id, decision)

    async def check_resumable(self, run_id: str, user: str | None) -> None:
        """Raise PlanInvalid if a run is unknown, completed or cancelled, or if its plan no longer matches the tools."""
        run = await self.get(run_id, user)
        if run.state in ("completed", "cancelled"):
            hint = Remedy(RemedyKind.START_FROM_RUN)
            raise PlanInvalid(f"The run cannot be resumed: its state is {run.state}", {"field": "action"}, hint=hint)
        self.revalidate(run)

    async def replace_unfinished(self, run_id: str, user: str | None, plan: Plan) -> None:
        """Replace a run's unfinished steps; raise PlanInvalid, or StorageUnavailable if the run is being executed."""
        run = await self.get(run_id, user)
        old = read_recorded_plan(run)
        if run.state in ("completed", "cancelled"):
            raise PlanInvalid(f"The run has ended: its state is {run.state}", {"field": "action"})
        if not old.can_modify:
            raise PlanInvalid("The plan has can_modify: false, so its unfinished steps cannot be replaced")
        if run.replans >= self.limits.replans:
            times = f"{run.replans} time{'' if run.replans == 1 else 's'}"
            raise PlanInvalid(f"The plan has been changed {times}, which is the limit")
        done = run.finished
        planned = {step.step_id: _reset_state(step) for step in plan.steps}
        changed = [s.step_id for s in old.steps if s.step_id in done and planned.get(s.step_id) != _reset_state(s)]
        if changed:
            raise PlanInvalid(f"Finished steps must not change: {', '.join(map(str, changed))}", {"field": "plan"})
        validate_plan(plan, self.catalogue, memory=run.initial_memory.values, done=done, limits=self.limits)
        async with self.journal.lease(run_id) as is_leased:
            if not is_leased:
                raise StorageUnavailable("The run is being executed; change it after it has stopped")
            data = encode({"goal": plan.goal, "steps": [step.step_id for step in plan.steps]})
            event = Event(run.last_seq + 1, now(), "plan_changed", None, data)
            deleted_steps = [number for number in run.steps if number not in done]
            await self.journal.change_plan(run_id, write_plan(plan), deleted_steps, event)

    async def _load_memory(self, user: str | None, memory: Mapping[str, Any], memory_of: str | None) -> InitialMemory:
        values = dict(memory)
        if excess := find_excess(values, max_bytes=self.limits.plan_bytes, max_depth=self.limits.depth):
            raise PlanInvalid(f"The memory cannot be stored: a value in it {excess}", {"field": "memory"})
        if memory_of is None:
            return InitialMemory(values=values)
        run = await self.get(memory_of, user)
        return await compute(self._merge_memory, run, values)

    def _merge_memory(self, run: RunRecord, initial_memory: Mapping[str, Any]) -> InitialMemory:
        # Limit the size, because a chain of runs would otherwise accumulate memory; parsing all of it would be slow.
        earlier, max_bytes = self.build_memory(run), self.limits.initial_memory_bytes
        excess: str | None = f"is larger than {max_bytes:,} bytes of JSON"
        if earlier.bytes <= max_bytes:
            values = {**earlier.to_dict(), **initial_memory}
            excess = find_excess(values, max_bytes=max_bytes, max_depth=self.limits.depth + 1)
        if excess is not None:
            raise PlanInvalid(f"The memory cannot be stored: a value in it {excess}", {"field": "memory_of"})
        paths = {key: path for key, path in earlier.list_paths().items() if key not in initial_memory}
        return InitialMemory(values=values, paths=paths)

    async def _signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        await self.journal.signal(run_id, verb, step_id, value)
        if (execution := self._executions.get(run_id)) is not None:
            execution.wake()

    async def execute(self, run_id: str) -> RunState:
        """Execute a run until it ends or waits, and return its state.

        Raise PlanInvalid if the run is unknown or invalid, or StorageUnavailable if it is already being executed.
        """
        return await self.journal.execute_run(run_id)

    def check_capacity(self, caller: str) -> None:
        count = sum(background_run.caller == caller for background_run in self._background.values())
        if count >= self.limits.runs_per_caller:
            raise SourceLimited(
                f"{count:,} of your plan runs are in progress, which is the limit",
                retry_after_s=_RETRY_AFTER_S,
                hint=Remedy(RemedyKind.END_A_RUN),
            )

    def start(self, run_id: str, caller: str = "") -> None:
        self.check_capacity(caller)
        task = asyncio.create_task(self.execute(run_id), name=f"run {run_id}")
        background_run = self._background[run_id] = _BackgroundRun(caller, task)
        task.add_done_callback(lambda _task: self._end(run_id, background_run))

    def is_running(self, run_id: str) -> bool:
        background_run = self._background.get(run_id)
        return background_run is not None and not background_run.task.done()

    async def wait(self, run_id: str, timeout_s: float) -> None:
        background_run = self._background.get(run_id)
        if background_run is not None:
            await asyncio.wait([background_run.task], timeout=timeout_s)
            if background_run.task.done() and not background_run.task.cancelled():
                background_run.task.result()

    async def stop(self) -> None:
        """Cancel the background executions; their runs can be resumed."""
        tasks = [background_run.task for background_run in self._background.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        try:
            await self.stop()
        finally:
            self.journal.close()

    def revalidate(self, run: RunRecord) -> ValidPlan:
        """Validate the unfinished steps, because an upgrade may have changed the tools since the plan was stored."""
        return self._valid_plans.get((run.run_id, run.plan_json)) or validate_plan(
            read_recorded_plan(run),
            self.catalogue,
            memory=run.initial_memory.values,
            done=run.finished,
            limits=self.limits,
            summary="The unfinished steps no longer match the tools",
            hint="Replace the unfinished steps, or cancel the run; recorded results are preserved",
        )

    async def _execute(self, run_id: str) -> RunState:
        state: RunState | None = None
        while True:
            async with self.journal.lease(run_id) as is_leased:
                if not is_leased:
                    if state is not None:
                        return state
                    raise StorageUnavailable(f"Run {run_id} is being executed elsewhere")
                run = await self.journal.find(run_id)
                if run is None:
                    raise PlanInvalid(f"There is no run '{run_id}'", {"field": "run_id"})
                check_protocol(run)
                if run.state in ("completed", "cancelled"):
                    return run.state
                execution = self._executions[run_id] = Execution(
                    run=run,
                    valid=self.revalidate(run),
                    journal=self.journal,
                    agents=self.catalogue.agents,
                    semaphores=self._semaphores,
                    limits=self.limits,
                    poll_s=self._poll_s,
                )
                try:
                    with Measurement("plan run", {}, span_attributes={"fingerpost.plan.run_id": run_id}):
                        state = await execution.execute()
                    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": state})
                finally:
                    del self._executions[run_id]
            if state not in ("waiting", "failed"):
                return state
            # While this process held the run, another process may have stored a signal.
            late_signals = await self.journal.list_signals(run_id, execution.last_signal)
            if not late_signals or (state == "failed" and all(signal.verb != "cancel" for signal in late_signals)):
                return state

    def _end(self, run_id: str, ended: _BackgroundRun) -> None:
        if self._background.get(run_id) is ended:
            del self._background[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s stopped: %s", run_id, error)


def _reset_state(step: PlanStep) -> PlanStep:
    """Clear a step's state, because callers may send back a plan that they read from a run."""
    return step.model_copy(update={"status": "pending", "completed_at": None, "skipped": False})
