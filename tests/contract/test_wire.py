"""Wire models: names, numbers, nulls, and the published schemas."""

from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from fingerpost.contract.wire import (
    EnumValue,
    Flag,
    Identifier,
    Number,
    WholeNumber,
    WireDict,
    WireModel,
    build_json_schema,
    get_adapter,
)

WHOLE, NUMBER, FLAG, IDENTIFIER = (TypeAdapter(kind) for kind in (WholeNumber, Number, Flag, Identifier))


class Accessibility(WireModel):
    step_free: Flag = False
    low_walking_distance: Flag = False


class Constraints(WireModel):
    max_transfers: WholeNumber = Field(default=4, ge=0, le=8)
    accessibility: Accessibility = Field(default_factory=Accessibility)


class Question(WireModel):
    stop_id: Identifier
    constraints: Constraints = Field(default_factory=Constraints)
    radius: Number | None = None


class Stop(WireModel):
    name: str
    platform: str | None = None


class Nulls(WireModel):
    writes_nulls = True
    top_journeys: list[str] | None = None


def is_read(adapter: TypeAdapter, value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def test_the_wire_is_camel_case():
    """A1: attributes are snake_case, the wire is camelCase, absent fields are left out (A2)."""
    question = Question.read({"stopId": "HSL:1", "constraints": {"maxTransfers": 2}})
    assert question.constraints.max_transfers == 2
    assert question.to_wire() == {
        "stopId": "HSL:1",
        "constraints": {"maxTransfers": 2, "accessibility": {"stepFree": False, "lowWalkingDistance": False}},
    }


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"stop_id": "HSL:1"}, [("missing", ("stopId",)), ("extra_forbidden", ("stop_id",))]),
        ({"stopId": None}, [("missing", ("stopId",))]),
        ({"stopId": "HSL:1", "maxTransfer": None}, [("extra_forbidden", ("maxTransfer",))]),
    ],
)
def test_a_field_is_there_under_its_name_or_missing(raw, expected):
    """A2: on the wire an attribute's name is an unknown field; null cannot stand for what must be there."""
    assert Question(stop_id="HSL:1") == Question.read({"stopId": "HSL:1"})
    with pytest.raises(ValidationError) as caught:
        Question.read(raw)
    assert [(error["type"], error["loc"]) for error in caught.value.errors()] == expected


@pytest.mark.parametrize(
    "raw",
    [
        {"stopId": "HSL:1", "constraints": None},
        {"stopId": "HSL:1", "constraints": {"maxTransfers": None}},
        {"stopId": "HSL:1", "constraints": {"accessibility": {"stepFree": None}}},
        {"stopId": "HSL:1", "radius": None},
    ],
)
def test_null_for_an_optional_input_is_absence(raw):
    """A2: an explicit null means that the default holds, however deep."""
    assert Question.read(raw) == Question.read({"stopId": "HSL:1"})


def test_nulls_inside_free_values_are_preserved():
    """C4: the value of a variable is the user's: its nulls are not ours to drop."""

    class Kept(WireModel):
        value: Any

    assert Kept.read({"value": {"note": None}}).to_wire() == {"value": {"note": None}}


@given(st.integers(min_value=-(2**53), max_value=2**53), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_themselves(whole, number):
    """A6: 2.0 is the whole number 2, and comes back as an integer."""
    read = WHOLE.validate_python(float(whole))
    assert (WHOLE.validate_python(whole), read, type(read)) == (whole, whole, int)
    assert NUMBER.validate_python(number) == number


@given(st.one_of(st.booleans(), st.text(), st.integers().map(str), st.none(), st.lists(st.integers())))
def test_number_lookalikes_are_refused(value):
    """A6: no booleans, no numeric strings, no null, no lists as numbers."""
    assert (is_read(WHOLE, value), is_read(NUMBER, value)) == (False, False)


def test_every_kind_refuses_others():
    """A6: numbers are finite, flags are true or false, ids are never blank, and a boolean is none."""
    not_finite = (float("nan"), float("inf"), float("-inf"), 10**400)
    no_flags = (0, 1, 1.0, "true", "false", "yes", "", [], None)
    no_ids = ("", "  ", "\t", True, None, [], float("nan"), float("inf"))
    refused = [(NUMBER, not_finite), (FLAG, no_flags), (IDENTIFIER, no_ids)]
    assert [value for kind, values in refused for value in values if is_read(kind, value)] == []
    assert [FLAG.validate_python(value) for value in (True, False)] == [True, False]


def test_identifier_reads_a_number_as_text():
    """A6: ids sent as numbers are read as text."""
    sent = (1040601, 1040601.0, "HSL:1", 1.5, 0)
    assert [IDENTIFIER.validate_python(value) for value in sent] == ["1040601", "1040601", "HSL:1", "1.5", "0"]


def test_the_schema_matches_the_model():
    """S2, A6: types, bounds, defaults and closedness are published; titles, docstrings and nulls are not."""

    class Purpose(StrEnum):
        """Words for developers."""

        WORK = "work"
        FUN = "fun"

    class Place(WireModel):
        """Words for developers."""

        stop_id: Identifier = Field(description="As printed on the pole")
        limit: WholeNumber = Field(default=2, ge=1, le=3)
        radius: Annotated[Number | None, Field(default=None, gt=0)]
        step_free: Flag = False
        purpose: Purpose = Purpose.FUN
        stops: list[Stop] | None = None
        when: Stop | None = Field(default=None, description="The stop")

    assert build_json_schema(Place) == {
        "$defs": {
            "Purpose": {"enum": ["work", "fun"], "type": "string"},
            "Stop": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"name": {"type": "string"}, "platform": {"type": "string"}},
                "required": ["name"],
            },
        },
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "stopId": {"type": "string", "minLength": 1, "description": "As printed on the pole"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
            "radius": {"type": "number", "exclusiveMinimum": 0},
            "stepFree": {"type": "boolean", "default": False},
            "purpose": {"$ref": "#/$defs/Purpose", "default": "fun"},
            "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
            "when": {"$ref": "#/$defs/Stop", "description": "The stop"},
        },
        "required": ["stopId"],
    }


