"""An error names why no trip was found, and an answer names a much better trip beyond the walking limit."""

import pytest

from tests.embedded.conftest import trips, warnings

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
                "No stop is within 1500 m of the origin; the nearest, Alpha, is 2002 m away in a straight line. "
                "With 2602 m of walking and 0 changes, a trip departs at 2026-03-11T07:35:18+02:00 "
                "and arrives at 2026-03-11T08:30:00+02:00"
            ),
        ),
        (
            "TEST:BETA",
            "60.27,25.1",
            "No stop is within 1500 m of the destination; the nearest, Gamma, is 2224 m away in a straight line",
        ),
        ("TEST:ALPHA", "60.345,25.34", "No stop is within 3000 m of the destination, the longest walk allowed"),
        (
            "TEST:ALPHA",
            "TEST:DELTA",
            "More walking (3000 m) and changes (8) do not help; try another time or place",
        ),
    ],
    ids=["walk-further", "no-trip-either", "too-far", "not-connected"],
)
def test_the_cause_is_named(town, origin, destination, hint):
    assert town.plan(origin, destination)["error"]["hint"] == hint


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
        "No usable trip departs soon; the first one departs at 2026-03-10T13:00:00+02:00."
    )
