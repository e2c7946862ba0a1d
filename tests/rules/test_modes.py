"""Modes (rule A9)."""

import pytest

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.rules.modes import to_mode, to_timetable_mode, to_trip_mode


@pytest.mark.parametrize(
    ("route_types", "mode"),
    [
        ((1, 400, 404), "METRO"),
        ((2, 100, 117), "RAIL"),
        ((0, 5, 900, 999), "TRAM"),
        ((3, 11, 700, 799, 800), "BUS"),
        ((200, 209), "COACH"),
        ((4, 1000, 1099, 1200), "FERRY"),
        ((6, 7, 12, 99, 118, 199, 210, 399, 405, 699, 801, 899, 1100, 1199, 1201, 1700, -1), "OTHER"),
    ],
)
def test_every_gtfs_route_type_has_its_mode(route_types, mode):
    actual = {to_mode(route_type).value for route_type in route_types}

    assert actual == {mode}


def test_words_of_trips_and_boards():
    """A9, D15: the plan_trip and get_departures contracts show a coach as BUS and every other mode by its own word."""
    actual = {mode.value: to_trip_mode(mode) for mode in Mode}

    assert actual == {**{mode.value: mode.value for mode in Mode}, "COACH": "BUS"}


def test_timetables_call_a_metro_subway_and_the_rest_unknown():
    actual = {mode.value: to_timetable_mode(mode) for mode in Mode}

    same = {word: word for word in ("WALK", "BUS", "COACH", "TRAM", "RAIL", "FERRY")}
    assert actual == same | {"METRO": "SUBWAY", "BIKE": "UNKNOWN", "SCOOTER": "UNKNOWN", "OTHER": "UNKNOWN"}
