"""Every answer of every tool, error or not, holds against the ``outputSchema`` that is published.

Clients throw away what does not: the sentence and the candidates with it.
"""

import asyncio
import os
import random

import pytest
from jsonschema import Draft202012Validator

from fingerpost.apps import error_boundary
from fingerpost.contract.published import PublishedTool
from fingerpost.errors import ToolError
from tests.apps.questions import KAMPPI, KAMPPI_TO_ESPOO

CALLS = 20_000 if os.environ.get("FINGERPOST_SOAK") else 600
HERE = {"lat": 60.1699, "lon": 24.9384}
ODD = [
    None,
    "",
    " ",
    0,
    -1,
    1e308,
    True,
    [],
    {},
    [[]],
    {"a": {}},
    "Kamppi",
    "14 St",
    KAMPPI,
    HERE,
    "2026-03-10T23:00:00Z",
    "LEAST_WALK",
    1000,
    "2026-03-10T08:00:00",
]
FULL = {
    "plan_trip": KAMPPI_TO_ESPOO,
    "get_departures": {"stop": {"type": "id", "value": KAMPPI}, "at": "2026-03-10T09:00:00+02:00"},
    "find_stops": {"coordinate": HERE},
    "findAddressOrStop": {"rawText": "Kamppi"},
    "planRoute": {
        "origin": {"rawText": "Kamppi"},
        "destination": {
            "id": "DEMO-HELSINKI:ESPOO",
            "name": "Espoo",
            "primaryLanguage": "fi",
            "type": "STOP",
            "coordinate": HERE,
            "confidenceScore": 1,
            "rawQuery": "Espoo",
        },
        "departureTime": "2026-03-10T08:00:00+02:00",
        "searchWindowMinutes": 45,
        "journeyPreset": "FASTEST",
    },
    "getStopTimetable": {
        "stopId": KAMPPI,
        "maxDepartures": 3,
        "horizonMinutes": 45,
        "at": "2026-03-10T08:00:00+02:00",
        "until": "2026-03-11T04:00:00+02:00",
        "wholePlace": False,
    },
    "planJourney": {"from": "Waterloo", "to": "Bank", "needAccessibleRoute": False},
    "save_user_variable": {"key": "home", "type": "location", "value": HERE},
    "get_user_variables": {},
    "delete_user_variable": {"key": "home"},
    "sec_financial_data": {"query_type": "metric", "parameters": {"ticker": "AAPL", "metric": "Revenue"}},
    "sec_graph_query": {"query_type": "custom_sql", "parameters": {"sql": "SELECT 1"}},
    "sec_semantic_search": {"query_type": "search", "parameters": {"query": "risk"}},
    "tool_details": {"query_type": "tool_details", "parameters": {"tool": "plan_trip"}},
    "run_plan": {"plan": {"steps": []}},
    "get_plan_run": {"run_id": "none"},
}


@pytest.fixture
def validators(application):
    return {name: Draft202012Validator(tool.output_schema) for name, tool in application.tools.items()}


def complaints(validators, name, arguments, answer):
    return [(name, arguments, answer.body, each.message) for each in validators[name].iter_errors(answer.body)][:1]


def ask(application, name, arguments):
    return asyncio.run(error_boundary.answer(application.tools, name, arguments, user="ann"))


def paths_of(value, at=()):
    """Yield the path of each value inside."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, (*at, key))


def replaced(value, path, other):
    if not path:
        return other
    return {**value, path[0]: replaced(value[path[0]], path[1:], other)}


def test_answers_to_calls_that_are_bent_in_one_place_hold(application, validators):
    """A sound call with one value replaced by an odd one, or an unknown key beside it: error and answer hold.

    And none of it is an error of ours.
    """
    dice = random.Random(17)
    wrong = []
    for _ in range(CALLS):
        name = dice.choice(sorted(application.tools))
        whole = FULL.get(name, {})
        path = dice.choice(list(paths_of(whole)))
        arguments = replaced(whole, path, dice.choice([*ODD, {**whole, "unknown": 1}]))
        answer = ask(application, name, arguments)
        wrong += complaints(validators, name, arguments, answer)
        wrong += [(name, arguments, answer.text)] if "inside fingerpost" in answer.text else []
    assert wrong == []


def test_the_candidates_of_an_ambiguous_place_hold(application, validators):
    """An ambiguous end is an error with candidates, and its body is one of those published."""
    arguments = {**KAMPPI_TO_ESPOO, "origin": {"type": "label", "value": "k"}}
    answer = ask(application, "plan_trip", arguments)
    assert answer.body["error"]["candidates"]
    assert complaints(validators, "plan_trip", arguments, answer) == []


class Unforeseen(ToolError):
    """Stands for a bug."""


def test_what_nobody_foresaw_holds(application, validators, monkeypatch):
    """An exception that no tool knows, and one of ours, in every tool."""
    for error in (RuntimeError("a bug"), Unforeseen("ours")):

        async def broken(self, *_arguments, error=error, **_named):
            raise error

        for name, tool in application.tools.items():
            monkeypatch.setattr(type(tool), "handle", broken)
            answer = ask(application, name, FULL.get(name, {}))
            assert answer.is_error
            assert complaints(validators, name, {}, answer) == []


def test_a_failure_is_no_shape_of_an_answer(application, validators):
    """What is published still tells a failure from a success: an empty object is neither."""
    assert [name for name, validator in validators.items() if validator.is_valid({})] == []


def test_the_tools_of_this_test_are_all(application):
    """A new tool comes with its sound call."""
    assert isinstance(next(iter(application.tools.values())), PublishedTool)
    assert sorted(set(application.tools) - set(FULL)) == []
