"""A network prices and draws only its own legs, because row numbers differ between timetables."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.model.itinerary import LineSource
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.model.place import box_around
from fingerpost.transit.networks.fallback import FallbackNetwork
from fingerpost.transit.osm.basemap import DrawnLine, pack_lines
from tests.embedded.test_step_free import YES, network_with, question


@pytest.fixture(scope="module")
def networks():
    return network_with(R=YES), network_with(drawing="rail X | Delta 08:05 | Gamma 08:20 | Alpha 08:30")


async def test_rows_of_another_timetable_are_neither_priced_nor_drawn(networks):
    one, other = networks
    [itinerary] = (await one.plan_journeys(question(step_free=False))).itineraries
    [ride] = itinerary.legs

    assert one.find_fare(itinerary).unknown == "TEST publishes no fares"
    assert one.find_line(ride).source == LineSource.STOPS
    assert (other.find_fare(itinerary), other.find_line(ride)) == (None, None)
    assert FallbackNetwork(other, one).find_line(ride) == one.find_line(ride)


async def test_the_map_of_another_network_is_not_drawn_under_a_leg(networks):
    one, other = networks
    [itinerary] = (await one.plan_journeys(question(step_free=False))).itineraries
    [ride] = itinerary.legs
    here = ride.start.coordinate
    road = pack_lines([DrawnLine(LayerKind.MAIN, [(here.lat, here.lon), (here.lat + 0.001, here.lon)])])
    record = NetworkRecord(name="TEST", source="gtfs")
    own, foreign = (EmbeddedNetwork(record, network.timetable, basemap=road) for network in networks)
    box = box_around(here, 500)

    assert await FallbackNetwork(one, foreign).find_basemap(box, ride) is None
    assert [layer.kind for layer in (await FallbackNetwork(other, own).find_basemap(box, ride)).layers] == ["main-road"]
