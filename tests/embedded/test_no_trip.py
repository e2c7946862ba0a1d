"""Errors say why no trip was found, and answers mention a much better trip beyond the walking limit."""

from datetime import date

import pytest

from tests.embedded.conftest import trips, warnings
from tests.realtime.messages import at

# 0.01 degrees of latitude are 1,112 m, and walks are a third longer than the straight line.
COORDINATES = {"Alpha": (60.17, 24.94), "Beta": (60.2, 25.0), "Gamma": (60.25, 25.1), "Delta": (60.32, 25.3)}
DRAWING = """
line A | Alpha 08:10 | Beta 08:30
line G | Alpha 13:00 | Gamma 13:30
line D | Delta 08:00 | Gamma 08:10
"""


@pytest.fixture
def town(towns):
    return towns(DRAWING, coordinates=COORDINATES)


@pytest.mark.parametrize(
    ("origin", "destination", "hint"),
    [
        (
            "60.188,24.94",
            "TEST:BETA",
            (
                "No walk of 1500 m or less was found between the origin and a stop; "
                "the nearest, Alpha, is 2002 m away in a straight line. "
                "With 2602 m of walking and 0 changes, a trip departs at 2026-03-11T07:35:18+02:00 "
                "and arrives at 2026-03-11T08:30:00+02:00"
            ),
        ),
        (
            "60.1833,24.94",
            "TEST:BETA",
            (
                "No walk of 1500 m or less was found between the origin and a stop; "
                "the nearest, Alpha, is 1479 m away in a straight line. "
                "With 1923 m of walking and 0 changes, a trip departs at 2026-03-11T07:44:21+02:00 "
                "and arrives at 2026-03-11T08:30:00+02:00"
            ),
        ),
        (
            "TEST:BETA",
            "60.27,25.1",
            (
                "No walk of 1500 m or less was found between the destination and a stop; "
                "the nearest, Gamma, is 2224 m away in a straight line"
            ),
        ),
        ("TEST:ALPHA", "60.345,25.34", "No stop is within the longest walk allowed (3000 m) of the destination"),
        (
            "TEST:ALPHA",
            "TEST:DELTA",
            "There are no arrivals near the destination. The timetable has no arrivals there on any day",
        ),
        ("TEST:DELTA", "TEST:BETA", "More walking (3000 m) or changes (8) would not help; try another time or place"),
    ],
    ids=["walk-further", "no-short-walk", "no-trip-either", "too-far", "never-served", "not-connected"],
)
def test_the_cause_is_named(town, origin, destination, hint):
    assert town.plan(origin, destination)["error"]["hint"] == hint


def test_the_service_is_not_searched_if_an_end_has_no_stop(town, monkeypatch):
    monkeypatch.setattr("fingerpost.transit.embedded.network.find_endpoint_service", None)

    assert town.plan("TEST:BETA", "60.27,25.1")["error"]["hint"].startswith("No walk of 1500 m or less")


def test_too_few_changes_are_a_cause(towns):
    town = towns("line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:30 | Gamma 08:40", coordinates=COORDINATES)
    body = town.plan(constraints={"maxTransfers": 0})

    assert body["error"]["hint"].startswith("With 0 m of walking and 1 change, a trip departs at 2026-03-10T08:10:00")


def test_a_much_better_trip_beyond_the_walking_limit_is_named(towns):
    town = towns(DRAWING, coordinates={**COORDINATES, "Gamma": (60.22, 25.0)})
    body = town.plan("TEST:ALPHA", "60.2125,25.0")

    assert trips(body) == ["G 13:00"]
    assert warnings(body)["preference-unmet"] == (
        "With 1807 m of walking and 0 changes, a trip departs at 2026-03-10T08:10:00+02:00 "
        "and arrives at 2026-03-10T08:54:06+02:00. "
        "No usable trip departs soon; the first one departs at 2026-03-10T13:00:00+02:00. "
        "Earlier departures near the origin have no connection within the limits."
    )


def test_a_much_better_trip_with_more_changes_is_named(towns, clock):
    clock(at("08:00"))
    town = towns(f"{DRAWING}line B | Beta 08:35 | Gamma 08:45", coordinates=COORDINATES)
    for kind, time in (("depart", "08:00"), ("arrive", "09:00")):
        body = town.plan(constraints={"maxTransfers": 0}, when={"type": kind, "time": f"2026-03-10T{time}:00+02:00"})

        assert "With 0 m of walking and 1 change, a trip departs at 2026-03-10T08:10:00" in str(body)


RARE = """
line A | Alpha 08:10 | Beta 08:30
line B | Beta 14:00 | Gamma 14:30
line D | Delta 10:00 | Gamma 10:30
"""
EARLIEST = "No usable trip departs soon; the first one departs at 2026-03-10T"
LATEST = "No usable trip arrives shortly before the requested time; the last one arrives at 2026-03-10T"


@pytest.mark.parametrize(
    ("ends", "when", "expected"),
    [
        (
            ("BETA", "GAMMA"),
            {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
            f"{EARLIEST}14:00:00+02:00. There are no departures near the origin before 2026-03-10T14:00:00+02:00.",
        ),
        (
            ("ALPHA", "BETA"),
            {"type": "arrive", "time": "2026-03-10T18:00:00+02:00"},
            f"{LATEST}08:30:00+02:00. There are no arrivals near the destination after 2026-03-10T08:30:00+02:00.",
        ),
        (
            ("DELTA", "GAMMA"),
            {"type": "arrive", "time": "2026-03-10T15:00:00+02:00"},
            f"{LATEST}10:30:00+02:00. There are no departures near the origin after 2026-03-10T10:00:00+02:00.",
        ),
    ],
    ids=["nothing-departs", "nothing-arrives", "nothing-departed"],
)
def test_the_cause_of_a_long_wait_is_named(towns, clock, ends, when, expected):
    clock(at("08:00"))
    town = towns(RARE, coordinates=COORDINATES)
    body = town.plan(*(f"TEST:{end}" for end in ends), when=when)

    assert warnings(body)["preference-unmet"] == expected


def test_service_that_starts_after_the_wanted_arrival_is_a_cause(towns, clock):
    clock(at("15:00"))
    town = towns(RARE, coordinates=COORDINATES)
    body = town.plan("TEST:DELTA", "TEST:BETA", when={"type": "arrive", "time": "2026-03-11T07:00:00+02:00"})

    assert body["error"]["hint"] == "There are no departures near the origin before 2026-03-11T10:00:00+02:00"


def test_the_last_arrival_of_a_trip_that_takes_days_is_named(towns):
    """The trip of March 10 arrives on March 16."""
    days = [date(2026, 3, 10), date(2026, 3, 30)]
    town = towns("line A | Alpha 08:00 | Beta 158:00", coordinates=COORDINATES, days=days)
    body = town.plan("TEST:ALPHA", "TEST:BETA", when={"type": "arrive", "time": "2026-03-19T09:00:00+02:00"})

    assert warnings(body)["preference-unmet"] == (
        "No usable trip arrives shortly before the requested time; the last one arrives at 2026-03-16T14:00:00+02:00."
        " There are no arrivals near the destination after 2026-03-16T14:00:00+02:00."
    )


def test_nothing_arrives_before_the_first_day(towns):
    town = towns(RARE, coordinates=COORDINATES)
    body = town.plan("TEST:ALPHA", "TEST:BETA", when={"type": "arrive", "time": "2026-01-01T08:00:00+02:00"})

    assert body["error"]["hint"] == (
        "There are no arrivals near the destination. The timetable has no arrivals there before 2026-01-01"
    )
