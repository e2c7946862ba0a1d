"""Departures and arrivals at stops, read from the tables of GTFS feeds; shares no code with the import."""

import math
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.check.raw_feed import RawFeed
from tests.riders.feed_tables import NO_ALIGHTING, NO_BOARDING, midnight, seconds
from tests.rules.drawing import DEGREE_M

DAY, AROUND, NIGHT_ENDS_H = timedelta(days=1), timedelta(days=40), 4


class FeedScan:
    """``places`` has the positions of stops, ``members`` the stops of stops and stations, ``days`` those of feeds.

    Times are those of the days around ``now``, and of the first and last two days of each service.
    """

    def __init__(self, feeds, now):
        self._today = now.date()
        self.places, self.members, self.days, self.zone = {}, defaultdict(list), {}, None
        self._times, self._starts = defaultdict(list), {}
        for feed, path in feeds:
            self._read(RawFeed(feed, path))

    def _read(self, raw):
        feed, self.zone = raw.name, self.zone or raw.zone
        stops = {row["stop_id"]: row for row in raw.read_rows("stops.txt")}
        for stop, row in stops.items():
            if row["location_type"] in ("", "0"):
                self.places[f"{feed}:{stop}"] = float(row["stop_lat"]), float(row["stop_lon"])
                for place in {stop, row["parent_station"]} & stops.keys():
                    self.members[f"{feed}:{place}"].append(f"{feed}:{stop}")
        routes = {row["route_id"] for row in raw.read_rows("routes.txt")}
        trips = {row["trip_id"]: row for row in raw.read_rows("trips.txt") if row["route_id"] in routes}
        linked = {row[end] for row in raw.read_rows("transfers.txt") for end in ("from_trip_id", "to_trip_id")}
        calls, starts, days = defaultdict(list), defaultdict(list), raw.service_days
        for row in raw.read_rows("stop_times.txt"):
            if row["trip_id"] in trips and f"{feed}:{row['stop_id']}" in self.places:
                calls[row["trip_id"]].append(self._read_call(feed, row))
        for row in raw.read_rows("frequencies.txt"):
            every = range(seconds(row["start_time"]), seconds(row["end_time"]), int(row["headway_secs"]))
            starts[row["trip_id"]] += every
        self.days[feed] = {day for row in trips.values() for day in days.get(row["service_id"], ())}
        for service, running in days.items():
            ordered = sorted(running)
            kept = {day for day in ordered if abs(day - self._today) <= AROUND}.union(ordered[:2], ordered[-2:])
            self._starts[feed, service] = np.array([midnight(day, self.zone) for day in kept], np.int64)
        for trip, its in calls.items():
            its.sort(key=lambda call: call[0])
            if len(its) > 1 and None not in (its[0][2], its[-1][2]):
                self._interpolate(its)
                shifts = [start - its[0][3] for start in starts[trip]] if trip in starts else [0]
                is_joined = trip in linked or bool(trips[trip]["block_id"])
                self._add((feed, trips[trip]["service_id"]), its, shifts, is_joined=is_joined)

    @staticmethod
    def _read_call(feed, row):
        flags = (row["pickup_type"] == "1") * NO_BOARDING + (row["drop_off_type"] == "1") * NO_ALIGHTING
        texts = [row["arrival_time"] or row["departure_time"], row["departure_time"] or row["arrival_time"]]
        times = [seconds(text if text.count(":") == 2 else f"{text}:0") if text else None for text in texts]
        return [int(row["stop_sequence"]), f"{feed}:{row['stop_id']}", *times, flags]

    def _interpolate(self, calls):
        """Fill in missing times by straight-line distance."""
        known = [at for at, call in enumerate(calls) if call[2] is not None]
        for before, after in pairwise(known):
            steps = [plane_m(*(self.places[call[1]] for call in calls[at : at + 2])) for at in range(before, after)]
            steps = steps if sum(steps) >= 1 else [1] * len(steps)
            start, end = calls[before][3], calls[after][2]
            for at in range(before + 1, after):
                share = sum(steps[: at - before]) / sum(steps)
                calls[at][2] = calls[at][3] = start + math.floor((end - start) * share + 1e-3)

    def _add(self, service, calls, shifts, *, is_joined):
        """Add the times of a trip; a rider needs another call to alight or board at, or may stay seated."""
        last = max((at for at, call in enumerate(calls) if not call[4] & NO_ALIGHTING), default=-1)
        first = min((at for at, call in enumerate(calls) if not call[4] & NO_BOARDING), default=len(calls))
        for at, (_, stop, arrival, departure, flags) in enumerate(calls):
            if not flags & NO_BOARDING and (at < last or (is_joined and at + 1 < len(calls))):
                self._times[stop, False].append((service, at < last, [departure + shift for shift in shifts]))
            if not flags & NO_ALIGHTING and (at > first or (is_joined and at > 0)):
                self._times[stop, True].append((service, at > first, [arrival + shift for shift in shifts]))

    def list_times(self, stops, *, arrivals):
        """Return the instants of all departures or arrivals, and of those that do not rely on staying seated."""
        found = [
            (is_sure, np.add.outer(np.array(times, np.int64), self._starts[service]).ravel())
            for stop in stops
            for service, is_sure, times in self._times[stop, arrivals]
            if service in self._starts
        ]
        none = np.zeros(0, np.int64)
        return [
            np.unique(np.concatenate([none, *(t for sure, t in found if sure or every)])) for every in (True, False)
        ]

    def has_service(self, stop, instant):
        """Whether the feed of a stop runs on the day of an instant; early in the morning, the day before counts too."""
        night = datetime.fromtimestamp(instant, ZoneInfo(self.zone)).hour < NIGHT_ENDS_H
        return bool({self.to_date(instant), self.to_date(instant) - DAY * night} & self.days[stop.partition(":")[0]])

    def to_date(self, instant):
        return datetime.fromtimestamp(instant, ZoneInfo(self.zone)).date()


def plane_m(one, other):
    lat, lon = other
    return math.hypot(lat - one[0], (lon - one[1]) * math.cos(math.radians(lat))) * DEGREE_M
