"""`fingerpost network check` finds and distinguishes faults in feeds, in extracts and in the program."""

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest

from fingerpost.transit.embedded.network_walks import NetworkWalks
from fingerpost.transit.engine.gtfs import importer
from fingerpost.transit.engine.gtfs.csv import table
from fingerpost.transit.engine.gtfs.realtime import trip_matching
from fingerpost.transit.engine.gtfs.realtime.messages import EntityOutcome
from fingerpost.transit.osm.basemap import Water
from fingerpost.transit.osm.streets import building, stop_access
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from tests.feeds import feed_from_drawing, write_feed
from tests.osm_file import osm_text
from tests.worlds.feeds import World
from tests.worlds.import_checks import list_import_faults
from tests.worlds.opening import check_world, list_program_faults, new_trial, open_world

DAY = date(2026, 3, 2)
NEAR = {"Alpha": (60.17, 24.94), "Beta": (60.17, 24.97), "Gamma": (60.17, 25.0)}
LINE = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
line A | Alpha 12:00 | Beta 12:10 | Gamma 12:20
line A | Gamma 18:00 | Beta 18:10 | Alpha 18:20
"""
HOURLY = "\n".join(f"line A | Alpha {hour}:30 | Beta {hour}:40 | Gamma {hour}:50" for hour in range(10, 22))


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-02T04:00:00Z")


def draw(text=LINE, **tables):
    feed = feed_from_drawing(text, days=[DAY], coordinates=NEAR)
    feed |= {f"{name}.txt": rows for name, rows in tables.items()}
    return World(
        seed=1, feeds={"W": {name: rows.encode() for name, rows in feed.items()}}, days=(DAY, DAY),
        now=datetime(2026, 3, 2, 4, tzinfo=UTC),
    )  # fmt: skip


def find_codes(world, folder, raw=None, **tables):
    """Return the codes of all faults, by origin; ``raw`` and ``tables`` are what the network is compared with."""
    opened = open_world(world, folder)
    if raw is not None:
        path = write_feed(folder / "raw.zip", draw(raw, **tables).feeds["W"])
        opened = replace(opened, feeds=(replace(opened.feeds[0], path=path),))
    report = check_world(opened, folder, questions=60)
    return {(fault.origin.value, fault.code) for result in report.results for fault in result.faults}


def find_import_codes(world, folder):
    return {code for code, _ in list_import_faults(new_trial(open_world(world, folder)))}


def test_a_sound_feed_has_no_faults(tmp_path):
    assert find_codes(draw(), tmp_path) == set()


def test_the_import_of_a_sound_feed_has_no_faults(tmp_path):
    assert find_import_codes(draw(), tmp_path) == set()


@pytest.mark.parametrize(
    ("tables", "fault"),
    [
        ({"frequencies": "trip_id,start_time,end_time,headway_secs\nA-1,08:00:00,09:00:00,x\n"}, "feed-left-out"),
        ({"stops": "stop_id,stop_name,stop_lat,stop_lon,stop_timezone\nALPHA,Alpha,60.17,24.94,Asia/Tokyo\n"
                   "BETA,Beta,60.17,24.97,\nGAMMA,Gamma,60.17,25.0,\n"}, "feed-left-out"),
        ({"calendar_dates": "service_id,date,exception_type\nALL,20260301,1\n"}, "feed-out-of-service"),
    ],
)  # fmt: skip
def test_a_fault_in_the_data_is_reported(tables, fault, tmp_path):
    assert find_codes(draw(**tables), tmp_path) == {("data", fault)}


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (LINE + HOURLY, "trip-missing"),
        (LINE.replace("18:10", "18:11"), "trip-differs"),
    ],
)  # fmt: skip
def test_a_difference_from_the_feed_is_a_fault_of_the_program(raw, fault, tmp_path):
    assert find_codes(draw(), tmp_path, raw) == {("program", fault)}


def test_a_service_on_another_day_is_a_fault_of_the_program(tmp_path):
    calendar = "service_id,date,exception_type\nALL,20260302,1\nALL,20260303,1\n"

    assert find_codes(draw(), tmp_path, LINE, calendar_dates=calendar) == {("program", "trip-differs")}


def test_an_oddity_that_the_import_does_not_report_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_remove_controls", lambda block: (block, []))
    stops = "stop_id,stop_name,stop_lat,stop_lon\nALPHA,\u202eAlpha,60.17,24.94\nBETA,Beta,60.17,24.97\n"

    assert find_import_codes(draw(stops=f"{stops}GAMMA,Gamma,60.17,25.0\n"), tmp_path) == {"feed-unreported"}


def test_a_feed_that_thins_out_unreported_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(importer, "_find_thin_after", lambda *_: None)
    days = "".join(f"ALL,202603{day:02d},1\n" for day in range(2, 30))
    late = draw(
        LINE + HOURLY,
        calendar_dates=f"service_id,date,exception_type\n{days}LATE,20260501,1\n",
        trips="route_id,service_id,trip_id\nA,LATE,A-1\n" + "".join(f"A,ALL,A-{row}\n" for row in range(2, 16)),
    )

    assert "feed-unreported" in find_import_codes(late, tmp_path)


def test_realtime_of_another_year_that_is_called_invalid_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(trip_matching.TripMatcher, "read_day", lambda *_: EntityOutcome.START_DATE_INVALID)

    assert find_import_codes(draw(), tmp_path) == {"realtime-misread"}


def test_stops_beside_the_antimeridian_have_no_faults(tmp_path):
    stops = "ALPHA,Alpha,60.17,179.99\nBETA,Beta,60.17,-180\nGAMMA,Gamma,60.17,-179.98\n"

    assert find_codes(draw(stops=f"stop_id,stop_name,stop_lat,stop_lon\n{stops}"), tmp_path) == set()


def test_times_without_seconds_are_no_fault(tmp_path):
    world = draw()
    short = world.feeds["W"] | {"stop_times.txt": world.feeds["W"]["stop_times.txt"].replace(b":00,", b",")}

    assert find_codes(replace(world, feeds={"W": short}), tmp_path) == set()


RIVER = [(60.1688, 24.93), (60.1688, 25.01), (60.1696, 25.01), (60.1696, 24.93)]
PIN = (60.1684, 24.94)
NORTH = [(60.1708, 24.94), (60.1708, 24.943)]


def open_town(folder, text=LINE, ways=(), door=None, **stops):
    """Open a town with a street past Alpha (node 7) to Gamma, a river south, and nodes 8 (``door``) and 9 for ways."""
    feed = feed_from_drawing(text, days=[DAY], coordinates=NEAR | stops)
    nodes = [(1, 60.17, 24.935, {}), (2, 60.17, 25.005, {})]
    nodes += [(number, *corner, {}) for number, corner in enumerate((*RIVER, NEAR["Alpha"], *NORTH), 3)]
    nodes[7] = (8, *NORTH[0], door or {})
    streets = [([1, 7, 2], {"highway": "residential"}), ([3, 4, 5, 6, 3], {"natural": "water"}), *ways]
    extract = osm_text(nodes, streets)
    world = replace(draw(), feeds={"W": {name: rows.encode() for name, rows in feed.items()}}, extract=extract)
    return open_world(world, folder)


def plan(opened, *ends, **constraints):
    origin, destination = ({"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in ends)
    when = {"type": "depart", "time": "2026-03-02T07:30:00+02:00"}
    return opened.call(
        "plan_trip", {"origin": origin, "destination": destination, "when": when, "constraints": constraints}
    )


def list_wet_ends(body):
    return [note.partition(" and the nearest street")[0] for note in body["meta"].get("notes", ())]


def test_an_answer_names_water_between_its_end_and_the_streets(tmp_path):
    body = plan(open_town(tmp_path), PIN, NEAR["Gamma"])

    assert list_wet_ends(body) == ["There is water between the origin"]


def test_an_answer_names_stops_with_water_between_them_and_the_streets(tmp_path):
    opened = open_town(tmp_path, LINE.replace("Gamma", "Quay"), Quay=(60.1684, 25.0))
    report = check_world(opened, tmp_path, questions=30)

    assert list_wet_ends(plan(opened, NEAR["Alpha"], NEAR["Gamma"])) == ["There is water between Quay"]
    assert {fault.code for fault in report.results[-1].faults} == {"walk-may-cross-water"}


def test_the_check_finds_water_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(StreetWalks, "crosses_water", lambda _walks, _stop: False)
    opened = open_town(tmp_path, LINE.replace("Gamma", "Quay"), Quay=(60.1684, 25.0))
    report = check_world(opened, tmp_path, questions=90)

    assert "walk-crosses-water" in {code for code, _, _ in list_program_faults(report)}


def test_the_check_finds_walks_far_from_streets_without_a_warning(tmp_path, monkeypatch):
    """The extract has no water, as that of Tampere, so only the distance to the streets is known."""
    monkeypatch.setattr(Water, "is_dry", lambda *_: True)
    monkeypatch.setattr(NetworkWalks, "list_notes", lambda *_, **__: [])
    report = check_world(open_town(tmp_path), tmp_path, questions=60)

    assert "walk-crosses-water" in {code for code, _, _ in list_program_faults(report)}


ESCALATOR = {"highway": "steps", "conveying": "forward"}


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        (([8, 7], ESCALATOR), "stop-unreachable"),
        (([7, 8], ESCALATOR), "stop-without-exit"),
        (([8, 9], {"highway": "residential"}), "pin-isolated"),
    ],
)
def test_the_check_finds_what_walks_do_not_reach(way, fault, tmp_path, monkeypatch):
    """The import normally skips such ways. Alpha is near the street, or at the end of the escalator."""
    monkeypatch.setattr(building, "_find_connected", lambda _edges, street_m: np.ones(len(street_m), np.bool_))
    alpha = NORTH[0] if way[1] is ESCALATOR else (60.1702, 24.941)
    report = check_world(open_town(tmp_path, ways=[way], Alpha=alpha), tmp_path, questions=300)

    assert fault in {code for code, _, _ in list_program_faults(report)}


def test_metro_platforms_at_street_level_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(stop_access, "METRO_DEPTH_S", 0)
    ways, door = [([7, 8], {"highway": "footway"})], {"railway": "subway_entrance"}
    opened = open_town(tmp_path, LINE.replace("line", "metro"), ways, door)

    assert list_import_faults(new_trial(opened)) == [("stop-too-shallow", "W:ALPHA")]


@pytest.mark.parametrize(
    ("origin", "stops"),
    [((60.1735, 24.94), ["Alpha"]), ((60.1780, 24.94), []), ((60.1664, 24.94), [])],
    ids=["400 m from the street", "900 m from the street", "across the river"],
)
def test_a_point_far_from_every_street_reaches_near_stops_across_dry_land(origin, stops, tmp_path):
    body = plan(open_town(tmp_path), origin, NEAR["Gamma"], maxWalkingDistance=3000)

    assert [leg["from"]["name"] for trip in body.get("itineraries", ()) for leg in trip["legs"][1:2]][:1] == stops


def test_an_island_without_streets_is_reached_by_ferry_only(tmp_path):
    """The island is 400 m across the river, less than the walking limit."""
    isle = (60.1664, 24.94)
    body = plan(open_town(tmp_path, "ferry F | Alpha 08:00 | Isle 08:10", Isle=isle), NEAR["Alpha"], isle)

    assert [leg["mode"] for leg in body["itineraries"][0]["legs"] if leg["mode"] != "WALK"] == ["FERRY"]