def test_untyped_fields_accept_each_json_type():
    class Free(WireModel):
        value: Any
        values: dict[str, Any] | None = None

    any_type = {"anyOf": [{"type": name} for name in ("object", "array", "string", "number", "boolean", "null")]}
    assert build_json_schema(Free)["properties"] == {
        "value": any_type,
        "values": {"type": "object", "additionalProperties": True},
    }


def test_a_model_may_write_nulls_and_its_schema_allows_them():
    """A2: the planJourney contract writes null."""
    assert Nulls().to_wire() == {"topJourneys": None}
    assert build_json_schema(Nulls)["properties"]["topJourneys"] == {
        "anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}],
        "default": None,
    }


def test_several_models_are_any_one_of_them():
    """Rule D1: a tool may answer in one of several shapes; the schema is still an object's."""
    schema = build_json_schema((Stop, Nulls))
    assert (schema["type"], schema["anyOf"], sorted(schema["$defs"])) == (
        "object",
        [{"$ref": "#/$defs/Stop"}, {"$ref": "#/$defs/Nulls"}],
        ["Nulls", "Stop"],
    )


def test_a_tagged_union_has_no_openapi_discriminator():
    """A11: what JSON Schema does not know is not sent."""

    class Coords(WireModel):
        type: Literal["coords"]

    class Label(WireModel):
        type: Literal["label"]

    class End(WireModel):
        origin: Annotated[Coords | Label, Field(discriminator="type")]

    assert build_json_schema(End)["properties"]["origin"] == {
        "oneOf": [{"$ref": "#/$defs/Coords"}, {"$ref": "#/$defs/Label"}]
    }


class Status(StrEnum):
    ON = "on"
    OFF = "off"


class Row(WireDict):
    line: Annotated[str, Field(min_length=1, description="short name")]
    status: Annotated[str, EnumValue(Status)]
    kind: Annotated[str, EnumValue(Literal["main", "branch"])]
    delaySeconds: NotRequired[int]
    platform: str | None


class RowBoard(WireDict):
    rows: list[Row]


check_board = partial(get_adapter(RowBoard).validate_python, by_alias=True, by_name=False)


def test_the_schema_of_a_wire_dict_is_closed_and_plain():
    """A2, A11: keys as they are written, words of an enum or a Literal, null only where the type says so."""
    assert build_json_schema(Row) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "line": {"type": "string", "minLength": 1, "description": "short name"},
            "status": {"type": "string", "enum": ["on", "off"]},
            "kind": {"type": "string", "enum": ["main", "branch"]},
            "delaySeconds": {"type": "integer"},
            "platform": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["line", "status", "kind", "platform"],
    }


ROW = {"line": "7", "status": "on", "kind": "main", "platform": None}


@pytest.mark.parametrize(
    ("change", "kind", "place"),
    [
        ({"line": ""}, "string_too_short", ("rows", 0, "line")),
        ({"status": "ON"}, "literal_error", ("rows", 0, "status")),
        ({"kind": "other"}, "literal_error", ("rows", 0, "kind")),
        ({"delaySeconds": None}, "int_type", ("rows", 0, "delaySeconds")),
        ({"delaySeconds": True}, "int_type", ("rows", 0, "delaySeconds")),
        ({"delay_seconds": 1}, "extra_forbidden", ("rows", 0, "delay_seconds")),
    ],
)
def test_a_wire_dict_is_checked_to_the_letter(change, kind, place):
    """S2: nothing is converted, no null stands for absence, no other key passes."""
    sound = {"rows": [ROW]}
    check_board(sound)
    with pytest.raises(ValidationError) as caught:
        check_board(sound | {"rows": [ROW | change]})
    assert [(error["type"], error["loc"]) for error in caught.value.errors()] == [(kind, place)]
