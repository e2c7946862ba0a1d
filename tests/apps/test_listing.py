"""The contents of ``tools/list``: small, closed, described and deterministic."""

import json

import pytest

from fingerpost.apps.mcp.listing import build_tool_entry
from fingerpost.apps.mcp.server import build_result
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import new_failure
from fingerpost.errors import PlaceAmbiguous, Remedy, RemedyKind

TRIPS = [
    "plan_trip",
    "get_departures",
    "check_trip",
    "findAddressOrStop",
    "find_stops",
    "save_user_variable",
    "get_user_variables",
    "delete_user_variable",
    "planRoute",
    "getStopTimetable",
]
TRIPS_BYTES = 12_000
ALL_BYTES = 20_000


def wire(tool):
    return build_tool_entry(tool.definition).model_dump(by_alias=True, exclude_none=True, mode="json")


def minified(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def test_the_trips_group_is_listed_in_a_fixed_order(application):
    assert list(build(read_settings(), ["trips"]).tools) == TRIPS


@pytest.mark.parametrize(("groups", "most"), [(["trips"], TRIPS_BYTES), (None, ALL_BYTES)])
def test_names_descriptions_and_input_schemas_fit_their_budget(home, groups, most):
    """Rule A11: of the group trips, and of all tools."""
    size = sum(
        len(minified({key: wire(tool)[key] for key in ("name", "description", "inputSchema")}))
        for tool in build(read_settings(), groups).tools.values()
    )

    assert size <= most


def test_all_four_annotations_are_stated_for_every_tool(application):
    hints = {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

    assert {name: set(wire(tool)["annotations"]) for name, tool in application.tools.items()} == dict.fromkeys(
        application.tools, hints
    )


def test_only_writing_tools_are_annotated_as_writing(application):
    """A new one belongs into the tests of two callers, too."""
    writers = [name for name, tool in application.tools.items() if not wire(tool)["annotations"]["readOnlyHint"]]

    assert writers == ["save_user_variable", "delete_user_variable", "run_plan"]


def test_every_input_schema_is_closed(application):
    assert [name for name, tool in application.tools.items() if wire(tool)["inputSchema"]["additionalProperties"]] == []


ANY_JSON = [{"type": name} for name in ("object", "array", "string", "number", "boolean", "null")]


def schemas_of(schema):
    if isinstance(schema, dict):
        if schema.get("anyOf") == ANY_JSON:
            return
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from schemas_of(inner)


def test_no_output_schema_is_hollow(application):
    """Each object says its fields, what it is one of, or what each value of a map is.

    The plan-step contract echoes the parameters as they were sent: that one object may hold anything.
    """
    hollow = [
        name
        for name, tool in application.tools.items()
        for schema in schemas_of(wire(tool)["outputSchema"])
        if schema.get("type") == "object"
        and not (schema.get("properties") or schema.get("anyOf") or schema.get("additionalProperties"))
    ]

    assert hollow == []


def test_a_failure_has_its_cause_and_its_remedy_in_meta():
    """A10: clients that word failures for people need values, not the sentence for agents."""
    remedy = Remedy(RemedyKind.USE_CANDIDATE, {"field": "the label"})
    answer = new_failure(PlaceAmbiguous("unclear", hint=remedy), Contract.PLAN_TRIP, "id")

    meta = build_result(answer)["_meta"]
    assert meta == {
        "fingerpost/correlationId": "id",
        "fingerpost/cause": "PlaceAmbiguous",
        "fingerpost/remedy": {"kind": "use-candidate", "values": {"field": "the label"}},
    }
