"""Import feeds: read them, merge them and assemble one timetable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.transit.engine.gtfs.csv import Findings, IdIndex, Reason, open_archive
from fingerpost.transit.engine.gtfs.reading import READ, FeedTables, read_feed, report_on
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.gtfs.translations import Names
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.draft import (
    InSeatColumns,
    PathwayColumns,
    ServiceRow,
    ShapeColumns,
    SpecificTransferColumns,
    StopRow,
    TimetableDraft,
    TransferColumns,
    TripColumns,
    TripDepartureColumns,
)
from fingerpost.transit.engine.timetable.station_ways import Pathways
from fingerpost.transit.engine.timetable.stop_ids import SAME_STOP_M
from fingerpost.transit.engine.timetable.text import TextColumn
from fingerpost.transit.engine.timetable.timetable import WHEELCHAIR_UNKNOWN, Int32, Timetable
from fingerpost.transit.engine.timetable.walking import straight_line_m
from fingerpost.transit.engine.timetable.walks import FindWalks, walk_straight

# Where the names differ, one stop may not be further apart than this, and the names must share their words in part.
SAME_SPOT_M = 30.0
ALIKE = 60.0

T = TypeVar("T")


class Merging:
    def __init__(self) -> None:
        self._draft = TimetableDraft()
        self._stop_rows: dict[tuple[str, str], int] = {}
        # The columns of each table, feed by feed.
        self._parts: dict[tuple[str, str], list[Any]] = {}
        self._trip_count = self._trip_departure_count = self._shape_count = self._point_count = 0
        self._headsign_names: dict[str, dict[str, str]] = {}

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
        specific, in_seat, stop_times = tables.specific_transfers, tables.in_seat, tables.stop_times
        self._append(
            trips=replace(
                trips,
                route=trips.route + route_base,
                service=trips.service + service_base,
                shape=_moved(trips.shape, self._shape_count),
            ),
            trip_departures=replace(tables.trip_departures, trip=tables.trip_departures.trip + self._trip_count),
            transfers=_with_rows(tables.transfers, stop_rows, "from_stop", "to_stop"),
            pathways=_with_rows(tables.pathways, stop_rows, "from_stop", "to_stop"),
            station_ways=_with_rows(tables.station_ways, stop_rows, "begin", "end"),
            specific_transfers=replace(
                _with_rows(specific, stop_rows, "from_stop", "to_stop"),
                from_route=_moved(specific.from_route, route_base),
                to_route=_moved(specific.to_route, route_base),
                from_trip=_moved(specific.from_trip, self._trip_count),
                to_trip=_moved(specific.to_trip, self._trip_count),
            ),
            in_seat=replace(
                in_seat,
                from_departure=in_seat.from_departure + self._trip_departure_count,
                to_departure=in_seat.to_departure + self._trip_departure_count,
                service=_moved(in_seat.service, service_base),
            ),
            shapes=replace(tables.shapes, first=tables.shapes.first[:-1] + self._point_count),
            stop_times=_with_rows(stop_times, stop_rows, "stop")._replace(shape_dist=None),
        )
        self._parts.setdefault(("stop_times", "shape_point"), []).append(tables.stop_time_shape_point)
        self._trip_count += len(trips.route)
        self._trip_departure_count += len(tables.trip_departures.trip)
        self._shape_count += len(tables.shapes.first) - 1
        self._point_count += len(tables.shapes.lat_udeg)
        _add_names(draft.stop_names, tables.translations.stops, stop_rows.tolist())
        _add_names(draft.route_names, tables.translations.routes, range(route_base, len(draft.routes)))
        for language, names in tables.translations.headsigns.items():
            self._headsign_names.setdefault(language, {}).update(names)

    def finish(self, headsigns: IdIndex) -> TimetableDraft:
        draft = self._draft
        draft.headsign_column = headsigns.to_texts()
        for language, names in self._headsign_names.items():
            texts = enumerate(draft.headsign_column)
            draft.headsign_names[language] = {row: names[text] for row, text in texts if text in names}
        draft.trip_columns = self._join_table("trips", TripColumns)
        draft.trip_departure_columns = self._join_table("trip_departures", TripDepartureColumns)
        draft.transfer_columns = self._join_table("transfers", TransferColumns)
        draft.pathways = self._join_table("pathways", PathwayColumns)
        draft.station_ways = self._join_table("station_ways", Pathways)
        draft.specific_transfers = self._join_table("specific_transfers", SpecificTransferColumns)
        draft.in_seat = self._join_table("in_seat", InSeatColumns)
        shapes = self._join_table("shapes", ShapeColumns)
        draft.shapes = replace(shapes, first=np.append(shapes.first, self._point_count))
        draft.stop_time_headsign = self._join_optional("headsign", np.int32(-1))
        draft.stop_time_shape_point = self._join_optional("shape_point", np.float32(np.nan))
        draft.trip_stop_time_count = self._join("stop_times", "per_trip")
        draft.stop_time_stop = self._join("stop_times", "stop")
        draft.stop_time_sequence = self._join("stop_times", "sequence")
        draft.stop_time_arrival_s = self._join("stop_times", "arrival_s")
        draft.stop_time_departure_s = self._join("stop_times", "departure_s")
        draft.stop_time_flags = self._join("stop_times", "flags")
        return draft

    def _append(self, **tables: Any) -> None:
        for table, columns in tables.items():
            for name in _column_names(columns):
                self._parts.setdefault((table, name), []).append(getattr(columns, name))

    def _join(self, table: str, name: str) -> Any:
        """Return a column of all feeds, and free its parts."""
        parts = self._parts.pop((table, name))
        if isinstance(parts[0], TextColumn):
            return TextColumn.joined(parts)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _join_table(self, table: str, kind: Callable[..., T]) -> T:
        return kind(**{name: self._join(table, name) for name in _column_names(kind)})

    def _join_optional(self, name: str, absent: np.generic) -> npt.NDArray[Any]:
        """Return a column of stop times, ``absent`` for feeds without it; empty if no feed has it."""
        parts = self._parts.pop(("stop_times", name))
        if all(values is None for values in parts):
            return np.zeros(0, absent.dtype)
        stops = self._parts["stop_times", "stop"]
        return np.concatenate(
            [
                np.full(len(stop), absent) if values is None else values
                for stop, values in zip(stops, parts, strict=True)
            ]
        )

    def _add_stops(self, tables: FeedTables, feed: int, findings: Findings) -> Int32:
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
        """Check that stops of two feeds with one id agree in name and place, so that they are one stop (rule A8).

        Publishers abbreviate: similar names agree only at one spot, and are counted.
        """
        apart_m = float(straight_line_m(first.lat, first.lon, np.array([second.lat]), np.array([second.lon]))[0])
        if first.kind == second.kind:
            if _plain(first.name) == _plain(second.name) and apart_m <= SAME_STOP_M:
                return
            alike = fuzz.token_set_ratio(first.name, second.name, processor=default_process)
            if apart_m <= SAME_SPOT_M and alike >= ALIKE:
                findings.add(Reason.STOP_NAMED_OTHERWISE_IN_EARLIER_FEED_ASSUMED, "stops.txt", 0, "stop_name")
                return
        feeds = self._draft.feeds
        raise FeedUnusable(
            f"Stop {first.local_id} is {first.name!r} in {feeds[first.feed].source} and {second.name!r}, "
            f"{apart_m:.0f} m away, in {tables.feed.source}, but both feeds are called {tables.feed.name}. "
            "Give the feeds different names: NAME=PATH.",
            {"stop": first.local_id, "feed": tables.feed.name},
        )


def _add_names(names: Names, added: Names, rows: Any) -> None:
    """Store a feed's names under the rows of the draft; names of earlier feeds take precedence."""
    for language, of_rows in added.items():
        known = names.setdefault(language, {})
        for row, name in of_rows.items():
            known.setdefault(rows[row], name)


