"""The models of the plan-step contract: specification, step, plan and parameters."""

from datetime import date, datetime

import pytest
from pydantic import ValidationError

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.tool import ToolInput, ToolSpec
from fingerpost.filings.query_params import FinancialFactsParams

CREATED = "2022-02-22T06:00:00Z"
FACTS = {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"}


def reasons(caught) -> list[str]:
    return [error["msg"].removeprefix("Value error, ") for error in caught.value.errors()]


@pytest.mark.parametrize(
    ("model", "given", "defaults"),
    [
        (
            ToolSpec,
            {"name": "facts", "input_schema": {"financial_facts": FinancialFactsParams}, "output_key": "facts"},
            {"description": ""},
        ),
        (ToolInput, {"query_type": "financial_facts"}, {"parameters": {}}),
        (
            PlanStep,
            {"step_id": 1, "description": "Get Apple's revenue"},
            {
                "tool": None, "agent": None, "parameters": {}, "dependencies": [], "expected_key": None,
                "output_path": None, "done_check": None, "status": "pending", "completed_at": None, "skipped": False,
            },
        ),
        (
            Plan,
            {"goal": "Revenue", "created_at": CREATED},
            {"steps": [], "status": "pending", "completed_at": None, "owner": "agent", "can_modify": True},
        ),
    ],
)  # fmt: skip
def test_a_model_has_the_contracts_fields_and_defaults(model, given, defaults):
    """S1, S7-S29, S53: what is required and what has a default."""
    assert dict(model(**given)) == given | defaults


@pytest.mark.parametrize(
    ("model", "expected"), [(PlanStep, ["step_id", "description"]), (Plan, ["goal", "created_at"])]
)
def test_required_fields_are_required(model, expected):
    """S11, S12, S23, S26: fields without a default."""
    assert model.model_json_schema()["required"] == expected


def test_a_plan_states_when_it_was_created():
    """S26, S27: a timestamp, kept as it was written."""
    for instant in (CREATED, "2022-02-22T06:00:00.123456", "2022-02-22 08:00:00+02:00", "2022-02-22"):
        written = Plan(goal="x", created_at=instant, completed_at=instant)
        assert (written.created_at, written.completed_at) == (instant, instant)


@pytest.mark.parametrize("instant", ["", "yesterday", "2022-02-30T06:00:00Z", 1645509600, None])
def test_an_invalid_timestamp_is_refused(instant):
    """S26, S27: ``created_at`` is the instant of creation, not any text."""
    with pytest.raises(ValidationError) as caught:
        Plan(goal="x", created_at=instant)

    assert [error["loc"] for error in caught.value.errors()] == [("created_at",)]


def test_the_four_status_values():
    """S20, S25, F6: for a step and for a plan; cancelled and waiting live in the run record."""
    for status in ("pending", "in_progress", "completed", "failed"):
        step = PlanStep(step_id=1, description="x", status=status)
        assert (step.status, Plan(goal="x", created_at=CREATED, status=status).status) == (status, status)
    for status in ("cancelled", "waiting", "", "Pending"):
        with pytest.raises(ValidationError):
            PlanStep(step_id=1, description="x", status=status)
        with pytest.raises(ValidationError):
            Plan(goal="x", created_at=CREATED, status=status)


@pytest.mark.parametrize("model", [PlanStep, Plan, ToolInput, ToolSpec, FinancialFactsParams])
def test_an_unknown_field_is_refused(model):
    """A2: a misspelt field does not silently vanish."""
    with pytest.raises(ValidationError) as caught:
        model(done_chek="True")
    assert ("extra_forbidden", ("done_chek",)) in [(error["type"], error["loc"]) for error in caught.value.errors()]


def test_financial_facts_params_as_printed():
    """S54, S55, F7: five fields, the last optional; a date object is read as its day."""
    days = {"start_date": date(2022, 1, 1), "end_date": date(2022, 12, 31)}
    assert FinancialFactsParams(**FACTS).model_dump() == FACTS | {"filing_type": None}
    assert FinancialFactsParams(**FACTS | days) == FinancialFactsParams(**FACTS)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "Date must be a non-empty string"),
        (20220101, "Date must be a non-empty string"),
        ("2022", "Date must be in YYYY-MM-DD format"),
        ("2022-1-1", "Date must be in YYYY-MM-DD format"),
        ("\uff12022-01-01", "Date must be in YYYY-MM-DD format"),
        (datetime(2022, 1, 1, 8, 0), "Date must be in YYYY-MM-DD format"),
        ("2022-02-29", "Date must be a valid calendar date"),
        ("0000-01-01", "Date must be a valid calendar date"),
    ],
)
def test_an_invalid_day_is_refused(value, expected):
    """S55, F7: the contract's two messages word for word, and one of ours for days that never were."""
    with pytest.raises(ValidationError) as caught:
        FinancialFactsParams(**FACTS | {"start_date": value})
    assert reasons(caught) == [expected]


def test_the_start_must_not_be_after_the_end():
    """F7: a day after the end is refused, the same day is not."""
    assert FinancialFactsParams(**FACTS | {"start_date": "2022-12-31"}).start_date == "2022-12-31"
    with pytest.raises(ValidationError) as caught:
        FinancialFactsParams(**FACTS | {"start_date": "2023-01-01"})
    assert reasons(caught) == ["start_date must not be after end_date"]


def test_every_name_of_the_plan_step_contract_is_snake_case():
    """S66, A1: in Python and on the wire, as printed."""
    names = list(ToolSpec.model_fields)
    for model in (ToolInput, PlanStep, Plan, FinancialFactsParams):
        names += model.model_json_schema(by_alias=True)["properties"]
    assert [name for name in names if name != name.lower() or "-" in name] == []
