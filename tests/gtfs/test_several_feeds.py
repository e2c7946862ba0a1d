"""Several feeds in one network: names, and the stops that they share (rule A8)."""

import pytest

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.feeds import feed_from_drawing, write_feed

NORTH = "line A | Alpha 08:00 | Beta 08:10\n"
SOUTH = "line A | Beta 09:00 | Gamma 09:10\nwalk | Beta | Gamma 300\n"
# Beta lies at 24.958 when it is drawn second.
BETA = (60.17, 24.958)


def write_both(tmp_path):
    first = write_feed(tmp_path / "north.gtfs.zip", feed_from_drawing(NORTH))
    return first, write_feed(tmp_path / "south.zip", feed_from_drawing(SOUTH, coordinates={"Beta": BETA}))


@pytest.mark.parametrize(
    ("names", "feeds"),
    [
        ([None], ["NET"]),
        (["own"], ["OWN"]),
        ([None, None], ["NET", "NET-SOUTH"]),
        (["MTA", None], ["MTA", "NET-SOUTH"]),
    ],
)
def test_a_feed_is_named_as_requested_or_after_its_network_and_file(tmp_path, names, feeds):
    paths = write_both(tmp_path)
    sources = [FeedSource(path, name) for path, name in zip(paths, names, strict=False)]
    imported = import_feeds("net", sources)

    assert [feed.name for feed in imported.timetable.feeds] == feeds
    assert [feed.feed for feed in imported.report.feeds] == feeds


def test_two_files_of_one_name_must_be_named_apart(tmp_path):
    paths = [write_feed(tmp_path / folder, feed_from_drawing(NORTH)) for folder in ("a/gtfs", "b/gtfs", "c/gtfs")]
    with pytest.raises(ParameterError) as caught:
        import_feeds("net", [FeedSource(path) for path in paths])

    assert caught.value.message == "Two of the feeds would both be called NET-GTFS. Name them: FEED=PATH"


@pytest.mark.parametrize("name", ["", " ", "demo-helsinki"])
def test_a_feed_needs_a_name_of_its_own(tmp_path, name):
    with pytest.raises(ParameterError, match="A feed cannot be called"):
        import_feeds("net", [FeedSource(tmp_path, name)])


def test_feeds_with_different_names_share_nothing(tmp_path):
    table = import_feeds("net", [FeedSource(path) for path in write_both(tmp_path)]).timetable

    ids = ["NET:ALPHA", "NET:BETA", "NET-SOUTH:BETA", "NET-SOUTH:GAMMA"]
    assert (list(table.stop_printed_id), table.stop_feed.tolist()) == (ids, [0, 0, 1, 1])
    of_each_feed = ("route_feed", "service_feed", "trip_route", "trip_service", "trip_departure_trip")
    assert [getattr(table, name).tolist() for name in of_each_feed] == [[0, 1]] * len(of_each_feed)
    assert (table.stop_time_stop.tolist(), table.transfer_from.tolist()) == ([0, 1, 2, 3], [2, 3])
    assert table.trip_first_stop_time.tolist() == [0, 2, 4]


def test_feeds_of_one_name_share_the_stops_that_agree(tmp_path):
    table = import_feeds("net", [FeedSource(path, "MTA") for path in write_both(tmp_path)]).timetable

    assert list(table.stop_printed_id) == ["MTA:ALPHA", "MTA:BETA", "MTA:GAMMA"]
    assert (table.stop_time_stop.tolist(), table.transfer_to.tolist()) == ([0, 1, 1, 2], [2, 1])
    assert (list(table.trip_local_id), table.route_feed.tolist()) == (["A-1", "A-1"], [0, 1])
    assert (table.headsign[0], table.headsign[1], table.trip_headsign.tolist()) == ("Beta", "Gamma", [0, 1])


def renamed(tmp_path, north_name, south_name, east_deg=0.0):
    """Return two feeds of one name that call their common stop so; the second puts it further east."""
    north = feed_from_drawing(NORTH)
    south = feed_from_drawing(SOUTH, coordinates={"Beta": (BETA[0], BETA[1] + east_deg)})
    for feed, name in ((north, north_name), (south, south_name)):
        feed["stops.txt"] = feed["stops.txt"].replace(",Beta,", f",{name},")
    return [FeedSource(write_feed(tmp_path / n, f), "MTA") for n, f in (("n", north), ("s", south))]


@pytest.mark.parametrize(
    ("names", "east_deg", "refused_m", "is_counted"),
    [
        # At 60.17 degrees north, 100 m are 0.00181 degrees of longitude.
        (("Beta", "Beta"), 0.00180, None, False),
        (("Beta", "Beta"), 0.00182, 101, False),
        # Case and punctuation do not matter.
        (("Beta", "BE / TA"), 0.0, None, False),
        (("Beta", "Omega"), 0.0, 0, False),
        # Abbreviations agree within 30 m, which is 0.00054 degrees of longitude here, and are counted; not beyond.
        (("Gerritsen Av / Avenue V", "GERRITSEN AV/AV V"), 0.0005, None, True),
        (("Gerritsen Av / Avenue V", "GERRITSEN AV/AV V"), 0.0006, 33, False),
    ],
)
def test_names_and_places_of_a_shared_stop_must_agree(tmp_path, names, east_deg, refused_m, is_counted):
    sources = renamed(tmp_path, *names, east_deg)
    if refused_m is not None:
        with pytest.raises(FeedUnusable) as caught:
            import_feeds("net", sources)
        assert f"{caught.value.message}. {caught.value.hint}" == (
            f"Stop BETA is '{names[0]}' in n and '{names[1]}', {refused_m} m away, in s, "
            "but both feeds are called MTA. Give the feeds different names: NAME=PATH"
        )
        return
    imported = import_feeds("net", sources)

    assert list(imported.timetable.stop_name) == ["Alpha", names[0], "Gamma"]
    assert [(found.reason, found.count) for found in imported.report.feeds[1].findings] == [
        ("stop-named-otherwise-in-earlier-feed-assumed", 1)
    ] * is_counted


def test_a_shared_stop_has_the_values_of_either_feed(tmp_path):
    south = feed_from_drawing(SOUTH, coordinates={"Beta": BETA})
    south["stops.txt"] = (
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code,wheelchair_boarding\n"
        "S,Station,60.17,24.958,1,,,\nBETA,Beta,60.17,24.958,0,S,7,1\nGAMMA,Gamma,60.17,25,,,,\n"
    )
    paths = write_feed(tmp_path / "n", feed_from_drawing(NORTH)), write_feed(tmp_path / "s", south)
    table = import_feeds("net", [FeedSource(path, "MTA") for path in paths]).timetable

    assert list(table.stop_local_id) == ["ALPHA", "BETA", "S", "GAMMA"]
    assert table.stop_parent.tolist() == [-1, 2, -1, -1]
    assert (table.stop_platform[1], int(table.stop_wheelchair[1])) == ("7", 1)
