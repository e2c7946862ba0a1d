"""The 30 recordings from Kingston (Ontario): every update is applied or counted, with the times of its message.

What is expected is worked out here from the tables and the messages alone.
"""

import csv
import io
import zipfile
from collections import defaultdict
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from tests.shared_data import get_shared

FEED = "gtfs/kingston/kingston_2026-01.gtfs.zip"
ZONE = "America/Toronto"
SKIPPED = TripUpdate.StopTimeUpdate.SKIPPED


@pytest.fixture(scope="module")
def kingston():
    timetable = import_feeds("KINGSTON", [FeedSource(get_shared(FEED))]).timetable
    return timetable, RealtimeIndex(timetable)


@pytest.fixture(scope="module")
def planned():
    calls = defaultdict(dict)
    with zipfile.ZipFile(get_shared(FEED)) as archive, archive.open("stop_times.txt") as table:
        for row in csv.DictReader(io.TextIOWrapper(table, "utf-8-sig")):
            times = (seconds(row["arrival_time"]), seconds(row["departure_time"]))
            calls[row["trip_id"]][int(row["stop_sequence"])] = (row["stop_id"], *times)
    return calls


def seconds(text: str) -> int:
    hours, minutes, rest = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + rest


def recordings():
    return sorted(get_shared("gtfs/kingston/realtime").glob("*.pb"))


def parsed(data: bytes) -> FeedMessage:
    message = FeedMessage()
    message.ParseFromString(data)
    return message


def read_all(kingston):
    for path in recordings():
        data = path.read_bytes()
        message = parsed(data)
        now = message.header.timestamp
        yield message, read_realtime(*kingston, [FeedBytes(data, now)], now)


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


def test_boards_match_the_texts(kingston, planned):
    timetable, _ = kingston
    for message, overlay in read_all(kingston):
        assert board_of(timetable, overlay) == board_by_hand(message, planned)


def board_of(timetable, overlay):
    board = defaultdict(list)
    for (run, day), ride in overlay.rides.items():
        trip = int(timetable.trip_departure_trip[run])
        begin = int(timetable.trip_first_stop_time[trip])
        start = find_service_day_start(datetime.fromordinal(day).date(), ZONE)
        for row, delay_s in enumerate(ride.departure_delay_s.tolist()):
            if ride.is_known[row] and not ride.is_skipped[row]:
                stop = timetable.stop_local_id[int(timetable.stop_time_stop[begin + row])]
                departure = start + int(timetable.stop_time_departure_s[begin + row]) + delay_s
                board[stop].append((departure, timetable.trip_local_id[trip]))
    for ride in overlay.added:
        for stop, departure, skipped in zip(ride.stop.tolist(), ride.departure, ride.is_skipped, strict=True):
            if not skipped:
                board[timetable.stop_local_id[stop]].append((int(departure), ride.trip_id))
    return {stop: sorted(rows) for stop, rows in board.items()}


def board_by_hand(message, planned):
    """Return the same from the message and the tables: a time that is told holds, a delay is carried onwards."""
    board = defaultdict(list)
    for entity in message.entity:
        trip, updates = entity.trip_update.trip, entity.trip_update.stop_time_update
        if trip.schedule_relationship == TripDescriptor.ADDED:
            if len(updates) > 1:
                for update in updates:
                    departure = update.departure.time or update.arrival.time
                    board[update.stop_id].append((departure, trip.trip_id))
            continue
        noon = datetime.strptime(trip.start_date, "%Y%m%d").replace(hour=12, tzinfo=ZoneInfo(ZONE))
        midnight = int(noon.timestamp()) - 12 * 3600
        told = {update.stop_sequence: update for update in updates}
        carried_s = None
        for sequence, (stop, arrival_s, departure_s) in sorted(planned[trip.trip_id].items()):
            update = told.get(sequence)
            if update is not None and update.schedule_relationship == SKIPPED:
                continue
            if update is not None and update.departure.time:
                carried_s = update.departure.time - midnight - departure_s
            elif update is not None:
                carried_s = update.arrival.time - midnight - arrival_s
            if carried_s is not None:
                board[stop].append((midnight + departure_s + carried_s, trip.trip_id))
    return {stop: sorted(rows) for stop, rows in board.items()}
