"""Walks to stations use the entrances in the feed or on the map, and a broken lift closes the way."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.station_ways import find_entrance_ways
from fingerpost.transit.engine.timetable.timetable import ENTRANCE, NODE, STATION, STOP, Pathways, StationPlaces
from fingerpost.transit.model.itinerary import Access
from tests.realtime.messages import DAY, NOW, alert, read
from tests.streets.drawn import degrees
from tests.streets.stations import legs_of, network_of, question, stop_row

# One street; Deep lies 200 m below it, 1 km from its left end.
STREET = "A--------------------------------------------B"
METRO = "metro M | Deep 08:30 | Far 08:50"
BUS = "line 1 | Deep 08:30 | Far 08:50"
DEEP = [stop_row("DEEP", (10, 2)), stop_row("FAR", (45, 0))]
START = (0, 0)


SUBWAY, RAILWAY = {"railway": "subway_entrance"}, {"railway": "train_station_entrance"}
RAIL = METRO.replace("metro", "rail")
# By an entrance 2 cells left of the platform and 2 above: 800 m along the street, and 1.3 times 283 m from there.
BY_THE_LEFT, BY_THE_RIGHT, BY_THE_STREET = 800 + 368, 1200 + 368, 1000 + 200


def on_map(*entrances):
    return [(number, *degrees(*place), tags) for number, (place, tags) in enumerate(entrances, 50)]


async def walk_to_deep(network, **more):
    legs = await legs_of(network, START, (45, 0), instant=NOW, **more)
    return legs[0][3] if len(legs) > 1 and legs[0][2] == "Deep" else None


@pytest.mark.parametrize(
    ("lines", "entrances", "step_free", "metres"),
    [
        (METRO, [((8, 0), SUBWAY)], False, BY_THE_LEFT),
        (METRO, [((8, 0), RAILWAY)], False, BY_THE_STREET),
        (METRO, [((8, 0), {**SUBWAY, "entrance": "emergency"})], False, BY_THE_STREET),
        (BUS, [((8, 0), SUBWAY)], False, BY_THE_STREET),
        (RAIL, [((8, 0), SUBWAY)], False, BY_THE_STREET),
        (RAIL, [((8, 0), RAILWAY)], False, BY_THE_LEFT),
        # An entrance further away than 300 m is of another station.
        (METRO, [((10 - 2.9, 2), SUBWAY)], False, 1000 - 290 + 200 + 377),
        (METRO, [((10 - 3.1, 2), SUBWAY)], False, BY_THE_STREET),
        # Of several the nearest in time is taken, without steps the nearest that is not known to have them.
        (METRO, [((8, 0), SUBWAY), ((12, 0), SUBWAY)], False, BY_THE_LEFT),
        (METRO, [((8, 0), {**SUBWAY, "wheelchair": "yes"}), ((12, 0), SUBWAY)], True, BY_THE_LEFT),
        (METRO, [((8, 0), {**SUBWAY, "wheelchair": "no"}), ((12, 0), SUBWAY)], True, BY_THE_RIGHT),
    ],
)
async def test_a_metro_is_walked_to_by_the_entrances_of_the_map(tmp_path, lines, entrances, step_free, metres):
    network = network_of(STREET, lines, DEEP, tmp_path, extra_nodes=on_map(*entrances))

    assert await walk_to_deep(network, step_free=step_free) == pytest.approx(metres, abs=2)


async def test_exits_are_not_entrances(tmp_path):
    """The way in is the other entrance; the way out of it may be the nearer one."""
    doors = on_map(((8, 0), {**SUBWAY, "entrance": "exit"}), ((12, 0), SUBWAY))
    lines = "metro M | Far 08:10 | Deep 08:30 | Far 08:50"
    network = network_of(STREET, lines, DEEP, tmp_path, extra_nodes=doors)
    outwards = (await legs_of(network, (45, 0), START, instant=NOW))[-1]

    assert await walk_to_deep(network) == pytest.approx(BY_THE_RIGHT, abs=2)
    assert outwards[3] == pytest.approx(BY_THE_LEFT, abs=2)


ESCALATOR, UNDERGROUND = {"highway": "steps", "conveying": "yes"}, {"railway": "platform", "layer": "-3"}


@pytest.mark.parametrize(
    ("platform", "has_escalator", "step_free", "seconds"),
    [
        # 800 s along the street and 190 m at 0.45 m/s.
        ({"ref": "deep"}, True, False, 800 + 422),
        (UNDERGROUND, True, False, 800 + 422),
        ({}, True, False, 640 + 295 + 120),
        # By the entrance, with two minutes for the depth.
        (UNDERGROUND, False, False, 640 + 295 + 120),
        (UNDERGROUND, True, True, 640 + 295 + 120),
    ],
)
async def test_a_metro_platform_is_as_deep_as_the_ways_to_it_on_the_map(
    tmp_path, platform, has_escalator, step_free, seconds
):
    nodes = [*on_map(((8, 0), SUBWAY)), *((60 + n, *degrees(*at), {}) for n, at in enumerate(((10, 1.9), (12, 1.9))))]
    ways = [((60, 61), {"railway": "platform", **platform}), *[((2, 60), ESCALATOR)] * has_escalator]
    street = "A---------C----------------------------------B"
    network = network_of(street, METRO, DEEP, tmp_path, extra_nodes=nodes, extra_ways=ways)

    assert await seconds_to_deep(network, step_free=step_free) == pytest.approx(seconds, abs=2)


# The station of the feed: an entrance on the street, a passage, and the platform.
STATION_ROWS = [
    stop_row("HUB", (10, 2), 1),
    stop_row("DOOR", (6, 0), 2, "HUB"),
    stop_row("HALL", (10, 1), 3, "HUB"),
    stop_row("DEEP", (10, 2), 0, "HUB"),
    stop_row("FAR", (45, 0)),
]


def _feed_station(folder, *ways):
    return network_of(STREET, METRO, STATION_ROWS, folder, ways=ways)


async def seconds_to_deep(network, **more):
    itineraries = (await network.plan_journeys(question(START, (45, 0), NOW, **more))).itineraries
    leg = itineraries[0].legs[0]
    return leg.arrival_scheduled - leg.departure_scheduled if leg.end.name == "Deep" else None


@pytest.mark.parametrize(
    ("ways", "seconds"),
    [
        # Without pathways the straight line times 1.3, and two minutes for the depth.
        ((), 480 + 466 + 120),
        (("DOOR,HALL,1,1,70", "HALL,DEEP,2,1,30"), 480 + 100),
        # A gate needs no time; of what joins without stating one the straight line is taken.
        (("DOOR,HALL,6,0,", "HALL,DEEP,2,1,30"), 480 + 30),
        (("DOOR,HALL,2,1,", "HALL,DEEP,2,1,30"), 480 + 466 + 120),
    ],
)
async def test_entrances_of_the_feed_take_as_long_as_its_pathways(tmp_path, ways, seconds):
    """480 s along the street to the door, and what is inside."""
    assert await seconds_to_deep(_feed_station(tmp_path, *ways)) == pytest.approx(seconds, abs=2)


@pytest.mark.parametrize(("mode", "is_reached"), [(1, True), (5, True), (2, False), (4, False)])
async def test_stairs_and_escalators_inside_exclude_wheelchairs(tmp_path, mode, is_reached):
    network = _feed_station(tmp_path, f"DOOR,DEEP,{mode},1,60")
    walks = network.walks.get_walks(step_free=True)
    row = network.stops.find_row("TEST:DEEP")
    found = walks.reach(*degrees(*START), np.array([row]), 3000.0, from_stops=False)

    assert (len(found.stop) == 1) is is_reached


# Two doors: the near one by a lift, the far one by a walkway.
TWO_DOORS = [stop_row("BACK", (14, 0), 2, "HUB"), *STATION_ROWS]
LIFT_WAYS = ("DOOR,HALL,1,1,10", "HALL,DEEP,5,1,20", "BACK,DEEP,1,1,30")


def _lift(stop_id, end="10:00"):
    return alert("lift", "Lift broken", effect="ACCESSIBILITY_ISSUE", period=("08:00", end), stop_id=stop_id)


@pytest.mark.parametrize(
    ("entities", "step_free", "seconds"),
    [
        ([], True, 510),
        # The alert names the entrance, or the passage inside; who takes stairs is not concerned.
        ([_lift("DOOR")], True, 1150),
        ([_lift("HALL")], True, 1150),
        ([_lift("HALL")], False, 510),
        # The question is of 08:00.
        ([_lift("DOOR", end="07:59")], True, 510),
        ([_lift("DOOR", end="08:00")], True, 1150),
        ([alert("shut", "Shut", effect="NO_SERVICE", stop_id="DOOR")], False, 1150),
    ],
)
async def test_a_lift_out_of_order_sends_step_free_riders_to_another_entrance(tmp_path, entities, step_free, seconds):
    network = network_of(STREET, METRO, TWO_DOORS, tmp_path, ways=LIFT_WAYS)
    network.publish(read(network.timetable, *entities), DAY)

    assert await seconds_to_deep(network, step_free=step_free) == pytest.approx(seconds, abs=2)


# The lift on the map is the short way from West to East; round by C and D it is 1,000 m.
CROSSING = """
A--l--B----------------G
|     |
C-----D


