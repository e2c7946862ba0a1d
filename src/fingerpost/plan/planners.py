"""Create plans for goals: from a sentence template, or with a program's own planners (rule F6)."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.records import now
from fingerpost.plan.validation import validate_plan
from fingerpost.runtime.company_names import WELL_KNOWN, build_name_key

Planner = Callable[[str, Catalogue, Mapping[str, Any]], Awaitable[Plan | None]]
"""Builds a plan from a goal's text, a catalogue and the memory; returns None for goals that it does not support.

It raises PlanInvalid and names missing values instead of inventing them. Its plans are validated afterward.
"""


_TICKER = re.compile(r"[A-Z]{1,5}(?:[.-][A-Z])?")
_YEAR = r"(?:the\s+)?(?P<year>(?:fiscal\s+(?:year\s+)?|FY\s?)?(?:19|20)\d\d)"


_EXAMPLE = "Get Apple's revenue for 2022"
_SENTENCE = re.compile(
    r"(?:get|find|what was|show)\s+(?P<company>[\w .&-]{1,60}?)['\u2019]s?\s+(?P<metric>[\w -]{1,60}?)"
    rf"\s+(?:for|in)\s+{_YEAR}\s*[.?]?",
    re.IGNORECASE,
)


async def plan_from_template(goal: str, _catalogue: Catalogue, _memory: Mapping[str, Any]) -> Plan | None:
    """Create a plan for a sentence like ``Get Apple's revenue for 2022``, the example in the plan-step contract."""
    match = _SENTENCE.fullmatch(goal.strip())
    return None if match is None else Plan(goal=goal, steps=[_plan_fact(match.groupdict())], created_at=now())


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
    """Creates and validates a plan with the first planner that accepts the goal: the template, then ``planners``."""

    def __init__(self, catalogue: Catalogue, planners: Sequence[Planner] = ()) -> None:
        self._catalogue = catalogue
        self._planners = (plan_from_template, *planners)

    async def create_plan(
        self,
        user_input: str,
        *,
        memory: Mapping[str, Any] | None = None,
        owner: str = "agent",
    ) -> Plan:
        """Return a validated plan for a goal, or raise PlanInvalid; ``memory`` contains initial values by key."""
        memory = memory or {}
        for planner in self._planners:
            plan = await planner(user_input, self._catalogue, memory)
            if plan is not None:
                validate_plan(plan, self._catalogue, memory=memory)
                return plan.model_copy(update={"owner": owner})
        raise PlanInvalid(
            "No planner supports this goal",
            {"field": "user_input"},
            hint=f"Phrase it like '{_EXAMPLE}', or send a plan with its steps",
        )
