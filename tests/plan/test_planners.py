"""Planners: chaining, templates, a file; missing values are reported, and every plan is validated."""

import pytest
from pydantic import BaseModel

from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.tool import success_response
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.planners import Goal, PlanningCapability, plan_from_template
from tests.plan.drawing import EXAMPLE, FINANCIAL


class Nothing(BaseModel):
    """No parameters."""


class NeedsTicker(BaseModel):
    ticker: str
    year: int = 2022


class NeedsName(BaseModel):
    company: str


class Ticker(BaseModel):
    ticker: str


def tool(name, model, key, data=None, answer=None):
    async def execute(query_type, parameters, _user):
        return success_response(name, query_type, parameters, [], {"data": data if data is not None else parameters})

    outputs = {} if answer is None else {name: answer}
    spec = ToolSpec(name=name, input_schema={name: model}, output_key=key, output_schema=outputs)
    return PlanTool(spec=spec, execute=execute)


LOOKUP = tool("lookup", NeedsName, "ticker", {"ticker": "AAPL"}, answer=Ticker)
REVENUE = tool("revenue", NeedsTicker, "revenue")
CHAINED = Catalogue.of([LOOKUP, REVENUE])


async def test_chaining_goes_back_from_the_wanted_key_to_known_ones():
    found = await PlanningCapability(CHAINED).create_plan("revenue", wanted=["revenue"], known={"company": "Apple"})

    assert [(each.tool, each.parameters["parameters"]) for each in found.steps] == [
        ("lookup", {"company": "Apple"}),
        ("revenue", {"ticker": {"$ref": "ticker"}}),
    ]


async def test_a_chained_plan_runs(opened):
    runs = opened(LOOKUP, REVENUE)
    found = await PlanningCapability(CHAINED).create_plan("revenue", wanted=["revenue"], known={"company": "Apple"})
    run_id = await runs.create(found, user="ann")

    assert await runs.execute(run_id) == "completed"
    run = await runs.get(run_id, "ann")
    assert runs.memory_of(run).to_dict()["revenue"]["data"] == {"ticker": "AAPL"}


async def test_a_missing_key_is_named_with_the_nearest():
    with pytest.raises(PlanInvalid) as caught:
        await PlanningCapability(CHAINED).create_plan("revenue", wanted=["revenue", "revenues"])

    assert caught.value.details["missing"] == [
        {"name": "company", "needed_by": "lookup (lookup)", "nearest": ""},
        {"name": "revenues", "needed_by": "the goal", "nearest": "did you mean 'revenue'?"},
    ]


async def test_a_cached_answer_is_not_requested_again():
    capability = PlanningCapability(CHAINED)
    one = await capability.create_plan("revenue", wanted=["revenue"], memory=["ticker"])
    none = await capability.create_plan("ticker", wanted=["ticker"], memory=["ticker"])

    assert [(each.tool, each.parameters.get("parameters")) for each in one.steps] == [
        ("revenue", {"ticker": {"$ref": "ticker"}})
    ]
    assert [(each.tool, each.parameters) for each in none.steps] == [(None, {"ticker": {"$ref": "ticker"}})]


async def test_the_first_of_two_tools_by_name_is_used():
    tools = Catalogue.of([tool("b", Nothing, "k"), tool("a", Nothing, "k")])
    found = await PlanningCapability(tools).create_plan("k", wanted=["k"])

    assert [each.tool for each in found.steps] == ["a"]


async def test_circular_tools_are_not_a_plan():
    class NeedsB(BaseModel):
        b: str

    class NeedsA(BaseModel):
        a: str

    circle = Catalogue.of([tool("x", NeedsB, "a"), tool("y", NeedsA, "b")])
    with pytest.raises(PlanInvalid, match="no tool provides 'a', which y"):
        await PlanningCapability(circle).create_plan("a", wanted=["a"])


async def test_the_contracts_sentence_becomes_the_contracts_step():
    """F6: "Get Apple's revenue for 2022", word for word the example of the plan-step contract."""
    found = await PlanningCapability(Catalogue.of([FINANCIAL])).create_plan("Get Apple's revenue for 2022")

    assert found.steps == [EXAMPLE]


async def test_anything_else_is_an_error():
    with pytest.raises(PlanInvalid, match=r"^No planner understands this goal"):
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
    found = await plan_from_template(Goal(text=f"Get Apple's revenue for {said}."), Catalogue.of([]), ())

    assert found is not None
    arguments = found.steps[0].parameters["parameters"]
    assert arguments == {"ticker": "AAPL", "metrics": ["Revenue"], **asked}


async def test_a_templates_plan_is_checked_like_any_other():
    with pytest.raises(PlanInvalid, match="tool 'sec_financial_data' is not found in registry"):
        await PlanningCapability(CHAINED).create_plan("Get Apple's revenue for 2022")
