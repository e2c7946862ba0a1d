"""Import feeds: read them, merge them and assemble one timetable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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


class Merging:
    def __init__(self) -> None:
        self._draft = TimetableDraft()
        self._stop_rows: dict[tuple[str, str], int] = {}
        self._columns: dict[str, list[Any]] = {}
        self._trip_count = self._trip_departure_count = self._shape_count = self._point_count = 0
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
            trip_departure_trip=tables.trip_departures.trip + self._trip_count,
            trip_departure_shift_s=tables.trip_departures.shift_s,
            trip_departure_headway_s=tables.trip_departures.headway_s,
            transfer_from=stop_rows[tables.transfers.from_stop],
            transfer_to=stop_rows[tables.transfers.to_stop],
            transfer_type=tables.transfers.type,
            transfer_min_s=tables.transfers.min_s,
            pathway_from=stop_rows[tables.pathways.from_stop],
            pathway_to=stop_rows[tables.pathways.to_stop],
            pathway_s=tables.pathways.seconds,
            station_way_begin=stop_rows[tables.station_ways.begin],
            station_way_end=stop_rows[tables.station_ways.end],
            station_way_mode=tables.station_ways.mode,
            station_way_seconds=tables.station_ways.seconds,
            **self._linked(tables, stop_rows, route_base, service_base),
            shape_first=tables.shapes.first[:-1] + self._point_count,
            shape_lat=tables.shapes.lat_udeg,
            shape_lon=tables.shapes.lon_udeg,
            stop_time_count=tables.stop_times.per_trip,
            stop_time_stop=stop_rows[tables.stop_times.stop],
            stop_time_sequence=tables.stop_times.sequence,
            stop_time_arrival_s=tables.stop_times.arrival_s,
            stop_time_departure_s=tables.stop_times.departure_s,
            stop_time_flags=tables.stop_times.flags,
        )
        for name, values in (
            ("stop_time_headsign", tables.stop_times.headsign),
            ("stop_time_shape_point", tables.stop_time_shape_point),
        ):
            self._optional.setdefault(name, []).append((len(tables.stop_times.stop), values))
        self._trip_count += len(trips.route)
        self._trip_departure_count += len(tables.trip_departures.trip)
        self._shape_count += len(tables.shapes.first) - 1
        self._point_count += len(tables.shapes.lat_udeg)
        _add_names(draft.stop_names, tables.translations.stops, stop_rows.tolist())
        _add_names(draft.route_names, tables.translations.routes, range(route_base, len(draft.routes)))
        for language, names in tables.translations.headsigns.items():
            self._headsign_names.setdefault(language, {}).update(names)

    def _linked(
        self, tables: FeedTables, stop_rows: Int32, route_base: int, service_base: int
    ) -> dict[str, npt.NDArray[Any]]:
        specific, in_seat = tables.specific_transfers, tables.in_seat
        return {
            "specific_transfer_from_stop": stop_rows[specific.from_stop],
            "specific_transfer_to_stop": stop_rows[specific.to_stop],
            "specific_transfer_from_route": _moved(specific.from_route, route_base),
            "specific_transfer_to_route": _moved(specific.to_route, route_base),
            "specific_transfer_from_trip": _moved(specific.from_trip, self._trip_count),
            "specific_transfer_to_trip": _moved(specific.to_trip, self._trip_count),
            "specific_transfer_type": specific.type,
            "specific_transfer_min_s": specific.min_s,
            "in_seat_from_departure": in_seat.from_departure + self._trip_departure_count,
            "in_seat_to_departure": in_seat.to_departure + self._trip_departure_count,
            "in_seat_days_later": in_seat.days_later,
            "in_seat_service": _moved(in_seat.service, service_base),
        }

    def finish(self, headsigns: IdIndex) -> TimetableDraft:
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
        draft.trip_departure_columns = TripDepartureColumns(
            trip=self._whole("trip_departure_trip"),
            shift_s=self._whole("trip_departure_shift_s"),
            headway_s=self._whole("trip_departure_headway_s"),
        )
        draft.transfer_columns = TransferColumns(
            from_stop=self._whole("transfer_from"),
            to_stop=self._whole("transfer_to"),
            type=self._whole("transfer_type"),
            min_s=self._whole("transfer_min_s"),
        )
        draft.pathways = PathwayColumns(*(self._whole(f"pathway_{part}") for part in ("from", "to", "s")))
        draft.station_ways = Pathways(*(self._whole(f"station_way_{part}") for part in Pathways._fields))
        draft.specific_transfers = SpecificTransferColumns(
            **{name: self._whole(f"specific_transfer_{name}") for name in SpecificTransferColumns.__slots__}
        )
        draft.in_seat = InSeatColumns(**{name: self._whole(f"in_seat_{name}") for name in InSeatColumns.__slots__})
        draft.shapes = ShapeColumns(
            first=np.append(self._whole("shape_first"), self._point_count),
            lat_udeg=self._whole("shape_lat"),
            lon_udeg=self._whole("shape_lon"),
        )
        draft.trip_stop_time_count = self._whole("stop_time_count")
        draft.stop_time_stop = self._whole("stop_time_stop")
        draft.stop_time_sequence = self._whole("stop_time_sequence")
        draft.stop_time_arrival_s = self._whole("stop_time_arrival_s")
        draft.stop_time_departure_s = self._whole("stop_time_departure_s")
        draft.stop_time_flags = self._whole("stop_time_flags")
        draft.stop_time_headsign = self._whole_if_any("stop_time_headsign", np.int32(-1))
        draft.stop_time_shape_point = self._whole_if_any("stop_time_shape_point", np.float32(np.nan))
        return draft

    def _append(self, **columns: Any) -> None:
        for name, column in columns.items():
            self._columns.setdefault(name, []).append(column)

    def _whole(self, name: str) -> npt.NDArray[Any]:
        parts = self._columns.pop(name)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _whole_if_any(self, name: str, absent: np.generic) -> npt.NDArray[Any]:
        """Return a column of all feeds, ``absent`` where a feed has none; empty where none has it."""
        parts = self._optional.pop(name)
        if all(values is None for _, values in parts):
            return np.zeros(0, absent.dtype)
        return np.concatenate([np.full(count, absent) if values is None else values for count, values in parts])

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
        """Let two feeds' stops of one id be one where name and place agree (rule A8).

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


ImportProgress = Callable[[str, int, int | None], None]
"""Told what is being worked on (a FEED, or a step), how much of it is done, and how much there is (None: unknown)."""

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
    """Return each feed's FEED: as given, else the network's name, with the file's where there are several.

    Raises:
        ParameterError: there is no feed, or a name is no good.
    """
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
