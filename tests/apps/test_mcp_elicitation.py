"""For an unclear place, the person behind the client is asked, in old and new protocol versions (rule B10)."""

from functools import reduce
from operator import getitem

import pytest
from mcp_types import ElicitResult

from fingerpost.apps.mcp import elicitation
from tests.apps.clients import ERAS, connect
from tests.apps.questions import AMBIGUOUS


class Person:
    def __init__(self, action="accept", choose=0):
        self.action = action
        self.choose = choose
        self.asked = []

    async def __call__(self, _context, params):
        choices = params.requested_schema["properties"]["place"]["oneOf"]
        self.asked.append((params.message, [choice["const"] for choice in choices]))
        content = {"place": choices[self.choose]["const"]} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)


LABELS = {name: {"type": "label", "value": name} for name in ("kamp", "pasi", "Kamppi")}
RAW_TEXTS = {
    "origin": {"rawText": "kamp"},
    "destination": {"rawText": "Espoo"},
    "departureTime": "2026-03-10T08:00:00+02:00",
}


@ERAS
@pytest.mark.parametrize(
    ("tool", "arguments", "chosen_at"),
    [
        ("plan_trip", AMBIGUOUS, {"origin": ["origin", "label"]}),
        (
            "plan_trip",
            {"origin": LABELS["kamp"], "destination": LABELS["pasi"]},
            {"origin": ["origin", "label"], "destination": ["destination", "label"]},
        ),
        ("get_departures", {"stop": LABELS["kamp"]}, {"stop": ["stopId"]}),
        ("get_departures", {"stop": LABELS["Kamppi"]}, {}),
        ("get_departures", {"stop": "kamp"}, {"stop": ["stopId"]}),
        # Its answer names no token.
        ("planRoute", RAW_TEXTS, {"origin": []}),
    ],
    ids=["one end", "both ends", "a stop", "a clear stop", "a plain text", "a raw text"],
)
async def test_every_ambiguous_place_is_elicited_and_replaced_by_the_choice(
    application, mode, tool, arguments, chosen_at
):
    person = Person()
    async with connect(application, mode, elicitation_callback=person) as client:
        answer = await client.call_tool(tool, arguments)

    assert [message for message, _ in person.asked] == [f"Which place is the {side}?" for side in chosen_at]
    assert not answer.is_error
    for path, (_, tokens) in zip(chosen_at.values(), person.asked, strict=True):
        assert not path or reduce(getitem, path, answer.structured_content) == tokens[0]


@ERAS
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_declined_elicitation_returns_the_candidates(application, mode, action):
    person = Person(action)
    async with connect(application, mode, elicitation_callback=person) as client:
        answer = await client.call_tool("plan_trip", AMBIGUOUS)

    tokens = [candidate["token"] for candidate in answer.structured_content["error"]["candidates"]]
    assert answer.is_error
    assert person.asked == [("Which place is the origin?", tokens)]


@pytest.mark.parametrize("state", ["", "[]", "{", '{"origin":7}', '{"limit":"1"}'])
async def test_a_foreign_state_changes_nothing(application, state):
    """The client may send what it likes; the question is asked as if for the first time."""
    async with connect(application, elicitation_callback=Person()) as client:
        result = await client.session.call_tool("plan_trip", AMBIGUOUS, request_state=state, allow_input_required=True)

    assert list(result.input_requests) == ["origin"]


async def test_a_choice_other_than_a_place_is_reported(application):
    response = ElicitResult(action="accept", content={"place": "NOWHERE:1"})
    async with connect(application, elicitation_callback=Person()) as client:
        result = await client.session.call_tool(
            "plan_trip", AMBIGUOUS, input_responses={"origin": response}, allow_input_required=True
        )

    assert result.structured_content["error"]["code"] == "validation-error"


@pytest.mark.parametrize(
    ("version", "choice"),
    [
        ("2025-06-18", {"enum": ["A:1"], "enumNames": ["Alpha (A:1)"]}),
        ("2025-11-25", {"oneOf": [{"const": "A:1", "title": "Alpha (A:1)"}]}),
    ],
)
def test_choices_are_named_as_the_clients_revision_names_them(version, choice):
    schema = elicitation._build_schema("stop", {"A:1": "Alpha (A:1)"}, version)

    assert schema == {
        "type": "object",
        "properties": {"place": {"type": "string", "title": "Stop", **choice}},
        "required": ["place"],
    }
