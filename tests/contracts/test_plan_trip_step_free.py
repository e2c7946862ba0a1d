"""What plan_trip says to riders who need a way without steps, or with little walking (rule B9)."""

import pytest

from fingerpost.testing.fakes import FakeNetwork
from fingerpost.transit.model.itinerary import Access
from tests.contracts.conftest import codes
from tests.contracts.test_plan_trip_answer import ENDS, bus, found
from tests.rules.drawing import trip, walk


def test_step_free_without_any_data_is_unsupported(over):
    """P10, P51: the flag could not be acted on."""
    network = FakeNetwork(journeys=[found(trip(bus()), step_free_supported=False)])
    answer = over(network)("plan_trip", {**ENDS, "constraints": {"accessibility": {"stepFree": True}}})

    assert codes(answer) == ["unsupported-accessibility-flag"]
    assert network.journeys_asked[0].step_free is True


def test_step_free_with_an_unknown_link_is_unmet(over):
    """P10, P52: data is there, and the weakest link is named."""
    network = FakeNetwork(journeys=[found(trip(bus(wheelchair=Access.YES)))])
    answer = over(network)("plan_trip", {**ENDS, "constraints": {"accessibility": {"stepFree": True}}})

    assert answer.body["warnings"] == [{"code": "preference-unmet", "message": "A is not known to be step-free."}]


@pytest.mark.parametrize(("metres", "expected"), [(500, []), (501, ["preference-unmet"])])
def test_low_walking_annotates_and_filters_nothing(over, metres, expected):
    """P11, B14: the best is shown though it walks far; the least of all that were found is told, and decides."""
    journey = trip(walk("home", "A", 0, 5, metres), bus())
    far = trip(walk("home", "A", 0, 5, 900), bus("8", 1))
    network = FakeNetwork(journeys=[found(far, journey)])
    wish = {"constraints": {"accessibility": {"lowWalkingDistance": True}, "optimize": "shortest_time"}, "limit": 1}
    answer = over(network)("plan_trip", {**ENDS, **wish})

    note = f"Walking 900 m; the least found is {metres} m."
    assert answer.body["itineraries"][0]["accessibilityNotes"] == [note]
    assert codes(answer) == [*expected, "truncated-results"]
