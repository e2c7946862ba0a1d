"""Read GTFS-Realtime messages into an overlay over the timetable.

Nothing in a message is fatal. What is not applied is counted by reason; outcomes.py lists the reasons.
"""

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes, find_timestamp
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex

__all__ = ["CLOCK_SKEW_S", "FeedBytes", "RealtimeIndex", "find_timestamp", "read_realtime"]
