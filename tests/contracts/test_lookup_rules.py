"""Each rule in the lookup contract's schema sketches, as a pair: a value that it accepts and one that it refuses.

Where a sketch refuses what the text lowers, rule A6 lowers it; those pairs are in the tests of the two tools.
"""

import pytest
from pydantic import ValidationError

from fingerpost.contract.failure_shapes import LookupFailureBody
from fingerpost.contract.wire import get_adapter
from fingerpost.transit.tools.find_address_or_stop import DisambiguationSet, LocationQueryInput, ResolvedLocation
from fingerpost.transit.tools.get_stop_timetable import TimetableDeparture, TimetableRequestInput
from fingerpost.transit.tools.plan_route import KnownLocation, RouteItinerary, RouteLeg, RouteRequestInput

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
SET = {
    "candidates": [PLACE],
    "totalCandidatesFound": 1,
    "truncated": False,
    "needsClarification": True,
    "autoResolvedThreshold": 0.8,
}
ROUTE = {"origin": QUESTION, "destination": PLACE, "departureTime": NOON}
POINT = {"name": "Kamppi", **CENTRE}
LEG = {
    "mode": "BUS",
    "from": POINT,
    "to": POINT,
    "departureTime": NOON,
    "arrivalTime": NOON,
    "distanceMeters": 10,
}
ITINERARY = {
    "id": "a",
    "durationMinutes": 5,
    "startTime": NOON,
    "endTime": NOON,
    "numberOfTransfers": 1,
    "totalWalkDistanceMeters": 100,
    "legs": [LEG],
}
TIMETABLE = {"stopId": "HSL:1"}
DEPARTURE = {"scheduledTime": NOON, "routeShortName": "7", "mode": "TRAM", "serviceDay": "2026-03-10"}
ERROR = {"category": "VALIDATION", "code": "INVALID_PARAMETER", "message": "no"}
WORDS = ["WALK", "BUS", "TRAM", "RAIL", "SUBWAY", "FERRY", "COACH", "UNKNOWN"]
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
    ("rawQuery", ["x"], [ABSENT, 7]),
]
RULES = [
    *((LocationQueryInput, QUESTION, *rule) for rule in QUESTIONS),
    *((KnownLocation, PLACE, *rule) for rule in PLACES),
    *((ResolvedLocation, PLACE, *rule) for rule in PLACES),
    (DisambiguationSet, SET, "candidates", [[PLACE], [PLACE] * 5], [[], [PLACE] * 6, ABSENT]),
    (DisambiguationSet, SET, "totalCandidatesFound", [1], [0, 1.5, ABSENT]),
    (DisambiguationSet, SET, "truncated", [True, False], [ABSENT, 1]),
    (DisambiguationSet, SET, "needsClarification", [True], [False, ABSENT]),
    (DisambiguationSet, SET, "autoResolvedThreshold", [0, 1], [-0.01, 1.01, ABSENT]),
    *((RouteRequestInput, ROUTE, f"origin.{path}", good, bad) for path, good, bad in QUESTIONS),
    *((RouteRequestInput, ROUTE, f"destination.{path}", good, bad) for path, good, bad in PLACES),
    (RouteRequestInput, ROUTE, "origin", [PLACE], [ABSENT, "Kamppi", {}]),
    (RouteRequestInput, ROUTE, "destination", [QUESTION], [ABSENT, "Kamppi", {}]),
    (RouteRequestInput, ROUTE, "departureTime", [NOON], [ABSENT, 7]),
    (RouteRequestInput, ROUTE, "arrivalTime", [ABSENT], [NOON]),
    (RouteRequestInput, put(ROUTE, "departureTime", ABSENT), "arrivalTime", [NOON], [ABSENT, 7]),
    (RouteRequestInput, ROUTE, "searchWindowMinutes", [1, 120, 2.0, ABSENT], [0, -1, 1.5, "45"]),
    (RouteRequestInput, ROUTE, "journeyPreset", ["FASTEST", "FEWEST_TRANSFERS", "LEAST_WALK", ABSENT], ["fastest"]),
    (RouteRequestInput, ROUTE, "limit", [ABSENT], [3]),
    (RouteLeg, LEG, "mode", WORDS, ["METRO", ABSENT]),
    (RouteLeg, LEG, "lineName", ["7", ABSENT], [7]),
    *((RouteLeg, LEG, f"{end}.lat", [-90, 90], [-90.01, 90.01, ABSENT]) for end in ("from", "to")),
    *((RouteLeg, LEG, f"{end}.lon", [-180, 180], [-180.01, 180.01, ABSENT]) for end in ("from", "to")),
    *((RouteLeg, LEG, f"{end}.name", ["x"], [ABSENT, 7]) for end in ("from", "to")),
    *((RouteLeg, LEG, time, [NOON], [ABSENT, "2026-03-10", "12:00"]) for time in ("departureTime", "arrivalTime")),
    (RouteLeg, LEG, "headsign", ["x", ABSENT], [7]),
    (RouteLeg, LEG, "distanceMeters", [0], [-1, 0.5, ABSENT]),
    (RouteItinerary, ITINERARY, "id", ["x"], [ABSENT, 7]),
    (RouteItinerary, ITINERARY, "durationMinutes", [1], [0, 1.5, ABSENT]),
    *((RouteItinerary, ITINERARY, time, [NOON], [ABSENT, "2026-03-10"]) for time in ("startTime", "endTime")),
    (RouteItinerary, ITINERARY, "numberOfTransfers", [0], [-1, 0.5, ABSENT]),
    (RouteItinerary, ITINERARY, "totalWalkDistanceMeters", [0], [-1, 0.5, ABSENT]),
    (RouteItinerary, ITINERARY, "legs", [[LEG]], [[], ABSENT]),
    (TimetableRequestInput, TIMETABLE, "stopId", ["A", "HSL:1_2-3", "09"], ["", "hsl:1", "HSL 1", "HSL:Ä", ABSENT]),
    (TimetableRequestInput, TIMETABLE, "maxDepartures", [1, 5, ABSENT], [0, -1, 1.5, "3"]),
    (TimetableRequestInput, TIMETABLE, "horizonMinutes", [1, 90, ABSENT], [0, -1, 1.5, "45"]),
    (TimetableRequestInput, TIMETABLE, "limit", [ABSENT], [3]),
    (TimetableDeparture, DEPARTURE, "scheduledTime", [NOON], [ABSENT, "2026-03-10", "2026-03-10T14:00:00+02:00"]),
    (TimetableDeparture, DEPARTURE, "routeShortName", ["7"], [ABSENT, "", 7]),
    (TimetableDeparture, DEPARTURE, "routeLongName", ["A - B", ABSENT], [7]),
    (TimetableDeparture, DEPARTURE, "headsign", ["B", ABSENT], [7]),
    (TimetableDeparture, DEPARTURE, "mode", WORDS, ["METRO", ABSENT]),
    (TimetableDeparture, DEPARTURE, "serviceDay", ["2026-03-10"], [ABSENT, NOON]),
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
