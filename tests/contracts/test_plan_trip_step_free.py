"""plan_trip for riders who need a step-free trip or little walking (rule B9)."""

import pytest

from fingerpost.transit.model.itinerary import Access
from tests.contracts.conftest import codes
from tests.contracts.test_plan_trip_answer import ENDS, bus, found
from tests.fakes import FakeNetwork
from tests.rules.drawing import trip, walk


@pytest.mark.parametrize(
    ("is_known", "code", "message"),
    [
        (False, "unsupported-accessibility-flag", None),
        (True, "preference-unmet", "A is not known to be step-free."),
    ],
)
def test_unconfirmed_step_free_access_is_reported(over, is_known, code, message):
    found_trips = found(trip(bus(wheelchair=Access.YES)), step_free_supported=is_known)
    network = FakeNetwork(journeys=[found_trips])
    answer = over(network)("plan_trip", {**ENDS, "constraints": {"accessibility": {"stepFree": True}}})
    [warning] = answer.body["warnings"]

    assert (warning["code"], message in (None, warning["message"])) == (code, True)
    assert network.journeys_asked[0].step_free is True


@pytest.mark.parametrize(("metres", "expected"), [(500, []), (501, ["preference-unmet"])])
def test_low_walking_annotates_and_filters_nothing(over, metres, expected):
    """P11, B14: the best is shown though it walks far; the least of all that were found is told, and decides."""
    journey = trip(walk("home", "A", 0, 5, metres), bus())
    far = trip(walk("home", "A", 0, 5, 899.2), bus("8", 1))
    network = FakeNetwork(journeys=[found(far, journey)])
    wish = {"constraints": {"accessibility": {"lowWalkingDistance": True}, "optimize": "shortest_time"}, "limit": 1}
    answer = over(network)("plan_trip", {**ENDS, **wish})

    note = f"Walking 900 m; the least found is {metres} m."
    assert answer.body["itineraries"][0]["accessibilityNotes"] == [note]
    assert codes(answer) == [*expected, "truncated-results"]
