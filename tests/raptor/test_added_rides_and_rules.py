"""Rides that realtime data adds follow the rules of their route, and no rule for trips applies to them."""

import numpy as np
import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay
from tests.raptor.asking import end_at, query_of
from tests.realtime.messages import DAY, at

DRAWING = """
line A | Alpha 08:00 | Beta 08:10
line B | Beta 06:00  | Gamma 06:20
"""
HEAD = "from_stop_id,to_stop_id,from_route_id,to_route_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time\n"


@pytest.mark.parametrize(
    ("rule", "found"), [("A,B,,,3,", 0), ("A,A,,,3,", 1), ("A,,,B-1,3,", 1), (",B,,,2,600", 1), (",B,,,2,601", 0)]
)
def test_an_added_ride_has_its_routes_rules(rule, found):
    table = timetable_from_drawing(DRAWING, tables={"transfers.txt": f"{HEAD}BETA,BETA,{rule}\n"})
    stops = {name: row for row, name in enumerate(table.stop_name)}
    instants = np.array([at("08:20"), at("08:40")], np.int64)
    added = AddedRide(
        trip_id="EXTRA",
        service_day=DAY,
        route=1,
        trip=-1,
        headsign="",
        stop=np.array([stops["Beta"], stops["Gamma"]], np.int32),
        arrival=instants,
        departure=instants,
        flags=np.zeros(2, np.uint8),
        is_skipped=np.zeros(2, np.bool_),
        updated=at("07:00"),
    )
    ends = [end_at(table, stops[name], 100.0) for name in ("Alpha", "Gamma")]
    query = query_of(*ends, at("07:50"), 3, 100)
    journeys = find_journeys(table, SearchTimetables(table, Overlay(added=(added,))), query)
    assert [journey.arrival for journey in journeys if journey.arrival < at("12:00")] == [at("08:40")] * found
