"""Merge the timetable drafts of several feeds; stops with the same FEED and id are merged (rule A8)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv.findings import Findings, Reason
from fingerpost.transit.engine.gtfs.csv.table import IdIndex
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.draft import StopRow, TimetableDraft
from fingerpost.transit.engine.timetable.stop_ids import SAME_STOP_M
from fingerpost.transit.engine.timetable.timetable import WHEELCHAIR_UNKNOWN, Int32
from fingerpost.transit.engine.timetable.walks import straight_line_m

# Stops with the same id but different names are merged if they are this close and the names this similar (0-100).
SAME_POSITION_M = 30.0
MIN_NAME_SIMILARITY = 60.0

_EMPTY = TimetableDraft()
# The tables that are stored as columns.
_TABLES = [field.name for field in fields(TimetableDraft) if isinstance(getattr(_EMPTY, field.name), tuple)]
# The tables to which row numbers refer, keyed by column.
_REFERENCED_TABLES = {
    **dict.fromkeys(("from_stop", "to_stop", "begin", "end", "stop"), "stops"),
    **dict.fromkeys(("route", "from_route", "to_route"), "routes"),
    **dict.fromkeys(("trip", "from_trip", "to_trip"), "trips"),
    **dict.fromkeys(("from_departure", "to_departure"), "trip_departures"),
    "service": "services",
    "shape": "shapes",
    "first": "points",
}


class FeedMerger:
    def __init__(self) -> None:
        self._draft = TimetableDraft()
        self._stop_rows: dict[tuple[str, str], int] = {}
        # The columns of each feed, keyed by table and column name.
        self._columns: dict[tuple[str, str], list[npt.NDArray[Any] | TextColumn]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, feed: TimetableDraft, findings: Findings) -> None:
        """Append the rows of one feed."""
        draft, counts = self._draft, self._counts
        row = len(draft.feeds)
        draft.feeds += feed.feeds
        stop_rows = self._add_stops(feed, row, findings)
        draft.routes += [route._replace(feed=row) for route in feed.routes]
        draft.services += [service._replace(feed=row) for service in feed.services]
        _add_names(draft.stop_names, feed.stop_names, stop_rows.tolist())
        _add_names(draft.route_names, feed.route_names, range(counts["routes"], len(draft.routes)))
        for language, texts in feed.headsign_names.items():
            draft.headsign_names.setdefault(language, {}).update(texts)
        for table in _TABLES:
            for name, values in getattr(feed, table)._asdict().items():
                self._append(table, name, values, stop_rows)
        self._append("trips", "stop_time_count", feed.trip_stop_time_count, stop_rows)
        counts["routes"], counts["services"] = len(draft.routes), len(draft.services)
        counts["trips"] += len(feed.trips.route)
        counts["trip_departures"] += len(feed.trip_departures.trip)
        counts["shapes"] += len(feed.shapes.first) - 1
        counts["points"] += len(feed.shapes.lat_udeg)

    def finish(self, headsigns: IdIndex) -> TimetableDraft:
        draft = self._draft
        draft.headsigns = headsigns.to_texts()
        for table in _TABLES:
            type_ = type(getattr(draft, table))
            setattr(draft, table, type_._make(self._join(table, name) for name in type_._fields))
        draft.shapes = draft.shapes._replace(first=np.append(draft.shapes.first, self._counts["points"]))
        draft.trip_stop_time_count = self._join("trips", "stop_time_count")
        return draft

    def _append(self, table: str, name: str, values: Any, stop_rows: Int32) -> None:
        """Append a column of a feed, with its row numbers converted to those of the draft (-1 stays -1)."""
        target_table = _REFERENCED_TABLES.get(name)
        if target_table == "stops":
            values = stop_rows[values]
        elif target_table == "points":
            values = values[:-1] + self._counts["points"]
        elif target_table is not None:
            values = np.where(values >= 0, values + self._counts[target_table], -1).astype(np.int32)
        self._columns.setdefault((table, name), []).append(values)

    def _join(self, table: str, name: str) -> Any:
        parts: list[Any] = self._columns.pop((table, name))
        if isinstance(parts[0], TextColumn):
            return TextColumn.concatenate(parts)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _add_stops(self, feed: TimetableDraft, row: int, findings: Findings) -> Int32:
        """Add the stops that are not in any earlier feed with the same FEED name; return the row of each stop."""
        draft = self._draft
        name = feed.feeds[0].name
        rows = np.zeros(len(feed.stops), np.int32)
        for index, stop in enumerate(feed.stops):
            draft_row = self._stop_rows.get((name, stop.local_id))
            if draft_row is None:
                draft_row = self._stop_rows[name, stop.local_id] = len(draft.stops)
                draft.stops.append(stop._replace(feed=row))
            else:
                self._check_same_stop(draft.stops[draft_row], stop, findings)
            rows[index] = draft_row
        for draft_row, stop in zip(rows.tolist(), feed.stops, strict=True):
            first = draft.stops[draft_row]
            is_new = first.feed == row
            if is_new and stop.parent < 0:
                continue
            parent = int(rows[stop.parent]) if stop.parent >= 0 else -1
            draft.stops[draft_row] = first._replace(
                parent=parent if is_new or first.parent < 0 else first.parent,
                platform=first.platform or stop.platform,
                wheelchair=stop.wheelchair if first.wheelchair == WHEELCHAIR_UNKNOWN else first.wheelchair,
            )
        return rows

    def _check_same_stop(self, first: StopRow, second: StopRow, findings: Findings) -> None:
        """Check that stops with the same id in two feeds have matching names and positions (rule A8).

        Similar names are accepted and reported if the stops are close, because publishers abbreviate names.
        """
        distance_m = float(straight_line_m(first.lat, first.lon, np.array([second.lat]), np.array([second.lon]))[0])
        if first.kind == second.kind:
            if _normalize_name(first.name) == _normalize_name(second.name) and distance_m <= SAME_STOP_M:
                return
            similarity = fuzz.token_set_ratio(first.name, second.name, processor=default_process)
            if distance_m <= SAME_POSITION_M and similarity >= MIN_NAME_SIMILARITY:
                findings.add(Reason.STOP_NAMED_OTHERWISE_IN_EARLIER_FEED_ASSUMED, "stops.txt", 0, "stop_name")
                return
        feeds = self._draft.feeds
        raise FeedUnusable(
            f"Stop {first.local_id} is {first.name!r} in {feeds[first.feed].source} and {second.name!r}, "
            f"{distance_m:.0f} m away, in {feeds[-1].source}, but both feeds are called {feeds[-1].name}",
            {"stop": first.local_id, "feed": feeds[-1].name},
            hint="Give the feeds different names: NAME=PATH",
        )


def _add_names(names: dict[str, dict[int, str]], added: Mapping[str, Mapping[int, str]], rows: Sequence[int]) -> None:
    for language, added_names in added.items():
        names_by_row = names.setdefault(language, {})
        for row, name in added_names.items():
            names_by_row.setdefault(rows[row], name)


def _normalize_name(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
