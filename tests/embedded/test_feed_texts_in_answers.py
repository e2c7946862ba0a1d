"""Texts from feeds in answers: attribution, translated names, and substitutes for missing names."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.display_names import UNKNOWN_LINE, DisplayNames
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.model.itinerary import Mode
from tests.contracts.conftest import asker
from tests.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables

DRAWING = "line A | Alpha 08:30 | Beta 08:40 | Gamma 08:50"
TRIP = {
    "origin": {"type": "coords", "value": {"lat": 60.17, "lon": 24.94}},
    "destination": {"type": "coords", "value": {"lat": 60.17, "lon": 24.958}},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "limit": 1,
    "constraints": {"maxWalkingDistance": 300},
}
BOARD = {"stop": {"type": "id", "value": "TEST:ALPHA"}}
CREDITS = {
    "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang\nHSL,https://hsl.fi,fi\n",
    "attributions.txt": "organization_name,is_producer,attribution_url\nOpenStreetMap,1,https://osm.org\n",
}
NAMES = {
    "agency.txt": "agency_name,agency_url,agency_timezone,agency_lang\nX,https://x.example,Europe/Helsinki,fi\n",
    "translations.txt": "table_name,field_name,language,translation,record_id,field_value\n"
    "stops,stop_name,sv,Alfa,ALPHA,\nstops,stop_name,sv,Beeta,,Beta\ntrips,trip_headsign,sv,Gamma hamn,,Gamma\n",
}


@pytest.fixture
def over(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")

    def with_tables(tables):
        network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable_from_drawing(DRAWING, tables=tables))
        return asker(tmp_path, network)

    return with_tables


@pytest.mark.parametrize(("tool", "question"), [("plan_trip", TRIP), ("get_departures", BOARD)])
def test_attribution_is_in_meta_and_text(over, tool, question):
    answer = over(CREDITS)(tool, question)

    assert answer.body["meta"]["attribution"] == ["HSL https://hsl.fi", "OpenStreetMap https://osm.org"]
    assert answer.text.splitlines().count("Data: HSL https://hsl.fi; OpenStreetMap https://osm.org") == 1


@pytest.mark.parametrize(
    ("asked", "observed", "names"),
    [
        ("sv", "sv", ["Alfa", "Beeta", "Gamma hamn"]),
        ("fi", "fi", ["Alpha", "Beta", "Gamma"]),
        # The feed has no English names, and Finnish is the next language in the chain.
        ("en", "fi", ["Alpha", "Beta", "Gamma"]),
    ],
)
def test_names_have_the_requested_language(over, asked, observed, names):
    """Rule A7: stop names and headsigns are translated, and the answer names the language."""
    constraints = {**TRIP["constraints"], "language": asked}
    ask = over(NAMES)
    body, board = (
        ask("plan_trip", {**TRIP, "constraints": constraints}).body,
        ask("get_departures", {**BOARD, "language": asked}).body,
    )

    [leg] = body["itineraries"][0]["legs"]
    assert body["meta"]["language"] == observed
    assert [leg["from"]["name"], leg["to"]["name"], leg["headsign"]] == names
    assert [row["destination"] for row in board["departures"]] == names[2:]


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
    return DisplayNames(timetable), list(timetable.stop_local_id)


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [("7", "Harbour Line", "7"), ("", "Harbour Line", "Harbour Line"), ("7", "", "7"), ("", "", "A")],
)
def test_a_line_is_its_short_name_else_its_long_name_else_its_id(short, long, expected):
    """A2, D14: an added ride without a route has the line "unknown"."""
    words, _ = words_of(short, long)

    assert [words.get_line(row) for row in (0, -1)] == [(expected, Mode.BUS), (UNKNOWN_LINE, Mode.OTHER)]


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
    """A2, D16."""
    words, _ = words_of(of_trip=of_trip, at_stop=at_stop)

    assert [words.get_ride_names(0, stop_time).headsign for stop_time in (0, 1)] == [at_first, at_second]


@pytest.mark.parametrize(("stop", "expected"), [("P2", "Bay Two"), ("P1", "Central"), ("LONE", "LONE")])
def test_a_stop_is_its_own_name_else_its_stations_else_its_id(stop, expected):
    """A2: a platform without a name has its station's."""
    words, rows = words_of()

    assert words.get_stop_point(rows.index(stop)).name == expected