def _column_names(table: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = table._fields if hasattr(table, "_fields") else table.__slots__
    return names


def _with_rows(table: Any, new_rows: Int32, *names: str) -> Any:
    """Return a table whose columns of these names hold the new rows of stops."""
    columns = {name: new_rows[getattr(table, name)] for name in names}
    return table._replace(**columns) if hasattr(table, "_replace") else replace(table, **columns)


def _moved(rows: Int32, base: int) -> Int32:
    """Shift rows of a feed to rows of the draft; -1 stays -1."""
    return np.where(rows >= 0, rows + base, -1).astype(np.int32)


def _plain(name: str) -> str:
    """Return a name without case, blanks and punctuation, which differ between feeds of one publisher."""
    return "".join(filter(str.isalnum, name.casefold()))


ImportProgress = Callable[[str, int, int | None], None]
"""Called with the current FEED or step, how much of it is done, and how much there is (None: unknown)."""

_LINKING = "linking stops"


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A feed to import: a zip file or a folder, and the FEED of its stop ids, where it is given (rule A8)."""

    path: Path
    feed_name: str | None = None


class Imported(NamedTuple):
    timetable: Timetable
    report: ImportReport


def import_feeds(
    network: str,
    sources: Sequence[FeedSource],
    *,
    progress: ImportProgress = lambda _what, _done, _whole: None,
    find_walks: FindWalks = walk_straight,
) -> Imported:
    """Import one or several feeds as one network; ``progress`` is called from this thread.

    ``find_walks`` says how walks between its stops are measured.

    Raises:
        FeedUnusable: a feed cannot be used; the message names file, table and line, and what to do.
        ParameterError: there is no feed, or the feeds' names do not tell them apart.
        ToolError: as ``find_walks`` does.
    """
    merging, headsigns, reports = Merging(), IdIndex(), []
    for source, name in zip(sources, list_feed_names(network, sources), strict=True):
        with open_archive(source.path, Findings()) as archive:
            archive.advance = _Share(name, archive.measure(READ), progress)
            tables = read_feed(archive, name, headsigns)
            merging.add(tables, archive.findings)
            reports.append(report_on(archive, tables))
    progress(_LINKING, 0, 1)
    timetable = assemble(merging.finish(headsigns), find_walks)
    progress(_LINKING, 1, 1)
    return Imported(timetable, ImportReport(network=network.upper(), feeds=tuple(reports)))


class _Share:
    def __init__(self, what: str, whole: int, progress: ImportProgress) -> None:
        self._what, self._whole, self._progress = what, whole, progress
        self._done = 0
        progress(what, 0, whole)

    def __call__(self, more: int) -> None:
        self._done = min(self._done + more, self._whole)
        self._progress(self._what, self._done, self._whole)


def list_feed_names(network: str, sources: Sequence[FeedSource]) -> list[str]:
    """Return each feed's FEED: as given, else the network's name, with the file's where there are several."""
    if not sources:
        raise ParameterError("A network needs at least one feed: NAME PATH.", {"field": "feed"})
    names: list[str] = []
    unnamed: set[str] = set()
    for source in sources:
        if source.feed_name is not None:
            name = source.feed_name.strip().upper()
            if not name or name.startswith("DEMO-"):
                raise ParameterError(
                    f"A feed cannot be called {source.feed_name!r}. Take a name that is not empty and does not "
                    "begin with DEMO-.",
                    {"field": "feed"},
                )
        else:
            stem = source.path.name.removesuffix(".zip").removesuffix(".gtfs")
            name = f"{network}-{stem}".upper() if len(sources) > 1 else network.upper()
            if name in unnamed:
                raise ParameterError(
                    f"Two of the feeds would both be called {name}. Name them: FEED=PATH.", {"field": "feed"}
                )
            unnamed.add(name)
        names.append(name)
    return names
