"""Which feeds a question is about, and which of them have no service on its day."""

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.engine.raptor.arrays import Bool
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.model.place import Bounds, Coordinate
from fingerpost.transit.model.provenance import FeedVersion, OutOfService, ServiceState

# Before this hour of a day, the trips of the day before still run.
NIGHT_ENDS_H = 4


class FeedServices:
    """The feeds of a timetable by place and by day. Thread-safe: what is worked out twice is the same."""

    def __init__(self, timetable: Timetable, feeds: Sequence[FeedVersion], zone: str) -> None:
        self._timetable = timetable
        self._feeds = feeds
        self._zone = ZoneInfo(zone)
        self._served = lru_cache(maxsize=None)(self._find_served)
        self._bounds = lru_cache(maxsize=None)(self._find_bounds)

    def list_out_around(self, instant: int, ends: Sequence[Coordinate], margin_deg: float) -> tuple[OutOfService, ...]:
        """Return the feeds without service at an instant whose area meets the box around the ends of a trip.

        The box reaches ``margin_deg`` degrees of latitude further on each side.
        """
        lats, lons = [end.lat for end in ends], [end.lon for end in ends]
        south, north = min(lats) - margin_deg, max(lats) + margin_deg
        margin_lon_deg = margin_deg / max(0.01, math.cos(math.radians(max(map(abs, lats)))))
        west, east = min(lons) - margin_lon_deg, max(lons) + margin_lon_deg

        def concerns(row: int) -> bool:
            own = self._bounds(row)
            return own.south <= north and own.north >= south and own.west <= east and own.east >= west

        return tuple(out for row, out in self._list_out(instant) if concerns(row))

    def list_out_at(self, instant: int, stops: Sequence[int]) -> tuple[OutOfService, ...]:
        """Return the feeds without service at an instant whose trips call, on other days, at any of some stops."""
        return tuple(out for row, out in self._list_out(instant) if self._served(row)[list(stops)].any())

    def _list_out(self, instant: int) -> list[tuple[int, OutOfService]]:
        local = datetime.fromtimestamp(instant, self._zone)
        day = local.date()
        days = [day, day - timedelta(days=1)] if local.hour < NIGHT_ENDS_H else [day]
        return [(row, OutOfService(feed, day)) for row, feed in enumerate(self._feeds) if not _runs_on_any(feed, days)]

    def _find_served(self, feed: int) -> Bool:
        table = self._timetable
        of_feed = table.route_feed[table.trip_route] == feed
        is_own = np.repeat(of_feed, np.diff(table.trip_first_stop_time))
        served = np.zeros(table.stop_count, np.bool_)
        served[table.stop_time_stop[is_own]] = True
        return served

    def _find_bounds(self, feed: int) -> Bounds:
        served = self._served(feed)
        lats, lons = self._timetable.stop_lat[served], self._timetable.stop_lon[served]
        return Bounds(south=float(lats.min()), north=float(lats.max()), west=float(lons.min()), east=float(lons.max()))


def _runs_on_any(feed: FeedVersion, days: Sequence[date]) -> bool:
    return any(feed.service.state_on(day) is ServiceState.IN_SERVICE for day in days)
