"""Real feeds: the imported trips and service days equal those in the tables, read a second time in plain Python."""

import asyncio
import csv
import io
import os
import random
import zipfile

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.check.import_faults import compare_rows
from fingerpost.transit.check.raw_feed import RawFeed
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from tests.gtfs.boards import compare_boards, list_starts
from tests.gtfs.importing import REAL_FEEDS
from tests.shared_data import get_shared

# Reading these in plain Python takes minutes.
SLOW = {name for name, _ in REAL_FEEDS if name.startswith("nyc/") and "lirr" not in name}


@pytest.mark.parametrize(("name", "day"), REAL_FEEDS, ids=[name for name, _ in REAL_FEEDS])
def test_trips_and_the_departures_of_a_day_equal_those_of_the_tables(name, day):
    path = get_shared(f"gtfs/{name}.gtfs.zip")
    if name in SLOW and not os.environ.get("FINGERPOST_SOAK"):
        pytest.skip("reading the tables a second time, in plain Python, takes minutes: FINGERPOST_SOAK=1")
    imported = import_feeds("real", [FeedSource(path)])
    table, raw = imported.timetable, RawFeed("REAL", path)
    network = EmbeddedNetwork(NetworkRecord(name="REAL"), table)
    trial = Trial(network=network, report=imported.report, feeds=[raw], call_tool=None)
    start = find_service_day_start(day, table.feeds[0].zone)
    runs_on = table.service_runs_on[:, (day - table.calendar_start).days]
    departures = [
        (trip_id, start + shift_s)
        for trip, shift_s in zip(table.trip_departure_trip.tolist(), table.trip_departure_shift_s.tolist(), strict=True)
        if runs_on[table.trip_service[trip]] and (trip_id := table.trip_local_id[trip]) in raw.trips
    ]

    boards = [(raw, stop) for stop in random.Random(18).sample(list(raw.stops), min(10, len(raw.stops)))]

    assert list(compare_rows(trial)) == []
    assert asyncio.run(compare_boards(trial, day, boards)) == []
    assert sorted(departures) == sorted(
        (trip.trip_id, instant) for trip in raw.trips.values() for instant in list_starts(raw, trip, day)
    )
    assert len(departures) > 20
    report = imported.report.feeds[0]
    assert (report.trips, report.events) == (len(table.trip_route), len(table.stop_time_stop))


def read(packed, name):
    return list(csv.DictReader(io.StringIO(packed.read(name).decode("utf-8-sig"))))


def test_a_flex_feed_is_refused_with_the_reason():
    with pytest.raises(FeedUnusable) as caught:
        import_feeds("real", [FeedSource(get_shared("gtfs/small/ctran_flex.gtfs.zip"))])

    assert "trip-on-demand-unsupported (the trip runs on demand (GTFS-Flex)" in caught.value.message
    assert caught.value.hint == "Use a feed with fixed timetables; trips on demand (GTFS-Flex) are not supported"


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
