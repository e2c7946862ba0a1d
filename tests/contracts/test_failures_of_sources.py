"""A source's failure reaches the caller of each tool, in the envelope of the tool's contract.

``contract/test_envelope.py`` has the code of every failure in every envelope.
"""

import pytest

from fingerpost.errors import SourceLimited
from tests.contracts.conftest import at, stop_place
from tests.fakes import FakeNetwork

ENDS = {"origin": {"rawText": "60.1,24.9"}, "destination": {"rawText": "60.2,24.9"}}
QUESTIONS = {
    "plan_trip": {"origin": at(60.1, 24.9), "destination": at(60.2, 24.9)},
    "get_departures": {"stop": {"type": "id", "value": "T:A"}},
    "planRoute": {**ENDS, "departureTime": "now"},
    "getStopTimetable": {"stopId": "T:A"},
    "planJourney": {"from": "A", "to": "B"},
}
LIMITED = {"code": "rate-limited", "message": "slow down", "retryAfter": 3}
LOOKUP = {"category": "THROTTLED", "code": "RATE_LIMITED", "message": "slow down", "details": {"retryAfter": 3}}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("plan_trip", LIMITED),
        ("get_departures", LIMITED),
        ("planRoute", LOOKUP),
        ("getStopTimetable", LOOKUP),
        ("planJourney", "RATE_LIMIT_EXCEEDED"),
    ],
)
def test_a_failure_of_the_source_has_its_code(over, tool, expected):
    """P40, P41, D29-D31, M48, M49, J13, J17-J20, A5: the code, the wait in whole seconds, and no journeys."""
    error = SourceLimited("slow down", retry_after_s=2.1)
    places = {"A": [stop_place("T:A", "A")], "B": [stop_place("T:B", "B", lat=60.3)]}
    network = FakeNetwork(zone="Europe/London", places=places, journeys=[error], departures=error)
    answer = over(network)(tool, QUESTIONS[tool])

    assert answer.is_error
    if tool == "planJourney":
        assert (answer.body["success"], answer.body["code"], answer.body["topJourneys"]) == (False, expected, None)
    else:
        answer.body["error"].pop("correlationId", None)
        assert answer.body["error"] == expected
