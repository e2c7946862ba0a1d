"""Planners: chaining and one sentence; missing values are reported, and every plan is validated."""

import pytest
from pydantic import BaseModel, create_model

from fingerpost.contract.tool import ToolSpec, success_response
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.planners import Goal, PlanningCapability, plan_from_template
from tests.plan.drawing import EXAMPLE, FINANCIAL


class NeedsTicker(BaseModel):
    ticker: str
    year: int = 2022


def tool(name, key, *needed, model=None, data=None):
    async def execute(query_type, parameters, _user):
        return success_response(name, query_type, parameters, [], {"data": parameters if data is None else data})

    model = model or create_model(name, **dict.fromkeys(needed, (str, ...)))
    return PlanTool(spec=ToolSpec(name=name, input_schema={name: model}, output_key=key), execute=execute)


LOOKUP = tool("lookup", "ticker", "company", data="AAPL")
REVENUE = tool("revenue", "revenue", model=NeedsTicker)
CHAINED = Catalogue.of([LOOKUP, REVENUE])


async def chain(catalogue, *wanted, **memory):
    """Return the tool and the arguments of each step of a chained plan."""
    found = await PlanningCapability(catalogue).create_plan("a goal", wanted=wanted, memory=memory)
    return [(each.tool, each.parameters.get("parameters", each.parameters)) for each in found.steps]


async def test_chaining_goes_back_from_the_wanted_key_to_known_ones():
    assert await chain(CHAINED, "revenue", company="Apple") == [
        ("lookup", {"company": {"$ref": "company"}}),
        ("revenue", {"ticker": {"$ref": "ticker"}}),
    ]


async def test_a_chained_plan_runs(opened):
    runs, memory = opened(LOOKUP, REVENUE), {"company": "Apple", "year": 2021}
    found = await PlanningCapability(CHAINED).create_plan("revenue", wanted=["revenue"], memory=memory)
    run_id = await runs.create(found, user="ann", memory=memory)

    assert await runs.execute(run_id) == "completed"
    run = await runs.get(run_id, "ann")
    assert runs.build_memory(run).to_dict()["revenue"]["data"] == {"ticker": "AAPL", "year": 2021}


async def test_a_missing_key_is_named_with_the_nearest():
    with pytest.raises(PlanInvalid, match=r"^No plan can reach this goal: no tool provides 'company', which") as caught:
        await chain(CHAINED, "revenue", "revenues")

    assert caught.value.details["missing"] == [
        {"name": "company", "needed_by": "lookup (lookup)", "nearest": ""},
        {"name": "revenues", "needed_by": "the goal", "nearest": "did you mean 'revenue'?"},
    ]


async def test_a_value_in_memory_is_not_requested_again():
    assert await chain(CHAINED, "revenue", ticker="AAPL") == [("revenue", {"ticker": {"$ref": "ticker"}})]
    assert await chain(CHAINED, "ticker", ticker="AAPL") == [(None, {"ticker": {"$ref": "ticker"}})]


async def test_the_first_tool_by_name_with_its_parameters_is_used():
    tools = [tool("c", "k"), tool("b", "k"), tool("a", "k", "lookup", "nothing"), tool("lookup", "lookup")]

    assert await chain(Catalogue.of(tools), "k") == [("b", {})]


async def test_circular_tools_are_not_a_plan():
    with pytest.raises(PlanInvalid, match="no tool provides 'a', which y"):
        await chain(Catalogue.of([tool("x", "a", "b"), tool("y", "b", "a")]), "a")


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
    found = await plan_from_template(Goal(f"Get Apple's revenue for {said}."), Catalogue.of([]), {})

    assert found is not None
    arguments = found.steps[0].parameters["parameters"]
    assert arguments == {"ticker": "AAPL", "metrics": ["Revenue"], **asked}


async def test_a_templates_plan_is_checked_like_any_other():
    with pytest.raises(PlanInvalid, match="tool 'sec_financial_data' is not found in registry"):
        await PlanningCapability(CHAINED).create_plan("Get Apple's revenue for 2022")
