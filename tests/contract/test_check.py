"""Calls are validated before they run: the registry, validate_call, and helpful messages."""

import inspect
import subprocess
import sys
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from fingerpost.contract.check import explain, get_validated, validate_call
from fingerpost.contract.tool import ToolRegistry, ToolSpec
from fingerpost.contract.wire import Flag, Identifier, Number, WholeNumber, WireModel
from fingerpost.errors import BrokenContract, ParameterError, QueryTypeUnsupported, ToolNotFound
from fingerpost.filings.query_params import FinancialFactsParams

FACTS = {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"}
SPEC = ToolSpec(
    name="sec_financial_data", input_schema={"financial_facts": FinancialFactsParams}, output_key="sec_financial_data"
)


class Point(WireModel):
    lat: Number = Field(ge=-90, le=90)
    lon: Number = Field(ge=-180, le=180)


class Coords(WireModel):
    type: Literal["coords"]
    value: Point


class Label(WireModel):
    type: Literal["label"]
    value: Identifier


class Constraints(WireModel):
    max_transfers: WholeNumber = Field(default=4, ge=0, le=8)
    step_free: Flag = False


class Trip(WireModel):
    origin: Annotated[Coords | Label, Field(discriminator="type")]
    limit: WholeNumber = Field(default=2, ge=1, le=3)
    language: Literal["fi", "sv", "en"] = "en"
    constraints: Constraints = Field(default_factory=Constraints)
    via: Annotated[list[Point], Field(max_length=2)] = Field(default_factory=list)
    note: Annotated[str, Field(max_length=5)] = "x"

    @model_validator(mode="after")
    def _no_limit_of_three_with_a_note(self):
        if self.note == "sum":
            raise ValueError("a note may not be a sum")
        return self


TRIP = ToolSpec(name="trip", input_schema={"trip": Trip}, output_key="trip")
HERE = {"type": "coords", "value": {"lat": 60, "lon": 24}}


@pytest.fixture(autouse=True)
def _registry(monkeypatch):
    monkeypatch.setattr(ToolRegistry, "_specs", {})
    ToolRegistry.add([SPEC, TRIP])


def test_the_registry_contains_only_registered_tools():
    assert (ToolRegistry.get_tool_spec("trip"), ToolRegistry.get_tool_spec("trips")) == (TRIP, None)


def test_one_name_is_one_tool():
    """S60: the same specification again changes nothing, another one of that name beside it is a bug."""
    ToolRegistry.add([TRIP, TRIP.model_copy()])
    with pytest.raises(BrokenContract, match=r"^Two different tools are called 'trip'$"):
        ToolRegistry.add([TRIP, TRIP.model_copy(update={"description": "another"})])
    assert ToolRegistry.get_tool_spec("trip") == TRIP


def test_the_tools_of_this_package_are_known_without_an_application():
    """S59, S60: in a process that has only imported the name."""
    script = (
        "from fingerpost import validate_call; "
        f"validate_call('sec_financial_data', 'financial_facts', {FACTS}); validate_call('get_plan_run', 'x', {{}})"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "QueryTypeUnsupported: Query type 'x' is not supported" in ended.stderr


def test_a_valid_call_passes_and_returns_nothing():
    """S5, S59, S63: validate_call(tool_name, query_type, params) returns None."""
    assert list(inspect.signature(validate_call).parameters) == ["tool_name", "query_type", "params"]
    assert validate_call("sec_financial_data", "financial_facts", FACTS) is None


def test_the_validated_model_can_be_had():
    """F1, S45: a second function returns what validate_call checked."""
    assert get_validated("sec_financial_data", "financial_facts", FACTS) == FinancialFactsParams(**FACTS)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (("weather", "financial_facts", FACTS), ToolNotFound, r"^Tool 'weather' not found in registry$"),
        (([], "financial_facts", {}), ToolNotFound, r"^Tool '\[\]' not found"),
        (("sec_financial_data", "weather", FACTS), QueryTypeUnsupported, "Supported types are: financial_facts$"),
        (("sec_financial_data", [], {}), QueryTypeUnsupported, r"^Query type '\[\]'"),
        (("sec_financial_data", "financial_facts", []), ParameterError, "^1 validation error"),
    ],
)
def test_an_uncallable_object_is_refused(call, kind, message):
    """S6, S61, S62: the contract's messages; a caller's JSON may hold a list, which cannot even be looked up."""
    with pytest.raises(kind, match=message):
        validate_call(*call)


