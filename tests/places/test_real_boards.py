"""In three real feeds, the board of a place is the sum of its stops' boards, whichever stop is given (rule D2).

Which stops are one place is worked out here from stops.txt alone, slowly.
"""

import math
import re
from collections import Counter
from functools import cache

import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.homes import keep_network
from tests.shared_data import get_shared, read_table
from tests.tools.conftest import asker

FEEDS = [
    ("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip", "2022-02-22T08:00:00+02:00"),
    ("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "2022-02-15T08:00:00+02:00"),
    ("gtfs/kingston/kingston_2026-01.gtfs.zip", "2026-01-15T08:00:00-05:00"),
]
# A longer window would hold more rows than a board may show.
WINDOW_MIN = 6
MOST = 50


def _metres(a, b):
    north, east = (math.radians(float(a[key]) - float(b[key])) for key in ("stop_lat", "stop_lon"))
    return 6_371_000 * math.hypot(north, east * math.cos(math.radians(float(a["stop_lat"]))))


def _name(stop):
    lettered = re.fullmatch(r"(.+?) +[A-ZÅÄÖ]", stop["stop_name"])
    return (lettered[1] if lettered else stop["stop_name"]).casefold()


def _is_station(stop):
    return stop.get("location_type") == "1"


def _station(stop):
    return stop["stop_id"] if _is_station(stop) else stop.get("parent_station") or None


def _places(stops):
    """Return (stops that mean one place, ids of the stops whose boards it shows) of all places.

    Stops of one name are one place where hops of 300 m link them; a station and whatever bears its name is one too.
    """
    left = {stop["stop_id"]: stop for stop in stops}
    clusters = []
    while left:
        cluster = [left.pop(next(iter(left)))]
        for stop in cluster:
            near = [each for each in left.values() if _name(each) == _name(stop) and _metres(each, stop) <= 300]
            cluster += [left.pop(each["stop_id"]) for each in near]
        clusters.append(cluster)
    cluster_of = {stop["stop_id"]: cluster for cluster in clusters for stop in cluster}
    within = [
        cluster for cluster in clusters if len({_station(stop) for stop in cluster}) == 1 and _station(cluster[0])
    ]
    for cluster in within:
        home = cluster_of[_station(cluster[0])]
        if home is not cluster:
            home += cluster
            clusters.remove(cluster)
    return [(cluster, _members(cluster, stops)) for cluster in clusters]


def _members(cluster, stops):
    stations = {stop["stop_id"] for stop in cluster if _is_station(stop)}
    children = {stop["stop_id"] for stop in stops if _station(stop) in stations and not _is_station(stop)}
    return children | {stop["stop_id"] for stop in cluster if not _is_station(stop)}


@pytest.mark.parametrize(("feed", "now"), FEEDS, ids=[feed.split("/")[1] for feed, _ in FEEDS])
def test_no_board_of_a_place_differs_from_the_sum_of_its_stops(feed, now, tmp_path, monkeypatch):
    """D2: as a label each stop of a place shows the whole place, as an id itself."""
    path = get_shared(feed)
    monkeypatch.setenv("FINGERPOST_NOW", now)
    imported = import_feeds("X", [FeedSource(path)])
    keep_network(tmp_path, "X", imported.timetable, report=imported.report.to_json())
    ask = asker(tmp_path)

    @cache
    def board(kind, stop_id):
        asked = {"stop": {"type": kind, "value": f"X:{stop_id}"}, "windowMinutes": WINDOW_MIN, "limit": MOST}
        rows = ask("get_departures", asked).body["departures"]
        return Counter((row["scheduledTime"], row["line"], row["destination"]) for row in rows)

    stops = read_table(path, "stops.txt")
    differ, rows, several = [], 0, 0
    for cluster, members in _places(stops):
        whole = sum((board("id", member) for member in members), Counter())
        shown = [board("label", stop["stop_id"]) for stop in cluster]
        is_cut = whole.total() > MOST
        differ += [
            (stop["stop_name"], stop["stop_id"])
            for stop, each in zip(cluster, shown, strict=True)
            if (each.total() != MOST or each - whole if is_cut else each != whole)
        ]
        rows, several = rows + whole.total(), several + (len(members) > 1)
    assert differ == []
    assert (rows > 100, several > 100) == (True, True)
