"""The base class of served tools: validates calls, answers them, and validates the answers."""

import json
import uuid
from dataclasses import replace
from datetime import datetime
from typing import NotRequired

import pytest
from pydantic import Field

from fingerpost import clock
from fingerpost.contract.check import validate_call
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.tool import ToolRegistry
from fingerpost.contract.wire import WholeNumber, WireDict, WireModel
from fingerpost.errors import DataNotFound, NoItinerary, SourceLimited

NOON = "2022-02-22T12:00:00Z"


class StopQuestion(WireModel):
    stop_id: str
    limit: WholeNumber = Field(default=2, ge=1, le=3)


class Row(WireDict):
    line: str
    delaySeconds: NotRequired[int]


class Board(WireDict):
    stopId: str
    departures: list[Row]
    askedAt: str
    user: NotRequired[str]
    correlationId: str


class Nothing(WireDict):
    reason: str


NOTHING = Output(Nothing)


class BoardTool(PublishedTool):
    definition = ToolDefinition(
        name="get_board",
        title="Board",
        description="A board.",
        contract=Contract.BOARD,
        input_model=StopQuestion,
        outputs=(Output(Board), NOTHING),
        missing_messages={"stopId": "stop id missing"},
    )

    def __init__(self, reply=None):
        self.reply = reply

    async def handle(self, arguments, call):
        if isinstance(self.reply, BaseException):
            raise self.reply
        if self.reply is not None:
            return ToolReply(
                self.reply, self.reply.get("reason", ""), output=NOTHING if "reason" in self.reply else None
            )
        board = {
            "stopId": arguments.stop_id,
            "departures": [{"line": str(number)} for number in range(arguments.limit)],
            "askedAt": call.now.isoformat(),
            "correlationId": call.correlation_id,
        }
        text = f"{arguments.limit} departures"
        return ToolReply(board if call.user is None else board | {"user": call.user}, text)


class LondonAnswer(WireDict):
    success: bool
    topJourneys: list[str] | None


class LondonTool(BoardTool):
    definition = replace(BoardTool.definition, contract=Contract.LONDON, outputs=(Output(LondonAnswer),))


class StepTool(BoardTool):
    definition = replace(BoardTool.definition, contract=Contract.STEP)


@pytest.fixture(autouse=True)
def _noon(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOON)


async def test_a_sound_call_is_answered():
    """A3, A4, P31: the body in the wire's form, a text, one id and one instant."""
    answer = await BoardTool().answer({"stopId": "HSL:1"}, user="ada")
    assert answer.body == {
        "stopId": "HSL:1",
        "departures": [{"line": "0"}, {"line": "1"}],
        "askedAt": "2022-02-22T12:00:00+00:00",
        "user": "ada",
        "correlationId": answer.correlation_id,
    }
    assert (answer.text, answer.is_error) == ("2 departures", False)
    assert json.loads(json.dumps(answer.body)) == answer.body


async def test_a_free_clock_gives_now_and_a_random_id(monkeypatch):
    """A3, D12: UUID v4, and the present in UTC."""
    monkeypatch.delenv(clock.VARIABLE)
    before = clock.now()
    answer = await BoardTool().answer({"stopId": "HSL:1"}, user=None)
    assert uuid.UUID(answer.correlation_id).version == 4
    assert before <= datetime.fromisoformat(answer.body["askedAt"]) <= clock.now()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"stopId": "HSL:1", "foo": 4}, "unknown field 'foo'; allowed: limit, stopId"),
        ({"stop_id": "HSL:1"}, "stop id missing; unknown field 'stop_id'; allowed: limit, stopId"),
        (None, "stop id missing"),
        ("{}", 'the arguments must be a JSON object, not the text "{}"'),
    ],
)
async def test_a_bad_call_is_refused_with_a_sentence(raw, expected):
    """S5, S6, D28, D37: the envelope of the tool's contract, the text with its code."""
    answer = await BoardTool().answer(raw, user=None)
    assert answer.body == {
        "error": {"code": "validation-error", "message": expected, "correlationId": answer.correlation_id}
    }
    assert (answer.text, answer.is_error) == (f"validation-error: {expected}.", True)


async def test_an_error_of_the_tool_wears_the_contracts_envelope():
    """A5, B10: what handle raises is rendered with the call's id, and the error stands beside its envelope."""
    error = SourceLimited("Too many calls", retry_after_s=1.5)
    answer = await BoardTool(error).answer({"stopId": "x"}, user=None)
    assert answer.body["error"] == {
        "code": "rate-limited",
        "message": "Too many calls",
        "correlationId": answer.correlation_id,
        "retryAfter": 2,
    }
    assert (answer.is_error, answer.error) == (True, error)


async def test_other_exceptions_reach_the_error_boundary():
    with pytest.raises(ZeroDivisionError):
        await BoardTool(ZeroDivisionError("x")).answer({"stopId": "x"}, user=None)


async def test_one_of_several_shapes_may_be_answered():
    """Rule D1: a lookup answers one shape or another."""
    answer = await BoardTool({"reason": "No service"}).answer({"stopId": "x"}, user=None)
    assert (answer.body, answer.text, answer.is_error) == ({"reason": "No service"}, "No service", False)