def test_bad_parameters_carry_pydantics_words_and_every_field():
    """S6, S64: the message is str(e), field is the first location, errors are all of them."""
    params = {"ticker": "AAPL", "metrics": "Revenue", "start_date": "2022", "end_date": "2022-12-31"}
    with pytest.raises(ValidationError) as printed:
        FinancialFactsParams(**params)
    with pytest.raises(ParameterError) as caught:
        validate_call("sec_financial_data", "financial_facts", params)
    assert caught.value.message == str(printed.value)
    assert caught.value.details == {
        "field": "metrics",
        "errors": [
            {"field": "metrics", "reason": 'metrics must be a list, not the text "Revenue"'},
            {"field": "start_date", "reason": "start_date: Date must be in YYYY-MM-DD format"},
        ],
    }


def test_a_fault_of_no_single_field_has_no_field():
    """S57, S64: the user message then takes its second form."""
    with pytest.raises(ParameterError) as caught:
        validate_call("sec_financial_data", "financial_facts", FACTS | {"end_date": "2021-12-31"})
    assert caught.value.details == {"errors": [{"field": "", "reason": "start_date must not be after end_date"}]}
    assert caught.value.user_message().startswith("Invalid parameter: 1 validation error")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"origin": 7}, "origin must be an object, not the number 7"),
        ({"origin": '{"value": 1}'}, r'origin must be an object, not the text "{\"value\": 1}"'),
        ({"origin": {"value": 1}}, "origin.type is missing"),
        (
            {"origin": {"type": "coords", "value": {"lat": float("nan"), "lon": 24}}},
            "origin.value.lat must be a finite number, not the number NaN",
        ),
        ({"origin": HERE, "via": [{"lat": 1, "lon": "x"}]}, 'via[0].lon must be a number, not the text "x"'),
        ({"origin": HERE, "via": [{"lat": 1, "lon": 1, "x": 1}]}, "unknown field 'via[0].x'; allowed: lat, lon"),
        ({"origin": HERE, "via": [{}] * 3}, "via must have at most 2 entries; you sent 3"),
        ({"origin": HERE, "note": "abcdef"}, "note must have at most 5 characters; you sent 6"),
        ({"origin": HERE, "note": "\ud800"}, "note contains characters that are not valid Unicode"),
        ({"origin": HERE, "note": "sum"}, "a note may not be a sum"),
        (
            {"limit": 4, "language": 1},
            "origin is missing; limit must be at most 3; you sent 4; language must be 'fi', 'sv' or 'en'; you sent 1",
        ),
    ],
)
def test_a_person_understands_the_error(arguments, expected):
    """S6, P17-P22, issue 2: the path, what to send, and what was sent."""
    with pytest.raises(ValidationError) as caught:
        Trip.read(arguments)
    assert explain(caught.value, Trip).message == expected


def test_missing_values_have_the_contracts_words():
    """D37: a contract's sentence stands where it has one, for a missing and for a blank value."""
    said = []
    for value in (None, "", " "):
        with pytest.raises(ValidationError) as caught:
            Trip.read({"origin": {"type": "label", "value": value}})
        said.append(explain(caught.value, Trip, {"origin.value": "stop id missing"}).message)
    assert said == ["stop id missing"] * 3


def test_a_long_value_is_not_echoed():
    """S6: no more than 80 characters of what was sent come back, in a value or in a name."""
    with pytest.raises(ValidationError) as caught:
        Trip.read({"origin": HERE, "limit": "s" * 500, "k" * 500: 1})
    assert explain(caught.value, Trip).message == (
        f'limit must be a whole number, not the text "{"s" * 79}…; '
        f"unknown field '{'k' * 80}…'; allowed: constraints, language, limit, note, origin, via"
    )


def test_many_problems_are_counted():
    """S6: eight are told, the others are counted, none is hidden."""
    with pytest.raises(ValidationError) as caught:
        Trip.read({"origin": HERE} | {f"f{n:03}": 1 for n in range(150)})
    error = explain(caught.value, Trip)
    assert error.message.split("; ")[14::2] == ["unknown field 'f007'", "and 142 more"]
    assert (len(error.details["errors"]), error.details["errors_left_out"]) == (100, 50)
