"""Real feeds: the imported counts equal those in the tables, counted here directly from the files."""

import csv
import io
import math
import os
import zipfile
from collections import Counter
from itertools import pairwise

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.gtfs.importing import REAL_FEEDS
from tests.shared_data import get_shared

# Reading these in plain Python takes minutes.
SLOW = {name for name, _ in REAL_FEEDS if name.startswith("nyc/") and "lirr" not in name}
NOT_RIDDEN = ("1", "2", "3", "4")


def read(packed, name):
    if name not in packed.namelist():
        return []
    return list(csv.DictReader(io.StringIO(packed.read(name).decode("utf-8-sig"))))


def seconds(text):
    hours, minutes, rest = text.strip().split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)


def filled(rows, stops):
    """Give every call its second of departure; between timepoints it is in proportion to the way from stop to stop."""
    trips = {}
    for row in rows:
        trips.setdefault(row["trip_id"], []).append(row)
    for trip in trips.values():
        trip.sort(key=lambda row: int(row["stop_sequence"]))
        timed = [at for at, row in enumerate(trip) if row["departure_time"].strip()]
        for at, row in enumerate(trip):
            if at in timed:
                row["leaves_s"] = seconds(row["departure_time"])
                continue
            before, after = max(t for t in timed if t < at), min(t for t in timed if t > at)
            start_s, end_s = seconds(trip[before]["departure_time"]), seconds(trip[after]["arrival_time"])
            places = [stops[call["stop_id"].strip()] for call in trip[before : after + 1]]
            ways = [apart_deg(*pair) for pair in pairwise(places)]
            done, whole = sum(ways[: at - before]), sum(ways)
            # A hair, because sums are rounded.
            row["leaves_s"] = start_s + math.floor((end_s - start_s) * done / whole + 1e-3)
    return rows


def apart_deg(begin, end):
    (lat, lon), (to_lat, to_lon) = ((float(stop["stop_lat"]), float(stop["stop_lon"])) for stop in (begin, end))
    return math.hypot(to_lat - lat, (to_lon - lon) * math.cos(math.radians(to_lat)))


def runs_on(packed, day):
    weekday = day.strftime("%A").lower()
    # Of rows that repeat an id the first holds.
    weekly = {row["service_id"]: row for row in reversed(read(packed, "calendar.txt"))}
    running = {
        row["service_id"]
        for row in weekly.values()
        if row["start_date"] <= f"{day:%Y%m%d}" <= row["end_date"] and row[weekday] == "1"
    }
    for row in read(packed, "calendar_dates.txt"):
        if row["date"] == f"{day:%Y%m%d}":
            (running.add if row["exception_type"] == "1" else running.discard)(row["service_id"])
    return running


def told_by_tables(path, day):
    with zipfile.ZipFile(path) as packed:
        calls = {}
        stops = {row["stop_id"].strip(): row for row in read(packed, "stops.txt")}
        boarded = {stop for stop, row in stops.items() if (row.get("location_type") or "0") not in NOT_RIDDEN}
        routes = {row["route_id"] for row in read(packed, "routes.txt")}
        known = {row["trip_id"] for row in read(packed, "trips.txt") if row["route_id"] in routes}
        for row in filled(read(packed, "stop_times.txt"), stops):
            if row["stop_id"].strip() not in boarded or row["trip_id"] not in known:
                continue
            call = (int(row["stop_sequence"]), row["stop_id"], row["leaves_s"])
            calls.setdefault(row["trip_id"], []).append(call)
        # A trip that calls once carries nobody: it is the one thing that is left out.
        calls = {trip: sorted(each) for trip, each in calls.items() if len(each) > 1}
        starts = {}
        for row in read(packed, "frequencies.txt"):
            span = range(seconds(row["start_time"]), seconds(row["end_time"]), int(row["headway_secs"]))
            starts.setdefault(row["trip_id"], []).extend(span)
        running = runs_on(packed, day)
        departures = Counter()
        runs = 0
        for row in read(packed, "trips.txt"):
            trip = calls.get(row["trip_id"], [])
            leaves = starts.get(row["trip_id"], [trip[0][2]]) if trip else []
            runs += len(leaves)
            if row["service_id"] in running:
                departures.update((stop, at + start - trip[0][2]) for start in leaves for _, stop, at in trip)
        counts = {
            "stops": len(stops),
            "routes": len(routes),
            "trips": len(calls),
            "runs": runs,
            "events": sum(map(len, calls.values())),
        }
    return counts, departures


def told_by_timetable(table, day):
    stop_ids = list(table.stop_local_id)
    column = (day - table.calendar_start).days
    departures = Counter()
    for trip, shift_s in zip(table.trip_departure_trip.tolist(), table.trip_departure_shift_s.tolist(), strict=True):
        if table.service_runs_on[table.trip_service[trip], column]:
            events = slice(table.trip_first_stop_time[trip], table.trip_first_stop_time[trip + 1])
            stops, times_s = table.stop_time_stop[events].tolist(), table.stop_time_departure_s[events].tolist()
            departures.update((stop_ids[stop], at + shift_s) for stop, at in zip(stops, times_s, strict=True))
    counts = {
        "stops": table.stop_count,
        "routes": len(table.route_type),
        "trips": len(table.trip_route),
        "runs": len(table.trip_departure_trip),
        "events": len(table.stop_time_stop),
    }
    return counts, departures


@pytest.mark.parametrize(("name", "day"), REAL_FEEDS, ids=[name for name, _ in REAL_FEEDS])
def test_counts_and_departures_of_a_day_equal_those_of_the_tables(name, day):
    path = get_shared(f"gtfs/{name}.gtfs.zip")
    if name in SLOW and not os.environ.get("FINGERPOST_SOAK"):
        pytest.skip("reading the tables a second time, in plain Python, takes minutes: FINGERPOST_SOAK=1")
    imported = import_feeds("real", [FeedSource(path)])
    counts, departures = told_by_tables(path, day)

    assert told_by_timetable(imported.timetable, day) == (counts, departures)
    report = imported.report.feeds[0]
    assert {name: getattr(report, name) for name in counts} == counts
    assert departures.total() > 100


def test_a_flex_feed_is_refused_with_the_reason():
    with pytest.raises(FeedUnusable) as caught:
        import_feeds("real", [FeedSource(get_shared("gtfs/small/ctran_flex.gtfs.zip"))])

    assert "trip-on-demand-unsupported (the trip runs on demand (GTFS-Flex)" in caught.value.message


def test_broken_feed_names_its_faults():
    path = get_shared("gtfs/broken/hsl_2022_broken_subset.gtfs.zip")
    report = import_feeds("real", [FeedSource(path)]).report.feeds[0]
    with zipfile.ZipFile(path) as packed:
        stops = {row["stop_id"] for row in read(packed, "stops.txt")}
        routes = {row["route_id"] for row in read(packed, "routes.txt")}
        trips = read(packed, "trips.txt")
        lost = {row["trip_id"] for row in trips if row["route_id"] not in routes}
        calls = read(packed, "stop_times.txt")
    found = {finding.reason: finding for finding in report.findings}

    assert found["trip-without-route"].count == len(lost) == 1
    assert found["call-of-skipped-trip"].count == sum(row["trip_id"] in lost for row in calls)
    nowhere = [line for line, row in enumerate(calls, 2) if row["stop_id"] not in stops and row["trip_id"] not in lost]
    assert found["call-at-unknown-stop"].count == len(nowhere)
    assert [place.line for place in found["call-at-unknown-stop"].places] == nowhere[:5]
    assert found["call-at-unknown-stop"].places[0].column == "stop_id"
