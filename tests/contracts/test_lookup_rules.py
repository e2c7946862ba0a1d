"""Each rule in the lookup contract's sketches of arguments and failures: the values that it accepts and refuses.

Where a sketch refuses what the text lowers, rule A6 lowers it; those pairs are in the tests of the two tools. Tests of
the three tools compare complete answers, and the reference lists the bounds of their fields.
"""

import pytest
from pydantic import ValidationError

from fingerpost.contract.failure_shapes import LookupFailureBody
from fingerpost.contract.wire import get_adapter
from fingerpost.transit.tools.find_address_or_stop import LocationQueryInput
from fingerpost.transit.tools.get_stop_timetable import TimetableRequestInput
from fingerpost.transit.tools.plan_route import KnownLocation, RouteRequestInput

NOON = "2026-03-10T12:00:00Z"
CENTRE = {"lat": 60.17, "lon": 24.94}
QUESTION = {"rawText": "Kamppi", "focusPoint": CENTRE}
PLACE = {
    "name": "Kamppi",
    "primaryLanguage": "fi",
    "type": "STOP",
    "coordinate": CENTRE,
    "confidenceScore": 0.9,
    "rawQuery": "kamppi",
}
ROUTE = {"origin": QUESTION, "destination": PLACE, "departureTime": NOON}
TIMETABLE = {"stopId": "HSL:1"}
ERROR = {"category": "VALIDATION", "code": "INVALID_PARAMETER", "message": "no"}
CATEGORIES = [
    "VALIDATION", "NOT_FOUND", "DISAMBIGUATION_REQUIRED", "NO_RESULTS", "THROTTLED", "UPSTREAM_FAILURE",
    "AUTH_FAILURE", "INTERNAL",
]  # fmt: skip
ABSENT = object()


def put(whole, path, value):
    """Return a copy with a value at a dotted path; ``ABSENT`` takes the field out."""
    key, _, rest = path.partition(".")
    if rest:
        return {**whole, key: put(whole[key], rest, value)}
    return {name: each for name, each in {**whole, key: value}.items() if each is not ABSENT}


def is_accepted(shape, whole):
    try:
        if hasattr(shape, "read"):
            shape.read(whole)
        else:
            get_adapter(shape).validate_python({"error": whole} if shape is LookupFailureBody else whole)
    except ValidationError:
        return False
    return True


QUESTIONS = [
    ("rawText", ["x", "x" * 200, f" {'x' * 200} "], ["", " ", "x" * 201, ABSENT, 7]),
    ("focusPoint", [CENTRE, ABSENT], [{"lat": 60}, "60,24"]),
    ("focusPoint.lat", [-90, 90], [-90.01, 90.01, "60", True]),
    ("focusPoint.lon", [-180, 180], [-180.01, 180.01]),
    ("maxDistanceMeters", [1, 200_000, 2.0, ABSENT], [0, 200_001, 1.5, -1]),
    ("languagePreference", ["fi", "en", "sv", ABSENT], ["de", "FI"]),
]
PLACES = [
    ("id", ["HSL:1", ABSENT], []),
    ("name", ["x"], [ABSENT, 7]),
    ("primaryLanguage", ["fi", "en", "sv", "default"], ["de", ABSENT]),
    ("names", [{}, {"fi": "a", "en": "b", "sv": "c"}, ABSENT], [{"fi": 1}, "x"]),
    ("type", ["ADDRESS", "STOP"], ["PLACE", ABSENT]),
    ("coordinate.lat", [-90, 90], [-90.01, 90.01]),
    ("coordinate.lon", [-180, 180], [-180.01, 180.01]),
    ("coordinate", [CENTRE], [ABSENT]),
    ("confidenceScore", [0, 1], [-0.01, 1.01, ABSENT]),
    ("locality", ["Kallio", ABSENT], [7]),
    ("rawQuery", ["x"], [7]),
]
RULES = [
    *((LocationQueryInput, QUESTION, *rule) for rule in QUESTIONS),
    *((KnownLocation, PLACE, *rule) for rule in PLACES),
    *((RouteRequestInput, ROUTE, f"origin.{path}", good, bad) for path, good, bad in QUESTIONS),
    *((RouteRequestInput, ROUTE, f"destination.{path}", good, bad) for path, good, bad in PLACES),
    (RouteRequestInput, ROUTE, "origin", [PLACE, "Kamppi"], [ABSENT, {}]),
    (RouteRequestInput, ROUTE, "destination", [QUESTION, "Kamppi"], [ABSENT, {}]),
    (RouteRequestInput, ROUTE, "departureTime", [NOON], [ABSENT, 7]),
    (RouteRequestInput, ROUTE, "arrivalTime", [ABSENT], [NOON]),
    (RouteRequestInput, put(ROUTE, "departureTime", ABSENT), "arrivalTime", [NOON], [ABSENT, 7]),
    (RouteRequestInput, ROUTE, "searchWindowMinutes", [1, 120, 2.0, ABSENT], [0, -1, 1.5, "45"]),
    (RouteRequestInput, ROUTE, "journeyPreset", ["FASTEST", "FEWEST_TRANSFERS", "LEAST_WALK", ABSENT], ["fastest"]),
    (RouteRequestInput, ROUTE, "limit", [ABSENT], [3]),
    (TimetableRequestInput, TIMETABLE, "stopId", ["A", "HSL:1_2-3", "09"], ["", "hsl:1", "HSL 1", "HSL:Ä", ABSENT]),
    (TimetableRequestInput, TIMETABLE, "maxDepartures", [1, 5, ABSENT], [0, -1, 1.5, "3"]),
    (TimetableRequestInput, TIMETABLE, "horizonMinutes", [1, 90, ABSENT], [0, -1, 1.5, "45"]),
    (TimetableRequestInput, TIMETABLE, "limit", [ABSENT], [3]),
    (LookupFailureBody, ERROR, "category", CATEGORIES, ["OTHER", ABSENT]),
    (LookupFailureBody, ERROR, "code", ["x"], [ABSENT, 7]),
    (LookupFailureBody, ERROR, "message", ["x"], [ABSENT, 7]),
    (LookupFailureBody, ERROR, "details", [{}, {"any": "thing"}, ABSENT], ["x"]),
    (LookupFailureBody, ERROR, "recommendation", ["x", ABSENT], [7]),
]


@pytest.mark.parametrize(
    ("shape", "whole", "path", "good", "bad"), RULES, ids=[f"{rule[0].__name__}.{rule[2]}" for rule in RULES]
)
def test_every_rule_accepts_its_bounds_and_refuses_values_beyond(shape, whole, path, good, bad):
    """M1-M60: one field is changed in an object that holds; what is accepted and what is not is the sketch's."""
    accepted = [is_accepted(shape, put(whole, path, value)) for value in [*good, *bad]]

    assert accepted == [True] * len(good) + [False] * len(bad)
