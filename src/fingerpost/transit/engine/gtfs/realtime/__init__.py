"""Reads GTFS-Realtime messages into an overlay over the timetable.

Nothing in a message is fatal. What is not applied is counted by reason; the reasons are in outcomes.py.
"""

from collections.abc import Sequence

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes, find_timestamp
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, RealtimeReader
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable

__all__ = ["CLOCK_SKEW_S", "FeedBytes", "RealtimeIndex", "find_timestamp", "read_realtime"]


def read_realtime(timetable: Timetable, index: RealtimeIndex, messages: Sequence[FeedBytes], now: int) -> Overlay:
    """Read messages into an overlay for a moment (Unix seconds); of two that speak of one ride the newer counts."""
    reading = RealtimeReader(timetable, index, now)
    for message in messages:
        reading.add(message)
    return reading.finish()
