"""Ids that exist in several feeds, in a message that does not name its feed: none is guessed, and this is reported."""

import pytest
from google.transit.gtfs_realtime_pb2 import Alert, EntitySelector, FeedEntity

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.feeds import feed_from_drawing, write_feed
from tests.realtime.messages import call, message, read_bytes, update

WEST = "line A | Alpha 08:00 | Beta 08:10\ntram K | Alpha 08:00 | Port 08:10"
EAST = "line A | Alpha 08:00 | Beta 08:20\ntram B | Alpha 08:00 | Port 08:20"
AGENCY = "agency_id,agency_name,agency_url,agency_timezone\nAGENCY,{},https://example.org,Europe/Helsinki\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Two feeds that lie 14 km apart and share the ids of route A, its trip, three stops and an agency."""
    return merged(tmp_path_factory.mktemp("far"), "East", lat=60.30)


def merged(folder, agency, lat):
    places = {name: (lat, 24.94 + at / 10) for at, name in enumerate(("Alpha", "Beta", "Port"))}
    west = {name: (60.17, lon) for name, (_, lon) in places.items()}
    drawn = {
        "WEST": feed_from_drawing(WEST, coordinates=west) | {"agency.txt": AGENCY.format("West")},
        "EAST": feed_from_drawing(EAST, coordinates=places) | {"agency.txt": AGENCY.format(agency)},
    }
    feeds = [FeedSource(write_feed(folder / name, tables), name) for name, tables in drawn.items()]
    return import_feeds("BOTH", feeds).timetable


def alert(*selectors):
    return FeedEntity(id="works", alert=Alert(informed_entity=[EntitySelector(**each) for each in selectors]))


def told_of(timetable, *selectors, feed_name=None):
    told = read_bytes(timetable, message(alert(*selectors)), feed_name=feed_name)
    feeds = [feed.name for feed in timetable.feeds]
    name = {
        "stop": lambda row: f"{feeds[timetable.stop_feed[row]]} {timetable.stop_local_id[row]}",
        "route": lambda row: f"{feeds[timetable.route_feed[row]]} {timetable.route_local_id[row]}",
        "trip": lambda row: f"{feeds[timetable.route_feed[timetable.trip_route[row]]]} trip",
    }
    touched = {
        " at ".join([name[kind](key), *map(name["stop"], stops)])
        for each in told.alerts
        for kind, key, *stops in each.selectors
    }
    return touched, [shared for count in told.matches.values() for shared in count.shared_ids]


@pytest.mark.parametrize(
    ("selector", "touched", "shared"),
    [
        ({"stop_id": "ALPHA"}, set(), ["ALPHA"]),
        ({"route_id": "A"}, set(), ["A"]),
        ({"route_id": "A", "direction_id": 0}, set(), ["A"]),
        ({"route_id": "A", "stop_id": "ALPHA"}, set(), ["A"]),
        ({"agency_id": "AGENCY"}, set(), ["AGENCY"]),
        ({"trip": {"trip_id": "A-1"}}, set(), ["A-1"]),
        ({"trip": {"trip_id": "A-1", "start_date": "20260310"}}, set(), ["A-1"]),
        ({"route_type": 0, "stop_id": "ALPHA"}, set(), ["ALPHA"]),
        ({"route_id": "K", "stop_id": "ALPHA"}, {"WEST K at WEST ALPHA"}, []),
        ({"trip": {"trip_id": "B-1"}}, {"EAST trip"}, []),
        ({"route_type": 0}, {"EAST B", "WEST K"}, []),
    ],
)
def test_a_selector_matches_the_only_feed_with_all_its_fields(both, selector, touched, shared):
    """Route K is WEST's and trip B-1 EAST's; a kind of route is no id, and means all feeds'."""
    assert told_of(both, selector) == (touched, shared)


def test_a_source_with_a_feed_of_its_own_shares_nothing(both):
    assert told_of(both, {"stop_id": "ALPHA"}, feed_name="EAST") == ({"EAST ALPHA"}, [])


@pytest.mark.parametrize(
    ("feed_name", "counts", "cancelled"),
    [
        ("east", {"trip-cancelled": 2}, ["EAST", "EAST"]),
        # A-1 could be either's, B-1 is EAST's alone.
        (None, {"id-of-several-feeds": 1, "trip-cancelled": 1}, ["EAST"]),
        ("NORTH", {"trip-unknown": 2}, []),
    ],
)
def test_a_message_changes_the_trips_of_its_feed_and_guesses_none(both, feed_name, counts, cancelled):
    gone = [update(trip, relationship="CANCELED") for trip in ("A-1", "B-1")]
    told = read_bytes(both, message(*gone), feed_name=feed_name)
    trips = [both.trip_route[both.trip_departure_trip[run]] for run, _ in told.rides]
    assert [both.feeds[both.route_feed[route]].name for route in trips] == cancelled
    assert dict(told.counts) == counts


def test_the_readable_parts_of_an_alert_are_returned(both):
    assert told_of(both, {"route_id": "K"}, {"stop_id": "ALPHA"}) == ({"WEST K"}, ["ALPHA"])


def test_an_alert_without_any_readable_part_is_counted(both):
    told = read_bytes(both, message(alert({"stop_id": "ALPHA"}), alert({"stop_id": "OMEGA"})))
    assert dict(told.counts) == {"alert-without-known-selector": 1, "id-of-several-feeds": 1}


@pytest.mark.parametrize(("lat", "touched"), [(60.1708, {"WEST ALPHA", "EAST ALPHA"}), (60.171, set())])
def test_one_stop_in_two_feeds_is_not_guessed(tmp_path, lat, touched):
    """Rule A8: one name, at most 100 m apart, so that ids of a country's register close the stop to both."""
    assert told_of(merged(tmp_path, "West", lat), {"stop_id": "ALPHA"})[0] == touched


def test_one_agency_in_two_feeds_is_not_guessed(tmp_path):
    assert told_of(merged(tmp_path, "West", 60.3), {"agency_id": "AGENCY"}) == (
        {"EAST A", "EAST B", "WEST A", "WEST K"},
        [],
    )


@pytest.mark.parametrize(
    ("agency", "selector", "told"),
    [
        ("West", {"route_id": "A"}, ({"WEST A", "EAST A"}, [])),
        ("East", {"route_id": "A"}, (set(), ["A"])),
        ("West", {"route_id": "A", "stop_id": "ALPHA"}, (set(), ["A"])),
    ],
)
def test_one_line_in_two_feeds_is_not_guessed(tmp_path, agency, selector, told):
    """Each borough's feed of New York has all of its lines: one name, one agency; the stop is another in each."""
    assert told_of(merged(tmp_path, agency, 60.3), selector) == told


def test_an_added_trip_runs_on_the_route_of_its_own_feed(tmp_path):
    places = {"coordinates": {"Alpha": (60.3, 24.94), "Quay": (60.3, 25.0)}}
    east = write_feed(tmp_path / "east", feed_from_drawing("line A | Alpha 08:00 | Quay 08:20", **places))
    west = write_feed(tmp_path / "west", feed_from_drawing(WEST))
    timetable = import_feeds("BOTH", [FeedSource(west, "WEST"), FeedSource(east, "EAST")]).timetable
    calls = (call("ALPHA", depart="08:05"), call("QUAY", arrive="08:25"))
    (ride,) = read_bytes(timetable, message(update("X", *calls, relationship="ADDED", route_id="A"))).added
    assert timetable.feeds[int(timetable.route_feed[ride.route])].name == "EAST"
