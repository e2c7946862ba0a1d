"""Several feeds into one draft: row numbers are moved along, and stops that feeds share become one."""

from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.csv import Findings, IdIndex, Reason
from fingerpost.transit.gtfs.reading import FeedTables
from fingerpost.transit.gtfs.translations import Names
from fingerpost.transit.timetable.draft import (
    InSeatColumns,
    NarrowTransferColumns,
    PathwayColumns,
    RunColumns,
    ServiceRow,
    ShapeColumns,
    StopRow,
    TimetableDraft,
    TransferColumns,
    TripColumns,
)
from fingerpost.transit.timetable.text import TextColumn
from fingerpost.transit.timetable.timetable import WHEELCHAIR_UNKNOWN, Int32
from fingerpost.transit.timetable.walking import straight_line_m

# Ruling A8: how far apart one stop may lie in two feeds that are given the same FEED.
SAME_STOP_M = 100.0
# Where the names differ, one stop may not be further apart than this, and the names must share their words in part.
SAME_SPOT_M = 30.0
ALIKE = 60.0


class Merging:
    """A draft that grows feed by feed."""

    def __init__(self) -> None:
        self._draft = TimetableDraft()
        self._stop_rows: dict[tuple[str, str], int] = {}
        self._columns: dict[str, list[Any]] = {}
        self._trip_count = self._run_count = self._shape_count = self._point_count = 0
        self._headsign_names: dict[str, dict[str, str]] = {}
        self._optional: dict[str, list[tuple[int, npt.NDArray[Any] | None]]] = {}

    def add(self, tables: FeedTables, findings: Findings) -> None:
        """Append one feed's rows.

        Raises:
            FeedUnusable: a stop has the FEED and id of an earlier one, but another name, kind or place.
        """
        draft, trips = self._draft, tables.trips
        feed, route_base, service_base = len(draft.feeds), len(draft.routes), len(draft.services)
        draft.feeds.append(tables.feed)
        draft.fare_books.append(tables.fare_book)
        stop_rows = self._add_stops(tables, feed, findings)
        draft.routes += [row._replace(feed=feed) for row in tables.routes]
        draft.services += [ServiceRow(feed, days) for days in tables.services]
        self._append(
            trip_id=trips.local_id,
            trip_route=trips.route + route_base,
            trip_service=trips.service + service_base,
            trip_headsign=trips.headsign,
            trip_wheelchair=trips.wheelchair,
            trip_direction=trips.direction,
            trip_shape=np.where(trips.shape >= 0, trips.shape + self._shape_count, -1).astype(np.int32),
            run_trip=tables.runs.trip + self._trip_count,
            run_shift_s=tables.runs.shift_s,
            run_headway_s=tables.runs.headway_s,
            transfer_from=stop_rows[tables.transfers.from_stop],
            transfer_to=stop_rows[tables.transfers.to_stop],
            transfer_type=tables.transfers.type,
            transfer_min_s=tables.transfers.min_s,
            pathway_from=stop_rows[tables.pathways.from_stop],
            pathway_to=stop_rows[tables.pathways.to_stop],
            pathway_s=tables.pathways.seconds,
            **self._linked(tables, stop_rows, route_base, service_base),
            shape_first=tables.shapes.first[:-1] + self._point_count,
            shape_lat=tables.shapes.lat_udeg,
            shape_lon=tables.shapes.lon_udeg,
            event_count=tables.events.per_trip,
            event_stop=stop_rows[tables.events.stop],
            event_sequence=tables.events.sequence,
            event_arrival_s=tables.events.arrival_s,
            event_departure_s=tables.events.departure_s,
            event_flags=tables.events.flags,
        )
        for name, values in (
            ("event_headsign", tables.events.headsign),
            ("event_shape_point", tables.event_shape_point),
        ):
            self._optional.setdefault(name, []).append((len(tables.events.stop), values))
        self._trip_count += len(trips.route)
        self._run_count += len(tables.runs.trip)
        self._shape_count += len(tables.shapes.first) - 1
        self._point_count += len(tables.shapes.lat_udeg)
        _add_names(draft.stop_names, tables.translations.stops, stop_rows.tolist())
        _add_names(draft.route_names, tables.translations.routes, range(route_base, len(draft.routes)))
        for language, names in tables.translations.headsigns.items():
            self._headsign_names.setdefault(language, {}).update(names)

    def _linked(
        self, tables: FeedTables, stop_rows: Int32, route_base: int, service_base: int
    ) -> dict[str, npt.NDArray[Any]]:
        """Return a feed's narrow transfers and in-seat transfers, under the draft's rows."""
        narrow, in_seat = tables.narrow_transfers, tables.in_seat
        return {
            "narrow_from_stop": stop_rows[narrow.from_stop],
            "narrow_to_stop": stop_rows[narrow.to_stop],
            "narrow_from_route": _moved(narrow.from_route, route_base),
            "narrow_to_route": _moved(narrow.to_route, route_base),
            "narrow_from_trip": _moved(narrow.from_trip, self._trip_count),
            "narrow_to_trip": _moved(narrow.to_trip, self._trip_count),
            "narrow_type": narrow.type,
            "narrow_min_s": narrow.min_s,
            "in_seat_from_run": in_seat.from_run + self._run_count,
            "in_seat_to_run": in_seat.to_run + self._run_count,
            "in_seat_days_later": in_seat.days_later,
            "in_seat_service": _moved(in_seat.service, service_base),
        }

    def finish(self, headsigns: IdIndex) -> TimetableDraft:
        """Return the draft, whole. Nothing can be added after."""
        draft = self._draft
        draft.headsign_column = headsigns.to_texts()
        for language, names in self._headsign_names.items():
            texts = enumerate(draft.headsign_column)
            draft.headsign_names[language] = {row: names[text] for row, text in texts if text in names}
        draft.trip_columns = TripColumns(
            local_id=TextColumn.joined(self._columns.pop("trip_id")),
            route=self._whole("trip_route"),
            service=self._whole("trip_service"),
            headsign=self._whole("trip_headsign"),
            wheelchair=self._whole("trip_wheelchair"),
            direction=self._whole("trip_direction"),
            shape=self._whole("trip_shape"),
        )
        draft.run_columns = RunColumns(
            trip=self._whole("run_trip"), shift_s=self._whole("run_shift_s"), headway_s=self._whole("run_headway_s")
        )
        draft.transfer_columns = TransferColumns(
            from_stop=self._whole("transfer_from"),
            to_stop=self._whole("transfer_to"),
            type=self._whole("transfer_type"),
            min_s=self._whole("transfer_min_s"),
        )
        draft.pathways = PathwayColumns(*(self._whole(f"pathway_{part}") for part in ("from", "to", "s")))
        draft.narrow_transfers = NarrowTransferColumns(
            **{name: self._whole(f"narrow_{name}") for name in NarrowTransferColumns.__slots__}
        )
        draft.in_seat = InSeatColumns(**{name: self._whole(f"in_seat_{name}") for name in InSeatColumns.__slots__})
        draft.shapes = ShapeColumns(
            first=np.append(self._whole("shape_first"), self._point_count),
            lat_udeg=self._whole("shape_lat"),
            lon_udeg=self._whole("shape_lon"),
        )
        draft.trip_event_count = self._whole("event_count")
        draft.event_stop = self._whole("event_stop")
        draft.event_sequence = self._whole("event_sequence")
        draft.event_arrival_s = self._whole("event_arrival_s")
        draft.event_departure_s = self._whole("event_departure_s")
        draft.event_flags = self._whole("event_flags")
        draft.event_headsign = self._whole_if_any("event_headsign", np.int32(-1))
        draft.event_shape_point = self._whole_if_any("event_shape_point", np.float32(np.nan))
        return draft

    def _append(self, **columns: Any) -> None:
        for name, column in columns.items():
            self._columns.setdefault(name, []).append(column)

    def _whole(self, name: str) -> npt.NDArray[Any]:
        """Return a column of all feeds, and let go of its parts."""
        parts = self._columns.pop(name)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _whole_if_any(self, name: str, absent: np.generic) -> npt.NDArray[Any]:
        """Return a column of all feeds, ``absent`` where a feed has none; empty where none has it."""
        parts = self._optional.pop(name)
        if all(values is None for _, values in parts):
            return np.zeros(0, absent.dtype)
        return np.concatenate([np.full(count, absent) if values is None else values for count, values in parts])

    def _add_stops(self, tables: FeedTables, feed: int, findings: Findings) -> Int32:
        """Append the stops that are new; return the draft's row of each stop of the feed."""
        draft = self._draft
        name = tables.feed.name
        rows = np.zeros(len(tables.stops), np.int32)
        for index, stop in enumerate(tables.stops):
            known = self._stop_rows.get((name, stop.local_id))
            if known is None:
                known = self._stop_rows[name, stop.local_id] = len(draft.stops)
                draft.stops.append(stop._replace(feed=feed))
            else:
                self._check_same(draft.stops[known], stop, tables, findings)
            rows[index] = known
        for row, stop in zip(rows.tolist(), tables.stops, strict=True):
            first = draft.stops[row]
            added = first.feed == feed
            if added and stop.parent < 0:
                continue
            parent = int(rows[stop.parent]) if stop.parent >= 0 else -1
            draft.stops[row] = first._replace(
                parent=parent if added or first.parent < 0 else first.parent,
                platform=first.platform or stop.platform,
                wheelchair=stop.wheelchair if first.wheelchair == WHEELCHAIR_UNKNOWN else first.wheelchair,
            )
        return rows

    def _check_same(self, first: StopRow, second: StopRow, tables: FeedTables, findings: Findings) -> None:
        """Let two feeds' stops of one id be one where name and place agree (ruling A8).

        Publishers abbreviate: names that are alike but not the same agree at one spot only, and are counted.
        """
        apart_m = float(straight_line_m(first.lat, first.lon, np.array([second.lat]), np.array([second.lon]))[0])
        if first.kind == second.kind:
            if _plain(first.name) == _plain(second.name) and apart_m <= SAME_STOP_M:
                return
            alike = fuzz.token_set_ratio(first.name, second.name, processor=default_process)
            if apart_m <= SAME_SPOT_M and alike >= ALIKE:
                findings.add(Reason.STOP_NAMED_OTHERWISE_ASSUMED, "stops.txt", 0, "stop_name")
                return
        feeds = self._draft.feeds
        raise FeedUnusable(
            f"Stop {first.local_id} is {first.name!r} in {feeds[first.feed].source} and {second.name!r}, "
            f"{apart_m:.0f} m away, in {tables.feed.source}, but both feeds are called {tables.feed.name}. "
            "Give the feeds different names: NAME=PATH.",
            {"stop": first.local_id, "feed": tables.feed.name},
        )


def _add_names(names: Names, added: Names, rows: Any) -> None:
    """Enter a feed's names under the draft's rows; an earlier feed's name stays."""
    for language, of_rows in added.items():
        known = names.setdefault(language, {})
        for row, name in of_rows.items():
            known.setdefault(rows[row], name)


def _moved(rows: Int32, base: int) -> Int32:
    """Return rows counted from the draft's first; -1 stays."""
    return np.where(rows >= 0, rows + base, -1).astype(np.int32)


def _plain(name: str) -> str:
    """Return a name without case, blanks and punctuation, which publishers' feeds differ in from file to file."""
    return "".join(filter(str.isalnum, name.casefold()))
