"""Whole messages: damaged, from the future, for another feed, or in another version."""

import pytest
from google.transit.gtfs_realtime_pb2 import FeedEntity, FeedHeader

from fingerpost.transit.engine.gtfs.realtime import messages
from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import NOW, call, draw, message, read_bytes, update

ONE_LINE = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10")
INDEX = RealtimeIndex(ONE_LINE)
LATE = update("A-1", call("BETA", 60, 60))
SOUND = message(
    LATE,
    update("A-1", relationship="CANCELED", day="20260311"),
    update("EXTRA", call("ALPHA", "08:05"), call("BETA", "08:09"), relationship="ADDED"),
    update("A-1", call("BETA", sequence=2, relationship="SKIPPED"), day="20260312", route_id="A"),
)


@pytest.mark.parametrize("data", [b"", b"<html>Bad gateway</html>", b"\0" * 40, SOUND[:-1], SOUND[: len(SOUND) // 2]])
def test_an_invalid_message_is_counted(data):
    told = read_bytes(ONE_LINE, data, message(LATE))
    assert draw(ONE_LINE, told) == "Alpha 08:00 ? | Beta 08:11"
    assert dict(told.counts) == {"trip-updated": 1}


@pytest.mark.parametrize(
    ("ahead_s", "outcome", "timestamp"),
    [(0, "trip-updated", NOW), (CLOCK_SKEW_S, "trip-updated", NOW), (CLOCK_SKEW_S + 1, "from-the-future", None)],
)
def test_a_clock_may_be_a_little_ahead(ahead_s, outcome, timestamp):
    told = read_bytes(ONE_LINE, message(LATE, timestamp=NOW + ahead_s))
    assert (dict(told.counts), told.timestamp) == ({outcome: 1}, timestamp)
    assert told.has_future_messages == (timestamp is None)


def test_a_message_of_too_many_stop_times_is_refused_before_it_is_parsed(monkeypatch):
    """Ten megabytes of empty ones take a gigabyte and many seconds once parsed."""
    monkeypatch.setattr(messages, "MAX_PARTS", 5)
    with pytest.raises(ValueError, match="more than 5 stop times and other parts, which is too large"):
        messages.find_timestamp(message(update("A-1", *(5 * [call("BETA")]))))


def test_without_a_timestamp_the_time_of_receipt_applies():
    told = read_realtime(INDEX, [FeedBytes(message(LATE, timestamp=0), NOW - 30)], NOW)
    assert (told.timestamp, [ride.updated for ride in told.rides.values()]) == (NOW - 30, [NOW - 30])


SHAPE = FeedEntity(id="shape")
SHAPE.shape.shape_id = "S"


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        (message(update("X-1", call("Y", 60)), update("X-2", relationship="CANCELED")), {"trip-unknown": 2}),
        (
            message(LATE, FeedEntity(id="gone", is_deleted=True), incrementality=FeedHeader.DIFFERENTIAL),
            {"entity-deleted": 1, "trip-updated": 1},
        ),
        (message(SHAPE, FeedEntity(id="bare")), {"kind-not-read": 2}),
        # Bytes that are not UTF-8 come out of the bindings as bytes.
        (
            SOUND.replace(b"A-1", b"\xff\xfe1").replace(b"BETA", b"\xff\xff\xff\xff"),
            {"added-trip-without-two-known-calls": 1, "trip-unknown": 3},
        ),
    ],
    ids=["of another feed", "differential", "other kinds", "ids other than text"],
)
def test_entities_that_cannot_be_applied_are_counted(data, counts):
    told = read_bytes(ONE_LINE, data)
    assert (dict(told.counts), told.is_empty) == (counts, "trip-updated" not in counts)
