"""Real feeds: what is imported equals what the tables say, counted here straight from the files."""

import csv
import io
import zipfile
from collections import Counter
from datetime import date

import pytest

from fingerpost.transit.gtfs.importer import FeedSource, import_feeds
from tests.shared_data import get_shared

FEEDS = [
    ("helsinki/hsl_centre_2022-02-22.gtfs.zip", date(2022, 2, 22)),
    ("tampere/tampere_nysse_2021-22.gtfs.zip", date(2022, 2, 15)),
    # A holiday, on which calendar_dates.txt exchanges the services.
    ("small/caltrain.gtfs.zip", date(2018, 7, 4)),
    ("kingston/kingston_2026-01.gtfs.zip", date(2026, 1, 15)),
]


def read(packed, name):
    if name not in packed.namelist():
        return []
    return list(csv.DictReader(io.StringIO(packed.read(name).decode("utf-8-sig"))))


def seconds(text):
    hours, minutes, rest = text.strip().split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)


def runs_on(packed, day):
    """Return the ids of the services that run on a day."""
    weekday = day.strftime("%A").lower()
    running = {
        row["service_id"]
        for row in read(packed, "calendar.txt")
        if row["start_date"] <= f"{day:%Y%m%d}" <= row["end_date"] and row[weekday] == "1"
    }
    for row in read(packed, "calendar_dates.txt"):
        if row["date"] == f"{day:%Y%m%d}":
            (running.add if row["exception_type"] == "1" else running.discard)(row["service_id"])
    return running


def told_by_tables(path, day):
    """Return the counts of a feed and the departures (stop, second) of a day."""
    with zipfile.ZipFile(path) as packed:
        calls = {}
        for row in read(packed, "stop_times.txt"):
            call = (int(row["stop_sequence"]), row["stop_id"], seconds(row["departure_time"]))
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
            "stops": len(read(packed, "stops.txt")),
            "routes": len(read(packed, "routes.txt")),
            "trips": len(calls),
            "runs": runs,
            "events": sum(map(len, calls.values())),
        }
    return counts, departures


def told_by_timetable(table, day):
    """Return the same of an imported timetable."""
    stop_ids = list(table.stop_local_id)
    column = (day - table.calendar_start).days
    departures = Counter()
    for trip, shift_s in zip(table.run_trip.tolist(), table.run_shift_s.tolist(), strict=True):
        if table.service_runs_on[table.trip_service[trip], column]:
            events = slice(table.trip_first_event[trip], table.trip_first_event[trip + 1])
            stops, times_s = table.event_stop[events].tolist(), table.event_departure_s[events].tolist()
            departures.update((stop_ids[stop], at + shift_s) for stop, at in zip(stops, times_s, strict=True))
    counts = {
        "stops": table.stop_count,
        "routes": len(table.route_type),
        "trips": len(table.trip_route),
        "runs": len(table.run_trip),
        "events": len(table.event_stop),
    }
    return counts, departures


@pytest.mark.parametrize(("name", "day"), FEEDS, ids=[name.partition("/")[0] for name, _ in FEEDS])
def test_import_equals_the_tables(name, day):
    """Counts, and every departure of one service day, are those of the feed's own tables."""
    path = get_shared(f"gtfs/{name}")
    imported = import_feeds("real", [FeedSource(path)])
    counts, departures = told_by_tables(path, day)

    assert told_by_timetable(imported.timetable, day) == (counts, departures)
    report = imported.report.feeds[0]
    assert {name: getattr(report, name) for name in counts} == counts
    assert departures.total() > 500
