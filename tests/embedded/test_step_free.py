"""A lift out of order makes its stop the weakest link, and a step-free trip goes elsewhere."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables
from fingerpost.transit.model import Access, Coordinate, Location, LocationSource
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.providers.embedded.network import EmbeddedNetwork
from fingerpost.transit.rules.accessibility import WeakestLink, weakest_link
from tests.embedded.test_outage import alert
from tests.realtime.messages import DAY, NOW, read

DRAWING = """
rail R | Alpha 08:05 | Gamma 08:25
"""
COORDINATES = {"Alpha": (60.17, 24.9), "Gamma": (60.17, 25.1)}


def network_with(*entities):
    """A network on which everything takes a wheelchair, and what is said of it."""
    tables = feed_from_drawing(DRAWING, coordinates=COORDINATES)
    for table, name in (("stops.txt", "wheelchair_boarding"), ("trips.txt", "wheelchair_accessible")):
        head, *rows = tables[table].splitlines()
        tables[table] = "\n".join([f"{head},{name}", *(f"{row},1" for row in rows)]) + "\n"
    timetable = timetable_from_tables(tables)
    network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable)
    network.publish(read(timetable, *entities), DAY)
    return network


async def weakest(network, *, step_free):
    def end(name):
        return Location(
            coordinate=Coordinate(*COORDINATES[name]), source=LocationSource.INPUT, stop_ids=(f"TEST:{name.upper()}",)
        )

    question = JourneyQuery(origin=end("Alpha"), destination=end("Gamma"), instant=NOW, step_free=step_free)
    [itinerary] = (await network.plan_journeys(question)).itineraries
    return weakest_link(itinerary)


def lift(**more):
    return alert("lift", "Lift broken", "ACCESSIBILITY_ISSUE", stop_id="GAMMA", **more)


@pytest.mark.parametrize(
    ("end", "link"),
    [
        ("08:24", WeakestLink(Access.YES, "Alpha")),
        ("08:25", WeakestLink(Access.NO, "Gamma")),
    ],
)
async def test_a_lift_that_is_out_of_order_on_arrival_is_the_weakest_link(end, link):
    """The train arrives at 08:25; the outage ends a minute before, or then."""
    assert await weakest(network_with(lift(end=end)), step_free=False) == link


async def test_where_there_is_no_other_way_the_lift_is_named():
    """Step-free was asked for: the only way is shown, with its weakest link."""
    assert await weakest(network_with(lift()), step_free=True) == WeakestLink(Access.NO, "Gamma")


async def test_without_the_alert_every_link_is_step_free():
    """The same trip on a good day."""
    assert await weakest(network_with(), step_free=True) == WeakestLink(Access.YES, "Alpha")
