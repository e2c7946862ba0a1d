"""Operations on plan runs, shared by all interfaces: create, execute, approve, cancel, resume, replace."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal

from fingerpost import clock
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid, StorageUnavailable
from fingerpost.plan.carried_runs import BackgroundRuns, CarriedRuns, RunRetention
from fingerpost.plan.catalogue import HUMAN, Catalogue
from fingerpost.plan.journal import ENDED, Event, Given, Journal, NewRun, RunLine, RunRecord, RunState, Verb
from fingerpost.plan.limits import Limits, encode, find_excess
from fingerpost.plan.memory import Memory
from fingerpost.plan.plan_json import RecordedPlans, finished, now, plan_of, refuse_newer, write_plan
from fingerpost.plan.run_events import Watch
from fingerpost.plan.step_attempts import StepExecutor
from fingerpost.plan.validation import ValidPlan, validate_plan
from fingerpost.runtime.circuit_breaker import Breaker

_ID_CHARS = 36
# Checking more steps takes long enough to delay other calls, so a thread does it.
_QUICK_STEPS = 20

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
        self._retention = RunRetention(journal, retention_days)
        self._recorded = RecordedPlans(catalogue, self.limits)
        executor = StepExecutor(catalogue, self.limits, breaker)
        self._carried = CarriedRuns(journal, self._recorded, executor, self.limits, poll_s=poll_s)
        self.background = BackgroundRuns(self.carry_on, self.limits)
        journal.attach(self._carried.carry_on)

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
            valid, plan_json = await asyncio.to_thread(self._check_and_write, plan, given.values)
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
        self._carried.keep_fresh(new.record_as(run_id), valid)
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
        return await self.journal.carry_out(run_id, self._carried.carry_on)

    def begin(self, run_id: str, user: str | None = None) -> None:
        self.background.begin(run_id, user)

    def watching(self, run_id: str, watch: Watch) -> AbstractContextManager[None]:
        """Report each event of a run that this process executes during the block, in order, once it is recorded."""
        return self._carried.watching(run_id, watch)

    def is_under_way(self, run_id: str) -> bool:
        return self.background.is_under_way(run_id)

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the background execution of a run stops, or until a timeout.

        Raises:
            ToolError: it had to be given up.
        """
        await self.background.wait(run_id, longest_s)

    async def get(self, run_id: str, user: str | None) -> RunRecord:
        """Return a user's run.

        Raises:
            PlanInvalid: this user has no such run, or a newer fingerpost has begun it.
        """
        run = await self.journal.find(run_id) if len(run_id) == _ID_CHARS else None
        if run is None or run.user != user:
            raise PlanInvalid(f"There is no run '{run_id[:_ID_CHARS]}'", {"field": "run_id"})
        refuse_newer(run)
        return run

    async def list_runs(self, user: str | None, limit: int = 50) -> list[RunLine]:
        return [] if user is None else await self.journal.list_runs(user, limit)

    async def state_of(self, run: RunRecord | RunLine) -> SeenState:
        """Return a run's state as its owner sees it: interrupted if it is running and no process executes it."""
        if run.state != "running" or self.is_under_way(run.run_id) or await self.journal.is_held(run.run_id):
            return run.state
        return "interrupted"

    def memory_of(self, run: RunRecord) -> Memory:
        outputs = {number: step.output for number, step in run.steps.items() if step.output is not None}
        return Memory(self.shape_of(run) if outputs else None, run.given, outputs)

    def shape_of(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan for reading alone: whether its tools are still there does not matter."""
        return self._recorded.shape_of(run)

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
        plan = plan_of(run)
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
        self._recorded.check_again(run)
        return run

    async def replace_unfinished(self, run_id: str, user: str | None, plan: Plan) -> None:
        """Replace the unfinished part of a run's plan; finished steps stay as recorded.

        Raises:
            PlanInvalid: the plan may not be changed (any more), or the new one is no good.
            StorageUnavailable: the run is being carried on.
        """
        run = await self.get(run_id, user)
        old = plan_of(run)
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
        validate_plan(plan, self.catalogue, memory=run.given.values, done=done, limits=self.limits)
        async with self.journal.hold(run_id) as is_ours:
            if not is_ours:
                raise StorageUnavailable("The run is being carried on; change it when it has come to a stop")
            data = encode({"goal": plan.goal, "steps": [step.step_id for step in plan.steps]})
            event = Event(run.last_seq + 1, now(), "plan_changed", None, data)
            forget = [number for number in run.steps if number not in done]
            await self.journal.change_plan(run_id, write_plan(plan), plan.goal, forget, event)

    async def stop(self) -> None:
        """Stop every run of this process; each can be resumed from its record."""
        await self.background.stop()

    async def _given(self, user: str | None, memory: Mapping[str, Any], memory_of: str | None) -> Given:
        values = dict(memory)
        if excess := find_excess(values, most_bytes=self.limits.plan_bytes, most_depth=self.limits.depth):
            raise PlanInvalid(f"The memory cannot be kept: a value in it {excess}", {"field": "memory"})
        if memory_of is None:
            return Given(values=values)
        run = await self.get(memory_of, user)
        return await asyncio.to_thread(self._continued, run, values)

    def _continued(self, run: RunRecord, given: Mapping[str, Any]) -> Given:
        """Return the memory of an earlier run, with given values over it."""
        most = self.limits.given_bytes
        outputs = sum(len(step.output) for step in run.steps.values() if step.output is not None)
        excess: str | None = f"is larger than {most:,} bytes of JSON"
        if outputs <= most:
            earlier = self.memory_of(run)
            values = {**earlier.keyed(), **given}
            # Runs that start from one another would gather without end.
            excess = find_excess(values, most_bytes=most, most_depth=self.limits.depth + 1)
        if excess is not None:
            raise PlanInvalid(f"The memory cannot be kept: a value in it {excess}", {"field": "memory_of"})
        return Given(values=values, paths={key: path for key, path in earlier.paths().items() if key not in given})

    async def _signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        await self.journal.signal(run_id, verb, step_id, value)
        await self._carried.hear(run_id)


def _as_planned(step: PlanStep) -> PlanStep:
    """Return a step without how it stands: a plan that was read from its run says that, and changes nothing by it."""
    return step.model_copy(update={"status": "pending", "completed_at": None, "skipped": False})
