"""Queries of an embedded network itself: step-free trips avoid broken lifts, and legs belong to one timetable."""

from dataclasses import replace

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.model.itinerary import Access, LineSource
from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, box_around
from fingerpost.transit.networks.wrappers import FallbackNetwork
from fingerpost.transit.osm.basemap import DrawnLine, pack_lines
from fingerpost.transit.places.trip_ends import NetworkJourney
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.preferences import AccessLink, find_weakest_link
from fingerpost.transit.tools.no_trip import explain_no_trip
from fingerpost.transit.tools.trip_search import search_trips
from tests.contracts.conftest import asker
from tests.embedded.conftest import warnings
from tests.feeds import feed_from_drawing, timetable_from_tables
from tests.realtime.messages import DAY, NOW, alert, at, call, read, update

DRAWING = "rail R | Alpha 08:05 | Gamma 08:25"
COORDINATES = {"Alpha": (60.17, 24.9), "Gamma": (60.17, 25.1), "Delta": (60.1708, 25.1)}
# GTFS: 1 is accessible, 2 is not.
YES, NO = "1", "2"


def network_with(*entities, drawing=DRAWING, **vehicles):
    tables = feed_from_drawing(drawing, coordinates=COORDINATES)
    for table, name in (("stops.txt", "wheelchair_boarding"), ("trips.txt", "wheelchair_accessible")):
        head, *rows = tables[table].splitlines()
        values = [vehicles.get(row[0], YES) if table == "trips.txt" else YES for row in rows]
        tables[table] = "\n".join([f"{head},{name}", *map(",".join, zip(rows, values, strict=True))]) + "\n"
    timetable = timetable_from_tables(tables)
    network = EmbeddedNetwork(NetworkRecord(name="TEST", source="gtfs"), timetable)
    network.publish(read(timetable, *entities), DAY)
    return network


def question(*, step_free):
    def end(name):
        return Location(
            coordinate=Coordinate(*COORDINATES[name]), source=LocationSource.INPUT, stop_ids=(f"TEST:{name.upper()}",)
        )

    return JourneyQuery(origin=end("Alpha"), destination=end("Gamma"), instant=NOW, step_free=step_free)


async def weakest(network, *, step_free):
    [itinerary] = (await network.plan_journeys(question(step_free=step_free))).itineraries
    return find_weakest_link(itinerary)


def lift(begin="08:00", end="10:00"):
    return alert("lift", "Lift broken", effect="ACCESSIBILITY_ISSUE", period=(begin, end), stop_id="GAMMA")


@pytest.mark.parametrize(
    ("end", "link"), [("08:24", AccessLink(Access.YES, "Alpha")), ("08:25", AccessLink(Access.NO, "Gamma"))]
)
async def test_a_lift_that_is_out_of_order_on_arrival_is_the_weakest_link(end, link):
    """The train arrives at 08:25; the outage ends a minute earlier, or at that time."""
    assert await weakest(network_with(lift(end=end)), step_free=False) == link


async def test_the_only_way_by_lift_is_named():
    """Every trip ends at the broken lift, on any day, so a second search finds the trip with steps."""
    broken = lift()
    broken.alert.ClearField("active_period")
    assert await weakest(network_with(broken), step_free=True) == AccessLink(Access.NO, "Gamma")


async def test_a_trip_after_the_lift_is_repaired_is_better_than_one_with_a_step():
    network = network_with(lift(end="10:00"))
    [itinerary] = (await network.plan_journeys(question(step_free=True))).itineraries
    assert (itinerary.departure, find_weakest_link(itinerary).access) == (at("08:05") + 24 * 3600, Access.YES)


STATION = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding
ALPHA,Alpha,60.17,24.9,0,,1
GAMMA,Gamma,60.17,25.1,0,,1
HUB,Hub,60.17,25,1,,1
UP,Up,60.17,25,0,HUB,1
DOWN,Down,60.17,25,0,HUB,1
LIFT,Lift,60.17,25,3,HUB,
RAMP,Ramp,60.17,25,3,HUB,
"""
WAYS = "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time\n"
RULE = "from_stop_id,to_stop_id,transfer_type,min_transfer_time\n"


@pytest.mark.parametrize(
    ("ramp_s", "rule", "broken", "line"),
    [
        (None, "", False, "S"),
        (None, "", True, "B"),
        (None, "UP,DOWN,2,60\n", True, "B"),
        (400, "", True, "S"),
        (400, "UP,DOWN,2,300\n", True, "B"),
    ],
)
async def test_a_change_without_a_map_avoids_a_lift_that_is_out_of_order(ramp_s, rule, broken, line):
    """Line S leaves ten minutes after the train arrives. The lift takes 60 s; ways without it, the ramp's seconds."""
    drawing = "rail R | Alpha 08:05 | Up 08:15\nrail S | Down 08:25 | Gamma 08:40\nbus B | Alpha 08:06 | Gamma 08:50"
    ways = ["LIFT,5,1,30", *([] if ramp_s is None else [f"RAMP,1,1,{ramp_s // 2}"])]
    rows = [f"{number},{end},{way}" for number, way in enumerate(ways) for end in ("UP", "DOWN")]
    tables = {"stops.txt": STATION, "pathways.txt": "\n".join([WAYS.strip(), *rows]), "transfers.txt": RULE + rule}
    timetable = timetable_from_tables(feed_from_drawing(drawing) | tables)
    network = EmbeddedNetwork(NetworkRecord(name="TEST", source="gtfs"), timetable)
    outage = alert("lift", "Lift broken", effect="ACCESSIBILITY_ISSUE", period=("07:00", "12:00"), stop_id="LIFT")
    network.publish(read(timetable, *([outage] if broken else [])), DAY)

    answer = await network.plan_journeys(question(step_free=True))

    assert min(answer.itineraries, key=lambda each: each.arrival).rides[-1].line == line


