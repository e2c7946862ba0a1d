"""The 30 recordings from Kingston (Ontario): every update is applied or counted, with the times of its message."""

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from tests.shared_data import get_shared

FEED = "gtfs/kingston/kingston_2026-01.gtfs.zip"


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
