"""Why there is no route, as the text says it: at the clock of the place that it names (rule A11)."""

import pytest

from fingerpost.testing.fakes import FakeNetwork
from tests.contracts.test_plan_route_contract import ask, tram, trip


@pytest.mark.parametrize(
    ("begin", "end", "told"),
    [
        (60, 70, "Tue 2022-02-22 09:00 to 09:10"),
        (60 * 16, 60 * 16 + 10, "Wed 2022-02-23 00:00 to 00:10"),
        (60 * 16 - 5, 60 * 16 + 5, "Tue 2022-02-22 23:55 to Wed 2022-02-23 00:05"),
    ],
)
def test_the_next_route_is_told_in_the_zone_of_the_place(over, begin, end, told):
    """The day once where it is the same."""
    text = ask(over, FakeNetwork(journeys=[[trip(tram(begin, end))]])).text
    head = "No itinerary within 45 min (Europe/Helsinki, UTC+02:00): NO_DEPARTURES"
    assert text.splitlines()[0] == f"{head} The next one after the window is {told}."
