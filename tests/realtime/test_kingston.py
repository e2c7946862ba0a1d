"""The 30 recordings from Kingston (Ontario): every update is applied or counted, with the times of its message."""

from datetime import date

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripUpdate

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from tests.realtime.oracle import Told, expect
from tests.shared_data import get_shared

FEED = "gtfs/kingston/kingston_2026-01.gtfs.zip"
ZONE = "America/Toronto"


@pytest.fixture(scope="module")
def kingston():
    return RealtimeIndex(import_feeds("KINGSTON", [FeedSource(get_shared(FEED))]).timetable)


def recordings():
    return sorted(get_shared("gtfs/kingston/realtime").glob("*.pb"))


def read_all(kingston):
    for path in recordings():
        data = path.read_bytes()
        message = FeedMessage.FromString(data)
        now = message.header.timestamp
        yield message, read_realtime(kingston, [FeedBytes(data, now)], now)


def test_every_update_is_applied_or_counted(kingston):
    reasons = set()
    assert len(recordings()) == 30
    for message, overlay in read_all(kingston):
        assert sum(overlay.counts.values()) == len(message.entity)
        assert overlay.counts["trip-updated"] == len(overlay.rides)
        assert overlay.counts["trip-added"] == len(overlay.added)
        reasons.update(overlay.counts)
    assert reasons == {
        "trip-updated", "trip-added", "trip-without-times", "added-trip-without-two-known-calls"
    }  # fmt: skip


def test_times_agree_with_the_oracle(kingston):
    table = kingston.timetable
    for message, overlay in read_all(kingston):
        updates_of = {
            (each.trip_update.trip.trip_id, each.trip_update.trip.start_date): each.trip_update.stop_time_update
            for each in message.entity
        }
        for (run, day), ride in overlay.rides.items():
            trip, service_day = int(table.trip_departure_trip[run]), date.fromordinal(day)
            rows, start = table.list_stop_times(trip), find_service_day_start(service_day, ZONE)
            times = [table.stop_time_arrival_s[rows] + start, table.stop_time_departure_s[rows] + start]
            updates = {
                update.stop_sequence: update
                for update in updates_of[table.trip_local_id[trip], f"{service_day:%Y%m%d}"]
            }
            planned = list(zip(*(column.tolist() for column in times), strict=True))
            sequences = table.stop_time_sequence[rows].tolist()
            calls = [told_of(updates.get(at), *call) for at, call in zip(sequences, planned, strict=True)]
            found = times[0] + ride.arrival_delay_s, times[1] + ride.departure_delay_s, ride.is_known
            assert list(zip(*(column.tolist() for column in found), strict=True)) == expect(planned, calls, None)
        for ride in overlay.added:
            (updates,) = (told for (trip_id, _), told in updates_of.items() if trip_id == ride.trip_id)
            assert ride.departure.tolist() == [update.departure.time or update.arrival.time for update in updates]


def told_of(update, arrival, departure):
    if update is None:
        return Told()
    if update.schedule_relationship == TripUpdate.StopTimeUpdate.SKIPPED:
        return Told("skipped")
    return Told("times", *(
        event.time - planned if event.time else None
        for event, planned in ((update.arrival, arrival), (update.departure, departure))
    ))  # fmt: skip
