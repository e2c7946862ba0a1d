"""Create plans for goals: by backward chaining, from a sentence template, or with other planners (rule F6)."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue, PlanTool, list_choices, suggest
from fingerpost.plan.records import now
from fingerpost.plan.references import MARK
from fingerpost.plan.validation import validate_plan
from fingerpost.runtime.company_names import WELL_KNOWN, build_name_key


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a plan: the user's text, and the memory keys that the plan must provide."""

    text: str
    wanted: Sequence[str] = ()


Planner = Callable[[Goal, Catalogue, Mapping[str, Any]], Awaitable[Plan | None]]
"""Builds a plan from a goal, a catalogue and the memory; returns None for goals that it does not support.

It raises PlanInvalid and names missing values instead of inventing them. Its plans are validated afterward.
"""


async def plan_backward(goal: Goal, catalogue: Catalogue, memory: Mapping[str, Any]) -> Plan | None:
    """Search from the wanted keys back to keys in memory; PlanInvalid lists missing ones in ``details["missing"]``."""
    return _BackwardSearch(goal, catalogue, memory).plan() if goal.wanted else None


class _BackwardSearch:
    """The steps found by a backward search, and the keys that no tool provides."""

    def __init__(self, goal: Goal, catalogue: Catalogue, memory: Mapping[str, Any]) -> None:
        self._goal = goal
        self._memory = memory
        self._steps: list[PlanStep] = []
        self._missing: dict[tuple[str, str], dict[str, str]] = {}
        self._producers: dict[str, list[PlanTool]] = {}
        for _name, tool in sorted(catalogue.tools.items()):
            self._producers.setdefault(tool.spec.output_key, []).append(tool)

    def plan(self) -> Plan:
        found = [self._provide(key, "the goal", ()) for key in self._goal.wanted]
        if not all(found):
            raise self._build_error()
        if not self._steps:
            references = {key: {MARK: key} for key in self._goal.wanted}
            self._steps.append(PlanStep(step_id=1, description="Gather the values in memory", parameters=references))
        return Plan(goal=self._goal.text, steps=self._steps, created_at=now())

    def _provide(self, key: str, consumer: str, parents: tuple[str, ...]) -> bool:
        """Add the steps that provide a key, using the first tool by name whose parameters are available."""
        if key in self._memory or any(step.expected_key == key for step in self._steps):
            return True
        producers = self._producers.get(key, [])
        if not producers or key in parents:
            nearest = suggest(key, {*self._producers, *self._memory} - {key})
            self._missing[key, consumer] = {"name": key, "needed_by": consumer, "nearest": nearest}
            return False
        return any(
            self._add_step(tool, query_type, model, (*parents, key))
            for tool in producers
            for query_type, model in tool.spec.input_schema.items()
        )

    def _add_step(self, tool: PlanTool, query_type: str, model: type[BaseModel], parents: tuple[str, ...]) -> bool:
        """Add a step and the steps that provide its parameters, or nothing if a required one is missing."""
        count, name, key = len(self._steps), tool.spec.name, tool.spec.output_key
        fields = {field.alias or python_name: field for python_name, field in model.model_fields.items()}
        required = [field for field in fields if fields[field].is_required()]
        found = [self._provide(field, f"{name} ({query_type})", parents) for field in required]
        if not all(found):
            del self._steps[count:]
            return False
        arguments = {field: {MARK: field} for field in fields if field in required or field in self._memory}
        self._steps.append(
            PlanStep(
                step_id=len(self._steps) + 1,
                description=f"Get {key} from {name}",
                tool=name,
                parameters={"query_type": query_type, "parameters": arguments},
                expected_key=key,
                output_path=["data"],
            )
        )
        return True

    def _build_error(self) -> PlanInvalid:
        missing = list(self._missing.values())
        needs = "; ".join(
            f"'{entry['name']}', which {entry['needed_by']} needs"
            + (f" ({entry['nearest']})" if entry["nearest"] else "")
            for entry in missing
        )
        hint = f"Give the missing values, or request a key that the tools provide; {list_choices(self._producers)}"
        return PlanInvalid(f"No plan can reach this goal: no tool provides {needs}", {"missing": missing}, hint=hint)


_TICKER = re.compile(r"[A-Z]{1,5}(?:[.-][A-Z])?")
_YEAR = r"(?:the\s+)?(?P<year>(?:fiscal\s+(?:year\s+)?|FY\s?)?(?:19|20)\d\d)"


_EXAMPLE = "Get Apple's revenue for 2022"
_SENTENCE = re.compile(
    r"(?:get|find|what was|show)\s+(?P<company>[\w .&-]{1,60}?)['\u2019]s?\s+(?P<metric>[\w -]{1,60}?)"
    rf"\s+(?:for|in)\s+{_YEAR}\s*[.?]?",
    re.IGNORECASE,
)


async def plan_from_template(goal: Goal, _catalogue: Catalogue, _memory: Mapping[str, Any]) -> Plan | None:
    """Create a plan for a sentence like ``Get Apple's revenue for 2022``, the example in the plan-step contract."""
    match = _SENTENCE.fullmatch(goal.text.strip())
    return None if match is None else Plan(goal=goal.text, steps=[_plan_fact(match.groupdict())], created_at=now())


def _plan_fact(fields: Mapping[str, str]) -> PlanStep:
    company, name, year = (fields[field].strip() for field in ("company", "metric", "year"))
    ticker = WELL_KNOWN.get(build_name_key(company)) or (company if _TICKER.fullmatch(company) else None)
    if ticker is None:
        raise PlanInvalid(f"The ticker for '{company}' is unknown", {"field": "ticker"}, hint="Use the ticker instead")
    metric, number = name[:1].upper() + name[1:], year[-4:]
    # "2022" means the calendar year, as in the plan-step contract; "fiscal 2022" means the fiscal year.
    period = {"start_date": f"{number}-01-01", "end_date": f"{number}-12-31"} if year == number else {"period": number}
    return PlanStep(
        step_id=1,
        description=f"Get {company}'s {name} for {year}",
        tool="sec_financial_data",
        parameters={"query_type": "financial_facts", "parameters": {"ticker": ticker, "metrics": [metric], **period}},
        expected_key=f"{name.lower().replace(' ', '_')}_data",
        output_path=["data", metric],
        done_check="True",
    )


class PlanningCapability:
    """Creates a plan with the first planner that accepts the goal, and validates it; ``planners`` are tried last."""

    def __init__(self, catalogue: Catalogue, planners: Sequence[Planner] = ()) -> None:
        self._catalogue = catalogue
        self._planners = (plan_backward, plan_from_template, *planners)

    async def create_plan(
        self,
        user_input: str,
        *,
        wanted: Sequence[str] = (),
        memory: Mapping[str, Any] | None = None,
        owner: str = "agent",
    ) -> Plan:
        """Return a validated plan for a goal, or raise PlanInvalid.

        ``wanted`` lists the memory keys that the plan must provide; ``memory`` contains initial values by key.
        """
        memory = memory or {}
        for planner in self._planners:
            plan = await planner(Goal(user_input, wanted), self._catalogue, memory)
            if plan is not None:
                validate_plan(plan, self._catalogue, memory=memory)
                return plan.model_copy(update={"owner": owner})
        keys = ", ".join(sorted({tool.spec.output_key for tool in self._catalogue.tools.values()}))
        raise PlanInvalid(
            "No planner supports this goal",
            {"field": "user_input"},
            hint=f"Phrase it like '{_EXAMPLE}'; or list the wanted keys, from {keys}; or configure a language model",
        )
