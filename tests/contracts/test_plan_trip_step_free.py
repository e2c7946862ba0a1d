"""What plan_trip says to riders who need a way without steps (rule B9)."""

from fingerpost.testing.fakes import FakeNetwork, Journeys
from fingerpost.transit.model import Access
from tests.contracts.conftest import at, codes
from tests.rules.drawing import ride, trip

ENDS = {"origin": at(60.1699, 24.9384), "destination": at(60.2055, 24.6559)}


def found(*itineraries, **more):
    return Journeys(itineraries=itineraries, **more)


def bus(line="7", departs=5, delay_s=None, **more):
    """Draw a ride of ten minutes from A to B."""
    return ride(line, "A", "B", departs, departs + 10, delay_s, **more)


def lines(answer):
    return [itinerary["legs"][0]["line"] for itinerary in answer.body["itineraries"]]


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
