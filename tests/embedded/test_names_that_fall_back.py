"""Names of lines, destinations and stops where the feed leaves some out (rule A2): none is ever empty."""

import pytest

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables
from fingerpost.transit.embedded.timetable_words import UNKNOWN_LINE, TimetableWords
from fingerpost.transit.model.itinerary import Mode

STOPS = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
HUB,Central,60.17,24.94,1,
P1,,60.17,24.94,0,HUB
P2,Bay Two,60.17,24.94,0,HUB
LONE,,60.18,24.94,0,
END,Harbour,60.19,24.94,0,
"""
TIMES = """trip_id,stop_id,stop_sequence,arrival_time,departure_time,stop_headsign
A-1,P1,1,08:00:00,08:00:00,{at_stop}
A-1,P2,2,08:05:00,08:05:00,
A-1,LONE,3,08:10:00,08:10:00,
A-1,END,4,08:20:00,08:20:00,
"""


def words_of(short="7", long="Harbour Line", of_trip="", at_stop=""):
    tables = feed_from_drawing("line A | P1 08:00 | End 08:20")
    tables |= {
        "stops.txt": STOPS,
        "stop_times.txt": TIMES.format(at_stop=at_stop),
        "routes.txt": f"route_id,route_short_name,route_long_name,route_type\nA,{short},{long},3\n",
        "trips.txt": f"route_id,service_id,trip_id,trip_headsign\nA,ALL,A-1,{of_trip}\n",
    }
    timetable = timetable_from_tables(tables)
    return TimetableWords(timetable), list(timetable.stop_local_id)


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [("7", "Harbour Line", "7"), ("", "Harbour Line", "Harbour Line"), ("7", "", "7"), ("", "", "A")],
)
def test_a_line_is_its_short_name_else_its_long_name_else_its_id(short, long, expected):
    """A2, D14: a rider is never told a nameless line."""
    words, _ = words_of(short, long)

    assert words.line_of_route(0) == (expected, Mode.BUS)


def test_a_ride_without_a_known_route_says_that_it_is_unknown():
    """A ride that was added names no route: neither its line nor what it is can be guessed."""
    words, _ = words_of()

    assert words.line_of_route(-1) == (UNKNOWN_LINE, Mode.OTHER)


@pytest.mark.parametrize(
    ("at_stop", "of_trip", "at_first", "at_second"),
    [
        ("via Bay", "Docks", "via Bay", "Docks"),
        ("", "Docks", "Docks", "Docks"),
        ("via Bay", "", "via Bay", "Harbour"),
        ("", "", "Harbour", "Harbour"),
    ],
)
def test_a_destination_is_the_stops_headsign_else_the_trips_else_the_last_stop(at_stop, of_trip, at_first, at_second):
    """A2, D16: of boards and of rides alike."""
    words, _ = words_of(of_trip=of_trip, at_stop=at_stop)

    assert [words.trip(0, stop_time).headsign for stop_time in (0, 1)] == [at_first, at_second]


@pytest.mark.parametrize(("stop", "expected"), [("P2", "Bay Two"), ("P1", "Central"), ("LONE", "LONE")])
def test_a_stop_is_its_own_name_else_its_stations_else_its_id(stop, expected):
    """A2: a platform without a name has its station's."""
    words, rows = words_of()

    assert words.stop_point(rows.index(stop)).name == expected