E--------------------F
"""
CHANGE = """
line 1 | Out 08:10 | West 08:20
line 2 | East 08:40 | Far 08:50
"""
CHANGE_ROWS = [
    # At 0, 0 would be nowhere.
    stop_row("WEST", (0.01, 0)),
    stop_row("EAST", (6, 0)),
    stop_row("OUT", (0, 5)),
    stop_row("FAR", (20, 5)),
    stop_row("HUB", (3, 0), 1),
    stop_row("LIFT", (3, 0), 3, "HUB"),
]


async def test_a_lift_of_the_map_that_is_out_of_order_breaks_a_change(tmp_path):
    """600 m through the lift are a change, 1,000 m round are none; the only trip then says that its walk is not fit."""
    network = network_of(CROSSING, CHANGE, CHANGE_ROWS, tmp_path)
    asked = question((0, 5), (20, 5), NOW, step_free=True, max_walk_m=1000)
    [open_] = (await network.plan_journeys(asked)).itineraries
    network.publish(read(network.timetable, _lift("LIFT", end="12:00")), DAY)
    [closed] = (await network.plan_journeys(asked)).itineraries
    [later] = (await network.plan_journeys(replace(asked, instant=NOW + 86400))).itineraries

    walks = [each.legs[2] for each in (open_, closed, later)]
    assert [walk.wheelchair for walk in walks] == [Access.UNKNOWN, Access.NO, Access.UNKNOWN]
    assert walks[0].distance_m == pytest.approx(600, abs=2)


async def test_a_lift_further_away_than_30_m_is_another_one(tmp_path):
    rows = [*CHANGE_ROWS[:-1], stop_row("LIFT", (3, -0.4), 3, "HUB")]
    network = network_of(CROSSING, CHANGE, rows, tmp_path)
    network.publish(read(network.timetable, _lift("LIFT")), DAY)
    [shown] = (await network.plan_journeys(question((0, 5), (20, 5), NOW, step_free=True, max_walk_m=1000))).itineraries

    assert shown.legs[2].wheelchair is Access.UNKNOWN


async def test_platforms_of_one_station_are_changed_between_inside(tmp_path):
    """Out and in again by the only entrance it would be 800 m; inside it is 65 m."""
    rows = [*DEEP, stop_row("DEEPER", (10.5, 2))]
    lines = METRO + "\nmetro N | Deeper 08:30 | Far 08:55"
    network = network_of(STREET, lines, rows, tmp_path, extra_nodes=on_map(((8, 0), SUBWAY)))
    table = network.timetable
    ids = list(table.stop_local_id)
    first, last = table.footpaths.first[ids.index("DEEP")], table.footpaths.first[ids.index("DEEP") + 1]
    linked = {
        ids[stop]: int(metres)
        for stop, metres in zip(table.footpaths.to[first:last], table.footpaths.metres[first:last], strict=True)
    }

    assert linked == {"DEEPER": pytest.approx(65, abs=1)}


ROWS = range(5)  # a station, two entrances, a passage and a platform
WAYS = st.lists(
    st.tuples(st.sampled_from(ROWS[1:]), st.sampled_from(ROWS[1:]), st.sampled_from([1, 2, 5]), st.integers(1, 900)),
    min_size=1,
    max_size=9,
)


@settings(max_examples=80, deadline=None)
@given(WAYS, st.booleans(), st.sets(st.sampled_from([1, 2, 3]), max_size=2))
def test_against_the_quickest_of_all_ways(ways, step_free, closed):
    """Oracle: times between all places by repeated relaxing (R. Bellman), on the ways that are open."""
    columns = [np.array(column) for column in zip(*ways, strict=True)]
    pathways = Pathways(*(column.astype(kind) for column, kind in zip(columns, ("i4", "i4", "i1", "f4"), strict=True)))
    places = StationPlaces(
        np.zeros(5), np.zeros(5), np.array([STATION, ENTRANCE, ENTRANCE, NODE, STOP], np.int8),
        np.array([-1, 0, 0, 0, 0], np.int32), np.zeros(5, np.int8), pathways,
    )  # fmt: skip
    best = np.full((5, 5), np.inf)
    np.fill_diagonal(best, 0)
    for _ in ROWS:
        for begin, end, mode, seconds in ways:
            if not closed & {begin, end} and not (step_free and mode == 2):
                best[:, end] = np.minimum(best[:, end], best[:, begin] + seconds)
    touched = {row for begin, end, *_ in ways for row in (begin, end)}
    expected = {}
    for entrance in {1, 2} - closed:
        times = (best[entrance, 4], best[4, entrance]) if touched & {1, 2, 4} else (0, 0)
        in_s, out_s = (-1 if np.isinf(each) else int(each) for each in times)
        expected |= {(4, entrance): (in_s, out_s)} if max(in_s, out_s) >= 0 else {}

    assert find_entrance_ways(places, step_free=step_free, closed=closed) == expected