BOARD = {"stopId": "x", "departures": [], "askedAt": NOON, "correlationId": "y"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({name: BOARD[name] for name in BOARD if name != "askedAt"}, "askedAt is missing"),
        (BOARD | {"user": None}, "user must be text, not null"),
        (
            BOARD | {"departures": [{"line": "7", "to": "x"}]},
            "unknown field 'departures[0].to'; allowed: delaySeconds, line",
        ),
    ],
)
async def test_an_answer_that_breaks_the_contract_does_not_leave(reply, expected):
    """S2, design principle 2: the output is checked after every call, and a breach is our own fault."""
    answer = await BoardTool(reply).answer({"stopId": "x"}, user=None)
    assert (answer.body["error"]["code"], answer.body["error"]["message"]) == (
        "internal-error",
        f"get_board would break its contract: {expected}",
    )


class MapTool(BoardTool):
    definition = replace(BoardTool.definition, optional_parts={"row": Row})

    async def handle(self, arguments, call):
        return ToolReply(BOARD, "", {"row": self.reply})


@pytest.mark.parametrize(
    ("row", "beside", "message"),
    [
        ({"line": "7"}, {"row": {"line": "7"}}, None),
        ({"line": 7}, {}, "get_board would break its contract: line must be text, not the number 7"),
    ],
)
async def test_extras_of_an_answer_are_checked_too(row, beside, message):
    """S2: an offer has a shape as the body has."""
    answer = await MapTool(row).answer({"stopId": "x"}, user=None, include=["row"])
    assert (dict(answer.extras), answer.body.get("error", {}).get("message")) == (beside, message)


async def test_a_malformed_clock_is_reported_in_the_envelope(monkeypatch):
    """Issue 2: a malformed FINGERPOST_NOW while serving is the operator's, and says what to write."""
    monkeypatch.setenv(clock.VARIABLE, "soon")
    answer = await BoardTool().answer({"stopId": "x"}, user=None)
    assert answer.body["error"]["code"] == "internal-error"
    assert answer.body["error"]["message"].startswith("FINGERPOST_NOW is 'soon', which is not a valid time.")
    assert uuid.UUID(answer.correlation_id).version == 4


LATE = {"success": False, "topJourneys": None}


@pytest.mark.parametrize(
    ("reply", "expected", "is_error"), [(LATE, LATE, True), (DataNotFound("No journey"), {"success": True}, False)]
)
async def test_success_matches_the_plan_journey_contract(reply, expected, is_error):
    """A5, E2, J13: it says in a well-formed answer that it failed, nulls written; nothing found is success there."""
    answer = await LondonTool(reply).answer({"stopId": "x"}, user=None)
    assert ({key: answer.body[key] for key in expected}, answer.is_error) == (expected, is_error)


async def test_through_the_registry_a_tool_returns_the_standard_response():
    """F2, S43-S46: results is a list, data the contract's body, output_key the tool's name."""
    response = await BoardTool().execute("get_board", {"stopId": "HSL:1", "limit": 1}, user="ada")
    body = response["data"]
    assert response == {
        "query_type": "get_board",
        "parameters": {"stopId": "HSL:1", "limit": 1},
        "results": [body],
        "output_key": "get_board",
        "success": True,
        "data": body,
    }
    assert body == (await BoardTool().answer({"stopId": "HSL:1", "limit": 1}, user="ada")).body


async def test_a_failure_there_names_its_remedy():
    """F2, S47: the sentence in error, and the contract's code, hint and the rest at the top."""
    response = await BoardTool(NoItinerary("No itineraries")).execute("get_board", {"stopId": "x"})
    assert response == {
        "query_type": "get_board",
        "parameters": {"stopId": "x"},
        "results": [],
        "output_key": "get_board",
        "success": False,
        "error": "No itineraries",
        "error_code": "validation-error",
        "hint": "Try increasing maxWalkingDistance or adjusting departure time",
        "retryable": False,
        "retry_after": None,
        "candidates": None,
    }


NO_TYPE = "Query type 'weather' is not supported by the get_board tool. Supported types are: get_board"


@pytest.mark.parametrize(
    ("tool", "query_type", "parameters", "expected"),
    [
        (
            StepTool(DataNotFound("No figure")), "get_board", {"stopId": "x"},
            {"warning": "No figure", "parameters": {"stopId": "x"}, "output_key": "get_board", "retryable": False},
        ),
        (BoardTool(), "weather", {}, {"error": NO_TYPE}),
        (BoardTool(), "get_board", [], {"parameters": {}, "error_code": "validation-error"}),
    ],
)  # fmt: skip
async def test_an_error_in_a_step_is_a_response(tool, query_type, parameters, expected):
    """A5, F2, S6, S47, S62: nothing found is a warning for the plan-step contract's own tools."""
    response = await tool.execute(query_type, parameters)
    assert response["success"] is False
    assert {key: response.get(key) for key in expected} == expected
    assert ("error" in response) is ("warning" not in expected)


def test_every_served_tool_has_a_tool_spec(monkeypatch):
    """F2, S65: registered, a call can be validated before it runs."""
    tool = BoardTool()
    assert (tool.spec.name, tool.spec.output_key, tool.spec.description) == ("get_board", "get_board", "A board.")
    assert tool.spec.input_schema == {"get_board": StopQuestion}
    monkeypatch.setattr(ToolRegistry, "_specs", {"get_board": tool.spec})
    assert validate_call("get_board", "get_board", {"stopId": "HSL:1"}) is None
