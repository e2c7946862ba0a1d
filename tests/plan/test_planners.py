"""Planners: one sentence, and a program's own planners; every plan is validated."""

import pytest

from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.plan_tools import PlanningCapability, plan_from_template
from tests.plan.drawing import EXAMPLE, FINANCIAL, plan, step


async def test_the_contracts_sentence_becomes_the_contracts_step():
    """F6: "Get Apple's revenue for 2022", word for word the example of the plan-step contract."""
    found = await PlanningCapability(Catalogue.of([FINANCIAL])).create_plan("Get Apple's revenue for 2022")

    assert found.steps == [EXAMPLE]


async def test_anything_else_is_an_error():
    with pytest.raises(PlanInvalid, match=r"^No planner supports this goal"):
        await PlanningCapability(Catalogue.of([FINANCIAL])).create_plan("What was our best year?")


DAYS = {"start_date": "2022-01-01", "end_date": "2022-12-31"}


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("2022", DAYS),
        ("fiscal 2022", {"period": "2022"}),
        ("the fiscal year 2022", {"period": "2022"}),
        ("FY2022", {"period": "2022"}),
    ],
)
async def test_a_fiscal_year_in_a_sentence_is_a_year_by_its_name(said, asked):
    found = await plan_from_template(f"Get Apple's revenue for {said}.", Catalogue.of([]), {})

    assert found is not None
    arguments = found.steps[0].parameters["parameters"]
    assert arguments == {"ticker": "AAPL", "metrics": ["Revenue"], **asked}


async def test_a_templates_plan_is_checked_like_any_other():
    with pytest.raises(PlanInvalid, match="tool 'sec_financial_data' is not found in registry"):
        await PlanningCapability(Catalogue.of([])).create_plan("Get Apple's revenue for 2022")


async def test_a_programs_planner_gets_the_goals_that_have_no_template():
    async def plan_echo(goal, _catalogue, memory):
        return plan(step(1, None, parameters={"goal": goal, **memory}))

    found = await PlanningCapability(Catalogue.of([]), [plan_echo]).create_plan("Echo it", memory={"n": 3})

    assert found.steps[0].parameters == {"goal": "Echo it", "n": 3}
