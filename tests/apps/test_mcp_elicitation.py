"""An unclear place is asked of the person behind the client, in both eras (rule B10)."""

import pytest
from mcp import Client
from mcp_types import ElicitResult

from fingerpost.apps.mcp import elicitation
from fingerpost.apps.mcp.server import new_server
from tests.apps.questions import AMBIGUOUS, KAMPPI

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Person:
    """Someone who answers every question in one way, and remembers the questions."""

    def __init__(self, action="accept", choose=0):
        self.action = action
        self.choose = choose
        self.asked = []

    async def __call__(self, _context, params):
        choices = params.requested_schema["properties"]["place"]["oneOf"]
        self.asked.append((params.message, [choice["const"] for choice in choices]))
        content = {"place": choices[self.choose]["const"]} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)


def connect(application, mode, person):
    return Client(new_server(application, find_user=lambda _: "eva"), mode=mode, elicitation_callback=person)


@ERAS
async def test_the_chosen_place_takes_the_unclear_ones_place(application, mode):
    """The chosen place takes the unclear one's place."""
    person = Person()
    async with connect(application, mode, person) as client:
        answer = await client.call_tool("plan_trip", AMBIGUOUS)

    assert [message for message, _ in person.asked] == ["Which place is the origin?"]
    assert not answer.is_error
    assert answer.structured_content["origin"]["label"] == person.asked[0][1][0] == KAMPPI


@ERAS
async def test_two_unclear_places_are_asked_one_after_the_other(application, mode):
    """The first choice is not forgotten while the second is made."""
    person = Person()
    unclear = {side: {"type": "label", "value": text} for side, text in (("origin", "kamp"), ("destination", "pasi"))}
    async with connect(application, mode, person) as client:
        answer = await client.call_tool("plan_trip", unclear)

    ends = [answer.structured_content[side]["label"] for side in ("origin", "destination")]
    assert [message for message, _ in person.asked] == ["Which place is the origin?", "Which place is the destination?"]
    assert ends == [choices[0] for _, choices in person.asked]


@ERAS
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_who_will_not_choose_gets_the_candidates(application, mode, action):
    """Who will not choose gets the candidates."""
    person = Person(action)
    async with connect(application, mode, person) as client:
        answer = await client.call_tool("plan_trip", AMBIGUOUS)

    tokens = [candidate["token"] for candidate in answer.structured_content["error"]["candidates"]]
    assert answer.is_error
    assert person.asked == [("Which place is the origin?", tokens)]


@ERAS
async def test_a_boards_stop_is_asked_too(application, mode):
    """A board's stop is asked too."""
    person = Person()
    async with connect(application, mode, person) as client:
        answer = await client.call_tool("get_departures", {"stop": {"type": "label", "value": "kamp"}})

    assert [message for message, _ in person.asked] == ["Which place is the stop?"]
    assert answer.structured_content["stopId"] == KAMPPI


@ERAS
async def test_a_clear_place_is_not_asked(application, mode):
    """A clear place is not asked."""
    person = Person()
    async with connect(application, mode, person) as client:
        await client.call_tool("get_departures", {"stop": {"type": "label", "value": "Kamppi"}})

    assert person.asked == []


@pytest.mark.parametrize("state", ["", "[]", "{", '{"origin":7}', '{"limit":"1"}'])
async def test_a_state_that_we_never_wrote_chooses_nothing(application, state):
    """The client may send what it likes; the question is asked as if for the first time."""
    async with connect(application, "auto", Person()) as client:
        result = await client.session.call_tool("plan_trip", AMBIGUOUS, request_state=state, allow_input_required=True)

    assert list(result.input_requests) == ["origin"]


async def test_a_choice_that_is_no_place_is_told(application):
    """A client that sends a token of its own making learns that it names nothing."""
    response = ElicitResult(action="accept", content={"place": "NOWHERE:1"})
    async with connect(application, "auto", Person()) as client:
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
    """Choices are named as the client's revision names them."""
    schema = elicitation._schema_of(
        elicitation.PlaceElicitation("stop", "Which place is the stop?", {"A:1": "Alpha (A:1)"}), version
    )

    assert schema == {
        "type": "object",
        "properties": {"place": {"type": "string", "title": "Stop", **choice}},
        "required": ["place"],
    }


@ERAS
async def test_the_chosen_place_takes_the_place_of_a_raw_text(application, mode):
    """An unclear end of planRoute is asked about like one of plan_trip."""
    person = Person()
    question = {
        "origin": {"rawText": "kamp"},
        "destination": {"rawText": "Espoo"},
        "departureTime": "2026-03-10T08:00:00+02:00",
    }
    async with connect(application, mode, person) as client:
        answer = await client.call_tool("planRoute", question)

    assert [message for message, _ in person.asked] == ["Which place is the origin?"]
    assert not answer.is_error
    assert answer.structured_content["itineraries"]
