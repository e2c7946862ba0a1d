"""``PlanningCapability``: the interface to all planners (plan-step contract, rule F6)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.journal import RunRecord, RunState
from fingerpost.plan.plan_json import finished, plan_of
from fingerpost.plan.planners import Goal, Planner
from fingerpost.plan.planners.chaining import BackwardChaining
from fingerpost.plan.planners.templates import TemplatePlanner
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.validation import validate_plan


class PlanningCapability:
    """Lets the first planner that accepts the goal write the plan, and validates it.

    Offline it chains backwards from wanted keys, and knows some sentences. Anything else is an honest error.
    """

    def __init__(self, catalogue: Catalogue, planners: Sequence[Planner] | None = None) -> None:
        self._catalogue = catalogue
        self._templates = TemplatePlanner()
        self._planners = tuple(planners) if planners is not None else (BackwardChaining(), self._templates)

    async def create_plan(
        self,
        user_input: str,
        *,
        wanted: Sequence[str] = (),
        known: Mapping[str, Any] | None = None,
        memory: Collection[str] = (),
        owner: str = "agent",
    ) -> Plan:
        """Return a checked plan for what the user asks.

        ``wanted`` names memory keys that must be there in the end; ``known`` gives values by name.

        Raises:
            PlanInvalid: no planner takes the goal, or something that it needs is missing.
        """
        goal = Goal(text=user_input, wanted=tuple(wanted), known=dict(known or {}))
        plan = await self._ask(goal, memory)
        return plan.model_copy(update={"owner": owner})

    async def replan(self, run: RunRecord) -> Plan:
        """Return a failed run's plan with its unfinished part planned anew, without the tools that failed.

        Finished steps stay as they are.

        Raises:
            PlanInvalid: there is no other way.
        """
        old, done = plan_of(run), finished(run)
        kept = [step for step in old.steps if step.step_id in done]
        open_steps = [step for step in old.steps if step.step_id not in done]
        broken = [step for step in open_steps if step.step_id in run.steps]
        goal = Goal(
            text=old.goal,
            wanted=tuple(dict.fromkeys(key for step in _ends(open_steps) if (key := self._key_of(step)))),
            known=_constants(open_steps),
            avoid=frozenset(step.tool for step in broken if step.tool is not None),
            complaint="; ".join(f"step {each.step_id}: {run.steps[each.step_id].note}" for each in broken) or None,
        )
        keys = {key for step in kept if (key := self._key_of(step))} | set(run.given.values)
        new = await self._ask(goal, keys)
        first = max(step.step_id for step in old.steps) + 1
        numbers = {step.step_id: first + index for index, step in enumerate(new.steps)}
        added = [
            step.model_copy(
                update={
                    "step_id": numbers[step.step_id],
                    "dependencies": [numbers[dependency] for dependency in step.dependencies],
                }
            )
            for step in new.steps
        ]
        return old.model_copy(update={"steps": [*kept, *added]})

    async def _ask(self, goal: Goal, memory: Collection[str]) -> Plan:
        for planner in self._planners:
            plan = await planner.plan(goal, self._catalogue, memory)
            if plan is not None:
                validate_plan(plan, self._catalogue, memory=memory)
                return plan
        examples = "; ".join(f"'{template.example}'" for template in self._templates.templates)
        keys = ", ".join(sorted({tool.spec.output_key for tool in self._catalogue.tools.values()}))
        raise PlanInvalid(
            "No planner understands this goal, and none makes one up",
            {"field": "user_input"},
            hint=f"Say it like {examples}; or name the wanted keys, of {keys}; or configure a language model",
        )

    def _key_of(self, step: PlanStep) -> str | None:
        tool = self._catalogue.tools.get(step.tool or "")
        return step.expected_key or (tool.spec.output_key if tool is not None else None)


async def carry_through(runs: PlanRuns, planning: PlanningCapability, run_id: str, user: str | None) -> RunState:
    """Execute a run; where it fails, replan its unfinished part and continue, within the limit of replans.

    The run's last state is returned: failed, where there is no other way.
    """
    while True:
        state = await runs.carry_on(run_id)
        run = await runs.get(run_id, user)
        if state != "failed" or run.replans >= runs.limits.replans or not plan_of(run).can_modify:
            return state
        try:
            plan = await planning.replan(run)
            await runs.replace_unfinished(run_id, user, plan)
        except PlanInvalid:
            return state


def _ends(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Return the steps that no other of them declares to need."""
    needed = {dependency for step in steps for dependency in step.dependencies}
    return [step for step in steps if step.step_id not in needed]


def _constants(steps: Sequence[PlanStep]) -> dict[str, Any]:
    """Return the values by name that the steps were written with."""
    found: dict[str, Any] = {}
    for step in steps:
        arguments = step.parameters.get("parameters", step.parameters)
        if isinstance(arguments, dict):
            found |= {name: value for name, value in arguments.items() if "$ref" not in repr(value)}
    return found
