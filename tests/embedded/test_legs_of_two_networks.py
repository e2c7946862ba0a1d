"""A network prices and draws its own legs only, because another timetable has other things in the same rows."""

from fingerpost.transit.model.itinerary import LineSource
from fingerpost.transit.networks.fallback import FallbackNetwork
from tests.embedded.test_step_free import YES, network_with, question


async def test_rows_of_another_timetable_are_neither_priced_nor_drawn():
    one, other = network_with(R=YES), network_with(drawing="rail X | Delta 08:05 | Gamma 08:20 | Alpha 08:30")
    [itinerary] = (await one.plan_journeys(question(step_free=False))).itineraries
    [ride] = itinerary.legs

    assert (one.find_fare(itinerary).unknown, one.find_line(ride).source) == ("TEST states no fares", LineSource.STOPS)
    assert (other.find_fare(itinerary), other.find_line(ride)) == (None, None)
    assert FallbackNetwork(other, one).find_line(ride) == one.find_line(ride)