OTHER_WAY = f"{DRAWING}\nline B | Alpha 08:06 | Delta 08:40"


@pytest.mark.parametrize(
    ("entities", "step_free", "ridden"),
    [
        ([lift()], True, "B"),
        ([lift()], False, "R"),
        ([lift(begin="07:00", end="08:24")], True, "R"),
        ([lift(begin="08:25", end="09:00")], True, "B"),
        ([lift(begin="07:00", end="08:24"), update("R-1", call("GAMMA", 60))], True, "R"),
        ([lift(begin="08:26", end="09:00"), update("R-1", call("GAMMA", 60))], True, "B"),
    ],
    ids=[
        "broken",
        "steps allowed",
        "repaired earlier",
        "broken on arrival",
        "late, repaired",
        "broken on late arrival",
    ],
)
async def test_an_alert_about_a_broken_lift_diverts_a_step_free_trip(entities, step_free, ridden):
    """The train arrives at Gamma at 08:25, the bus 100 m from it. The state of the lift on arrival counts."""
    network = network_with(*entities, drawing=OTHER_WAY)
    answer = await network.plan_journeys(question(step_free=step_free))
    first = min(answer.itineraries, key=lambda each: each.arrival)
    assert [leg.line for leg in first.rides] == [ridden]


@pytest.mark.parametrize(
    ("rail", "bus", "line", "message"),
    [
        (NO, YES, "B", None),
        (NO, NO, "R", "No step-free trip was found. Line R is not step-free."),
        ("0", "0", "R", "Line R is not known to be step-free."),
    ],
    ids=["slower without a step", "no other way", "nothing known"],
)
def test_a_slower_step_free_way_is_used_or_the_step_is_named(tmp_path, clock, rail, bus, line, message):
    network = network_with(drawing=f"{DRAWING}\nline B | Alpha 08:10 | Gamma 08:55", R=rail, B=bus)
    ask = asker(tmp_path, network)
    ends = {
        end: {"type": "label", "value": stop} for end, stop in (("origin", "TEST:ALPHA"), ("destination", "TEST:GAMMA"))
    }
    body = ask("plan_trip", {**ends, "constraints": {"accessibility": {"stepFree": True}}}).body
    unmet = warnings(body).get("preference-unmet")
    assert body["itineraries"][0]["legs"][0]["line"] == line
    assert unmet is None if message is None else unmet.startswith(message)


async def test_a_trip_further_on_foot_is_named_with_its_steps():
    network = network_with(R=NO)
    near = Location(coordinate=Coordinate(60.182, 24.9), source=LocationSource.INPUT)
    journey = NetworkJourney(network, replace(question(step_free=True), origin=near))
    why = await explain_no_trip(await search_trips([journey], lambda _: None))

    assert "With 1735 m of walking and 0 changes, a trip departs at" in why
    assert why.endswith(". Line R is not step-free")


# A network draws only its own legs, because row numbers differ between timetables.
@pytest.fixture(scope="module")
def networks():
    return network_with(R=YES), network_with(drawing="rail X | Delta 08:05 | Gamma 08:20 | Alpha 08:30")


async def plan_ride(network):
    [itinerary] = (await network.plan_journeys(question(step_free=False))).itineraries
    return itinerary, *itinerary.legs


async def test_rows_of_another_timetable_are_not_drawn(networks):
    one, other = networks
    _, ride = await plan_ride(one)
    assert one.find_line(ride).source == LineSource.STOPS
    assert other.find_line(ride) is None
    assert FallbackNetwork(other, one).find_line(ride) == one.find_line(ride)


async def test_the_map_of_another_network_is_not_drawn_under_a_leg(networks):
    one, other = networks
    _, ride = await plan_ride(one)
    here = ride.start.coordinate
    road = pack_lines([DrawnLine(LayerKind.MAIN, [(here.lat, here.lon), (here.lat + 0.001, here.lon)])])
    record = NetworkRecord(name="TEST", source="gtfs")
    own, foreign = (EmbeddedNetwork(record, network.timetable, basemap=road) for network in networks)
    box = box_around(here, 500)

    assert await FallbackNetwork(one, foreign).find_basemap(box, ride) is None
    assert [layer.kind for layer in (await FallbackNetwork(other, own).find_basemap(box, ride)).layers] == ["main-road"]
