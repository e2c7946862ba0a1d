"""Several feeds into one draft: row numbers are moved along, and stops that feeds share become one."""

import numpy as np

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.reading import FeedTables
from fingerpost.transit.timetable.draft import ServiceRow, StopRow, TimetableDraft
from fingerpost.transit.timetable.timetable import WHEELCHAIR_UNKNOWN
from fingerpost.transit.timetable.walking import straight_line_m

# Ruling A8: how far apart one stop may lie in two feeds that are given the same FEED.
SAME_STOP_M = 100.0


class Merging:
    """A draft that grows feed by feed."""

    def __init__(self) -> None:
        self.draft = TimetableDraft()
        self._stop_rows: dict[tuple[str, str], int] = {}

    def add(self, tables: FeedTables) -> None:
        """Append one feed's rows.

        Raises:
            FeedUnusable: a stop has the FEED and id of an earlier one, but another name, kind or place.
        """
        draft = self.draft
        feed = len(draft.feeds)
        draft.feeds.append(tables.feed)
        stop_rows = self._add_stops(tables, feed)
        route_base, trip_base, service_base = len(draft.routes), len(draft.trips), len(draft.services)
        draft.routes += [row._replace(feed=feed) for row in tables.routes]
        draft.services += [ServiceRow(feed, frozenset(days)) for days in tables.services]
        draft.trips += [
            row._replace(route=row.route + route_base, service=row.service + service_base) for row in tables.trips
        ]
        draft.runs += [row._replace(trip=row.trip + trip_base) for row in tables.runs]
        draft.transfers += [
            row._replace(from_stop=int(stop_rows[row.from_stop]), to_stop=int(stop_rows[row.to_stop]))
            for row in tables.transfers
        ]
        events = tables.events
        draft.trip_event_count = np.concatenate([draft.trip_event_count, events.per_trip])
        draft.event_stop = np.concatenate([draft.event_stop, stop_rows[events.stop]])
        draft.event_sequence = np.concatenate([draft.event_sequence, events.sequence])
        draft.event_arrival_s = np.concatenate([draft.event_arrival_s, events.arrival_s])
        draft.event_departure_s = np.concatenate([draft.event_departure_s, events.departure_s])
        draft.event_flags = np.concatenate([draft.event_flags, events.flags])
        draft.event_headsign = np.concatenate([draft.event_headsign, events.headsign])

    def _add_stops(self, tables: FeedTables, feed: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Append the stops that are new; return the draft's row of each stop of the feed."""
        draft = self.draft
        name = tables.feed.name
        rows = np.zeros(len(tables.stops), np.int32)
        for index, stop in enumerate(tables.stops):
            known = self._stop_rows.get((name, stop.local_id))
            if known is None:
                known = self._stop_rows[name, stop.local_id] = len(draft.stops)
                draft.stops.append(stop._replace(feed=feed))
            else:
                self._check_same(draft.stops[known], stop, tables)
            rows[index] = known
        for row, stop in zip(rows.tolist(), tables.stops, strict=True):
            first = draft.stops[row]
            added = first.feed == feed
            parent = int(rows[stop.parent]) if stop.parent >= 0 else -1
            draft.stops[row] = first._replace(
                parent=parent if added or first.parent < 0 else first.parent,
                platform=first.platform or stop.platform,
                wheelchair=stop.wheelchair if first.wheelchair == WHEELCHAIR_UNKNOWN else first.wheelchair,
            )
        return rows

    def _check_same(self, first: StopRow, second: StopRow, tables: FeedTables) -> None:
        apart_m = float(straight_line_m(first.lat, first.lon, np.array([second.lat]), np.array([second.lon]))[0])
        if _plain(first.name) == _plain(second.name) and first.kind == second.kind and apart_m <= SAME_STOP_M:
            return
        feeds = self.draft.feeds
        raise FeedUnusable(
            f"Stop {first.local_id} is {first.name!r} in {feeds[first.feed].source} and {second.name!r}, "
            f"{apart_m:.0f} m away, in {tables.feed.source}, but both feeds are called {tables.feed.name}. "
            "Give the feeds different names: NAME=PATH.",
            {"stop": first.local_id, "feed": tables.feed.name},
        )


def _plain(name: str) -> str:
    """Return a name without case, blanks and punctuation, which publishers' feeds differ in from file to file."""
    return "".join(filter(str.isalnum, name.casefold()))
