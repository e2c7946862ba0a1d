"""Assemble a draft into a timetable: pack columns, and derive footpaths and calendars."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import NO_INT32, TextColumn, list_starts, mark_rows, take_rows
from fingerpost.transit.engine.timetable.draft import ServiceRow, SpecificTransferColumns, TimetableDraft
from fingerpost.transit.engine.timetable.footpaths import StationChanges, build_footpaths, compute_transfer_times
from fingerpost.transit.engine.timetable.station_ways import find_change_s, list_changes
from fingerpost.transit.engine.timetable.stop_ids import encode_stop_ids
from fingerpost.transit.engine.timetable.timetable import (
    WHEELCHAIR_UNKNOWN,
    Bool,
    Footpaths,
    Int16,
    Int32,
    StationPlaces,
    Timetable,
    UInt8,
)
from fingerpost.transit.engine.timetable.walks import FindWalks, WalkedStops, WalkModes, Walks, straight_line_walks

_NO_DAY = date(1970, 1, 1)
# GTFS route_type, including extended values.
_METRO = frozenset({1, *range(400, 405)})
_RAIL = frozenset({2, *range(100, 118)})
# The columns of StopRow and RouteRow that a timetable copies, with their types.
_STOP_COLUMNS = {
    "feed": np.int16, "local_id": str, "name": str, "lat": np.float64, "lon": np.float64, "kind": np.int8,
    "parent": np.int32, "platform": str,
}  # fmt: skip
_ROUTE_COLUMNS = {
    "feed": np.int16, "local_id": str, "short_name": str, "long_name": str, "type": np.int16, "agency": np.int16,
    "color": np.int32, "text_color": np.int32,
}  # fmt: skip


def assemble(draft: TimetableDraft, find_walks: FindWalks = straight_line_walks) -> Timetable:
    rows = draft.stops
    stops, routes = _pack("stop_", draft.stops, _STOP_COLUMNS), _pack("route_", draft.routes, _ROUTE_COLUMNS)
    lats, lons, kinds, parents = (stops[f"stop_{name}"] for name in ("lat", "lon", "kind", "parent"))
    own_value = np.array([row.wheelchair for row in rows], np.int8)
    wheelchair = np.where((own_value == WHEELCHAIR_UNKNOWN) & (parents >= 0), own_value[parents], own_value)
    names = [row.local_id for row in rows], [row.code for row in rows]
    places = StationPlaces(lats, lons, kinds, parents, wheelchair, draft.pathways)
    trips = _pack_trips(draft)
    served = (_mark_served(types, routes["route_type"], trips, len(rows)) for types in (_METRO, _RAIL))
    walks = find_walks(WalkedStops(places, *names, *served))
    calendar_start, runs_on = _pack_calendar(draft.services)
    return Timetable(
        feeds=tuple(draft.feeds),
        stop_printed_id=TextColumn.of(encode_stop_ids((draft.feeds[row.feed].name, row.local_id) for row in rows)),
        stop_wheelchair=wheelchair,
        stop_names=_pack_names(draft.stop_names, range(len(rows))),
        route_names=_pack_names(draft.route_names, range(len(draft.routes))),
        **stops,
        **routes,
        **trips,
        calendar_start=calendar_start,
        service_feed=np.array([row.feed for row in draft.services], np.int16),
        service_runs_on=runs_on,
        service_every_day=np.array([row.days is None for row in draft.services], np.uint8),
        **_pack_transfers(draft, walks, places),
        in_seat_from=draft.in_seat.from_departure,
        in_seat_to=draft.in_seat.to_departure,
        in_seat_days_later=draft.in_seat.days_later,
        **_prefix("shape_", draft.shapes),
        pathways=draft.pathways,
    )


def _pack(prefix: str, rows: Sequence[Any], types: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: [getattr(row, name) for row in rows] for name in types}
    return {
        prefix + name: TextColumn.of(values) if types[name] is str else np.array(values, types[name])
        for name, values in columns.items()
    }


def _pack_trips(draft: TimetableDraft) -> dict[str, Any]:
    stop_times = draft.stop_times
    if not (stop_times.headsign >= 0).any():
        stop_times = stop_times._replace(headsign=NO_INT32)
    return (
        _prefix("trip_", draft.trips)
        | _prefix("trip_departure_", draft.trip_departures)
        | _prefix("stop_time_", stop_times)
        | {
            "trip_first_stop_time": list_starts(draft.trip_stop_time_count),
            "headsign": draft.headsigns,
            "headsign_names": _pack_names(draft.headsign_names, draft.headsigns),
        }
    )


def _prefix(prefix: str, table: NamedTuple) -> dict[str, Any]:
    return {prefix + name: column for name, column in table._asdict().items()}


def _mark_served(types: frozenset[int], route_type: Int16, trips: dict[str, Any], count: int) -> Bool:
    is_matching_route = np.isin(route_type, list(types))
    is_matching_stop_time = np.repeat(is_matching_route[trips["trip_route"]], np.diff(trips["trip_first_stop_time"]))
    return mark_rows(count, trips["stop_time_stop"][is_matching_stop_time])


def _pack_transfers(draft: TimetableDraft, walks: WalkModes, places: StationPlaces) -> dict[str, Any]:
    transfers, stations = draft.transfers, (places.kinds, places.parents)
    begin, end, indoor_s = list_changes(places)
    is_timed = indoor_s >= 0
    indoor = begin[is_timed], end[is_timed], indoor_s[is_timed]
    paths, change_s = build_footpaths(walks.usual, *stations, transfers, indoor)
    step_free_paths = Footpaths()
    if walks.step_free is not None or len(begin):
        indoor_step_free = begin, end, find_change_s(places, begin, end, step_free=True)
        step_free_walks = walks.step_free or walks.usual
        step_free_paths, _ = build_footpaths(step_free_walks, *stations, transfers, indoor_step_free, step_free=True)
    return {
        "footpaths": paths,
        "transfer_from": transfers.from_stop,
        "transfer_to": transfers.to_stop,
        "change_s": change_s,
        "step_free_footpaths": step_free_paths,
        **_pack_specific_transfers(draft.specific_transfers, walks.usual, places.parents, indoor),
    }


def _pack_specific_transfers(
    rules: SpecificTransferColumns, walks: Walks, parents: Int32, pathways: StationChanges
) -> dict[str, Any]:
    """Return the rules in ascending order of specificity (GTFS, transfers.txt), because the last match applies.

    Rules for two trips are most specific, then those for a trip and a route, one trip, two routes, and one route.
    """
    trips = (rules.from_trip >= 0).astype(np.int8) + (rules.to_trip >= 0)
    routes = (rules.from_route >= 0).astype(np.int8) + (rules.to_route >= 0)
    specific = take_rows(rules, np.lexsort((routes, trips)))
    seconds, metres, _ = compute_transfer_times(walks, parents, specific, pathways)
    sides = ("from_stop", "to_stop", "from_route", "to_route", "from_trip", "to_trip")
    return {f"specific_transfer_{side}": getattr(specific, side) for side in sides} | {
        "specific_transfer_s": seconds,
        "specific_transfer_m": metres,
    }


def _pack_names(names: Mapping[str, Mapping[Any, str]], keys: Iterable[Any]) -> dict[str, TextColumn]:
    return {language: TextColumn.of(texts.get(key, "") for key in keys) for language, texts in sorted(names.items())}


def _pack_calendar(services: list[ServiceRow]) -> tuple[date, UInt8]:
    ordinals = [NO_INT32 if row.days is None else row.days for row in services]
    days_run = np.concatenate([NO_INT32, *ordinals])
    start, length = (int(days_run.min()), int(np.ptp(days_run)) + 1) if len(days_run) else (_NO_DAY.toordinal(), 0)
    runs_on = np.zeros((len(services), length), np.uint8)
    for index, days in enumerate(ordinals):
        runs_on[index, days - start] = 1
    return date.fromordinal(start), runs_on
