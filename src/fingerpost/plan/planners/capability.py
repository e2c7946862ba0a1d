"""``PlanningCapability``: the interface to all planners (plan-step contract, rule F6)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fingerpost.contract.plan import Plan
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.planners import Goal, Planner
from fingerpost.plan.planners.chaining import BackwardChaining
from fingerpost.plan.planners.templates import TEMPLATES, TemplatePlanner
from fingerpost.plan.validation import validate_plan


class PlanningCapability:
    """Lets the first planner that accepts the goal write the plan, and validates it.

    Offline it chains backwards from wanted keys, and knows some sentences. Anything else is an honest error.
    """

    def __init__(self, catalogue: Catalogue, planners: Sequence[Planner] | None = None) -> None:
        self._catalogue = catalogue
        self._planners = tuple(planners) if planners is not None else (BackwardChaining(), TemplatePlanner())

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

    async def _ask(self, goal: Goal, memory: Collection[str]) -> Plan:
        for planner in self._planners:
            plan = await planner.plan(goal, self._catalogue, memory)
            if plan is not None:
                validate_plan(plan, self._catalogue, memory=memory)
                return plan
        examples = "; ".join(f"'{template.example}'" for template in TEMPLATES)
        keys = ", ".join(sorted({tool.spec.output_key for tool in self._catalogue.tools.values()}))
        raise PlanInvalid(
            "No planner understands this goal, and none makes one up",
            {"field": "user_input"},
            hint=f"Say it like {examples}; or name the wanted keys, of {keys}; or configure a language model",
        )
