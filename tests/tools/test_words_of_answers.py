"""Sentences that complete answers rarely contain: one-sided periods, values, empty lists."""

import pytest

from fingerpost.transit.tools.user_variables import format_value
from fingerpost.transit.tools.wording import list_alert_lines

NOON, EVENING, MORROW = "2026-03-10T12:00:00+02:00", "2026-03-10T18:30:00+02:00", "2026-03-11T00:05:00+02:00"


@pytest.mark.parametrize(
    ("period", "told"),
    [
        ({"from": NOON, "until": EVENING}, "Detour, 2026-03-10 12:00 to 18:30"),
        ({"from": NOON, "until": MORROW}, "Detour, 2026-03-10 12:00 to 2026-03-11 00:05"),
        ({"from": NOON}, "Detour, since 2026-03-10 12:00"),
        ({"until": EVENING}, "Detour, until 2026-03-10 18:30"),
        ({}, "Detour"),
    ],
)
def test_the_period_of_an_alert_has_two_ends_one_or_none(period, told):
    alert = {"header": "Road works", "effect": "DETOUR", "touches": ["stopId"], **period}

    assert list_alert_lines({"alerts": [alert]}, [], "", "Europe/Helsinki") == [
        f"! Alert for this stop ({told}): Road works"
    ]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"lat": 60.1, "lon": 24.9}, "60.1,24.9"),
        ({"lat": 60.1, "lon": 24.9, "name": "Home"}, "Home, 60.1,24.9"),
        ({"lat": 60.1, "lon": 24.9, "name": "Home", "label": "Home", "stopId": "T:1"}, "Home, T:1, 60.1,24.9"),
        ({"lat": 60.1}, '{"lat": 60.1}'),
        ("tram", "tram"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_a_saved_value_is_printed_as_a_place_a_text_or_json(value, told):
    assert format_value(value) == told
