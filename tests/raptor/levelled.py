"""The real Helsinki feed, levelled so that nigiri and the engine model the same walking.

What nigiri does of itself is taken out of the feed first, so that no difference needs explaining away:
it links stops of one name and children of one station (names become ids, parents go); its footpaths come from
``transfers.txt`` alone, in whole minutes, never shorter than its two minutes to change, and closed transitively
(so both get the same footpaths: all pairs within a cluster of stops, rounded up to minutes).
Both may end with a footpath into the goal stop, and neither may begin with one.
nigiri drops journeys that are no faster than the footpath all the way; ours is told of that walk too.

pynigiri is imported where it is used: it has one wheel, and this module is read by tests that skip without it.
"""

import csv
import io
import zipfile
from dataclasses import replace
from datetime import date, datetime
from itertools import permutations
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.runtime.grouping import group_linked
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.raptor.arrays import KernelQuery
from fingerpost.transit.engine.raptor.journeys import read_journey
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.search import run_kernel
from fingerpost.transit.engine.timetable.columns import join_rows
from fingerpost.transit.engine.timetable.timetable import STOP, Footpaths
from fingerpost.transit.engine.timetable.walks import (
    CHANGE_SLACK_S,
    DETOUR_FACTOR,
    StopWalks,
    find_neighbours,
    straight_line_m,
    walk_s,
)

FEED = "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip"
DAY = date(2022, 2, 22)
ZONE = ZoneInfo("Europe/Helsinki")
MIDNIGHT = int(datetime(2022, 2, 22, tzinfo=ZONE).timestamp())
MAX_TRANSFERS = 6
LINK_M = 120.0


def clustered(timetable, link_m=LINK_M):
    rows = np.flatnonzero(timetable.stop_kind == STOP)
    near_a, near_b, _ = find_neighbours(timetable.stop_lat, timetable.stop_lon, rows, link_m)
    clusters = group_linked(timetable.stop_count, zip(near_a.tolist(), near_b.tolist(), strict=True))
    pairs = sorted(pair for cluster in clusters for pair in permutations(cluster, 2))
    origin, goal = np.array(pairs).T
    lat, lon = timetable.stop_lat, timetable.stop_lon
    metres = straight_line_m(lat[origin], lon[origin], lat[goal], lon[goal]) * DETOUR_FACTOR
    seconds = walk_s(metres) + CHANGE_SLACK_S
    first = np.zeros(timetable.stop_count + 1, np.int32)
    np.cumsum(np.bincount(origin, minlength=timetable.stop_count), out=first[1:])
    return replace(
        timetable,
        footpaths=Footpaths(
            first=first,
            to=goal.astype(np.int32),
            seconds=(-(-seconds // 60) * 60).astype(np.int32),
            metres=np.ceil(metres).astype(np.int32),
            walk_s=walk_s(metres),
        ),
    )


def level(original, path):
    timetable = clustered(import_feeds("HSL", [FeedSource(original)]).timetable)
    with zipfile.ZipFile(original) as archive, zipfile.ZipFile(path, "w") as out:
        for name in ("agency.txt", "routes.txt", "trips.txt", "stop_times.txt", "calendar.txt", "frequencies.txt"):
            out.writestr(name, archive.read(name))
        rows = csv.DictReader(io.StringIO(archive.read("stops.txt").decode("utf-8-sig")))
        stops = io.StringIO()
        writer = csv.DictWriter(stops, rows.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"stop_name": row["stop_id"], "parent_station": ""} for row in rows)
        out.writestr("stops.txt", stops.getvalue())
        write_transfers(timetable, out)
    return timetable


def write_transfers(timetable, out):
    ids, footpaths = list(timetable.stop_local_id), timetable.footpaths
    origins = np.repeat(np.arange(len(ids)), np.diff(footpaths.first))
    links = zip(origins.tolist(), footpaths.to.tolist(), footpaths.seconds.tolist(), strict=True)
    rows = [f"{ids[a]},{ids[b]},2,{seconds}\n" for a, b, seconds in links]
    out.writestr("transfers.txt", "from_stop_id,to_stop_id,transfer_type,min_transfer_time\n" + "".join(rows))


def ask_rival(rival, locations, origin, destination, leave_s, *, live=None, midnight=MIDNIGHT, window_s=0):
    """Return (changes, arrival) of nigiri's best journeys, arrival in seconds of the day; by ``live`` with realtime.

    For a window, return (changes, arrival, departure), here and in ``ask_engine``.
    """
    import pynigiri as nigiri

    query = nigiri.Query()
    begin = (midnight + leave_s) // 60
    query.start_time = (begin, begin + window_s // 60) if window_s else begin
    query.start = [nigiri.Offset(locations[origin], 0, 0)]
    query.destination = [nigiri.Offset(locations[destination], 0, 0)]
    query.max_transfers = MAX_TRANSFERS
    query.max_travel_time = 1440
    found = nigiri.route(rival, query) if live is None else nigiri.route_with_rt(rival, live, query)
    rows = [(each.transfers, _instant(each.dest_time), _instant(each.start_time)) for each in found]
    return _list_best(rows, midnight, window_s)


def _list_best(rows, midnight, window_s):
    return sorted((changes, *(time - midnight for time in times[: 2 if window_s else 1])) for changes, *times in rows)


def _instant(time):
    return int(time.replace(tzinfo=ZoneInfo("UTC")).timestamp()) if isinstance(time, datetime) else int(time) * 60


def ask_engine(timetable, search_timetable, origin, destination, leave_s, *, midnight=MIDNIGHT, window_s=0):
    into = np.flatnonzero(timetable.footpaths.to == destination)
    origins = np.searchsorted(timetable.footpaths.first, into, side="right") - 1
    nothing = np.zeros(1, np.int32)
    access = StopWalks(np.array([origin], np.int32), nothing, nothing)
    here = StopWalks(np.array([destination], np.int32), nothing, nothing)
    paths = timetable.footpaths
    egress = join_rows(here, StopWalks(origins.astype(np.int32), paths.metres[into], paths.seconds[into]))
    direct = into[origins == origin]
    direct_s = int(timetable.footpaths.seconds[direct[0]]) if len(direct) else int(UNREACHED)
    until, never = leave_s + window_s, int(UNREACHED) - 1
    query = KernelQuery(access, egress, leave_s, until, never, direct_s, MAX_TRANSFERS + 1, 10**6)
    journeys = [read_journey(timetable, search_timetable, row) for row in run_kernel(search_timetable, query)]
    return _list_best(
        [(max(0, each.boardings - 1), each.arrival, each.departure) for each in journeys], midnight, window_s
    )
