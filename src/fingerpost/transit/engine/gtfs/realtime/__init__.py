"""Read GTFS-Realtime messages into an overlay on the timetable.

``read_realtime`` raises no errors for faulty messages; it counts the entities by ``EntityOutcome``.
"""

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes, find_timestamp
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex

__all__ = ["CLOCK_SKEW_S", "FeedBytes", "RealtimeIndex", "find_timestamp", "read_realtime"]
