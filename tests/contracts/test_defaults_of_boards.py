"""What get_departures and find_stops take for what was not said, and where their bounds lie."""

from datetime import timedelta

import pytest

from fingerpost.testing.fakes import FakeNetwork
from fingerpost.transit.model.provenance import Provenance
from tests.contracts.conftest import board_of, codes
from tests.contracts.test_find_stops_contract import CENTRE, near
from tests.contracts.test_get_departures_contract import STOP, leaving
from tests.rules.drawing import DAY


def test_a_board_looks_half_an_hour_ahead_and_shows_ten_rows(over):
    """D4, D5: of thirty departures in thirty minutes, and one in the thirty-first, ten are shown and thirty counted."""
    network = board_of(*(leaving(minute) for minute in range(1, 32)))
    body = over(network)("get_departures", STOP).body

    assert (len(body["departures"]), body["departures"][-1]["scheduledTime"][11:16]) == (10, "08:10")
    assert body["warnings"][0]["message"] == "30 departures are in the window, of which the first 10 are shown."


@pytest.mark.parametrize(("window", "limit", "shown"), [(1, 50, 1), (120, 50, 50), (120, 1, 1)])
def test_the_bounds_of_a_board_are_accepted(over, window, limit, shown):
    """D4, D5: one to 120 minutes, one to fifty rows; the last minute is in the window."""
    network = board_of(*(leaving(minute) for minute in range(1, 121)))

    assert (
        len(over(network)("get_departures", {**STOP, "windowMinutes": window, "limit": limit}).body["departures"])
        == shown
    )


def test_stops_are_looked_for_within_500_metres_and_ten_are_shown(over):
    """C3: the default radius and the default number."""
    network = FakeNetwork(near=[*(near(f"s{number:02}", number) for number in range(1, 12)), near("far", 500.5)])
    body = over(network)("find_stops", {"coordinate": CENTRE}).body

    assert [stop["distance"] for stop in body["stops"]] == list(range(1, 11))
    assert body["warnings"][0]["message"] == "11 stops are near, of which the nearest 10 are shown."


@pytest.mark.parametrize(("most", "expected"), [(1, ["truncated-results"]), (2, [])])
def test_what_a_filter_left_out_is_not_counted_as_cut(over, most, expected):
    """C3: of three stops two fit the text; two are all of them."""
    network = FakeNetwork(near=[near("North Gate", 10), near("South Gate", 20), near("Market", 30)])

    assert (
        codes(over(network)("find_stops", {"coordinate": CENTRE, "textFilter": "gate", "maxResults": most})) == expected
    )


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 5, []), (-5, 0, []), (1, 5, ["outside-calendar"]), (-5, -1, ["outside-calendar"])],
)
def test_the_first_and_the_last_day_of_a_timetable_are_inside_it(over, first, last, expected):
    """D13, A5: an empty board on either day is an empty board; a day before or after it is outside."""
    network = board_of()
    days = [DAY + timedelta(days=each) for each in (first, last)]
    network.provenance = Provenance(
        network="FAKE", source="fake", zone="Europe/Helsinki", retrieved_at=0, first_day=days[0], last_day=days[1]
    )

    assert codes(over(network)("get_departures", STOP)) == expected
