"""Names of the rides that the timetable does not have, and which of them a trip descriptor means."""

from collections.abc import Iterable
from typing import NamedTuple

from google.transit.gtfs_realtime_pb2 import TripDescriptor

from fingerpost.transit.engine.gtfs.csv import find_time_s
from fingerpost.transit.engine.gtfs.realtime.messages import plain_text
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome
from fingerpost.transit.engine.gtfs.realtime.trip_matching import TripMatcher


class AddedKey(NamedTuple):
    """What names an added ride: row of its feed, trip id, service day as an ordinal, start time as written."""

    feed: int
    trip_id: str
    day: int
    start_time: str


class AddedKeys:
    """The added rides of all messages, by trip id."""

    def __init__(self, keys: Iterable[AddedKey]) -> None:
        self._by_id: dict[str, list[AddedKey]] = {}
        for key in dict.fromkeys(keys):
            self._by_id.setdefault(key.trip_id, []).append(key)

    def find(self, trip: TripDescriptor, matcher: TripMatcher) -> list[AddedKey] | EntityOutcome:
        """Return the rides that bear a trip's id, on its day and at its time where these are stated."""
        named = self._by_id.get(plain_text(trip.trip_id)) if trip.trip_id else None
        if not named:
            return []
        day, start_time = matcher.read_day(trip.start_date), plain_text(trip.start_time)
        found = [
            key
            for key in named
            if key.feed in matcher.scope.feeds and day in (None, key.day) and _is_same_time(start_time, key.start_time)
        ]
        if len({matcher.index.feed_names[key.feed] for key in found}) > 1:
            return matcher.refuse_shared(trip.trip_id)
        return found


def _is_same_time(stated: str, other: str) -> bool:
    return not stated or not other or find_time_s(stated) == find_time_s(other)
