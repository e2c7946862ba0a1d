"""Look up the names of stops, routes and trips in a given language, and details that distinguish places."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import TextColumn, mark_rows
from fingerpost.transit.engine.timetable.overlay import AddedRide
from fingerpost.transit.engine.timetable.shapes import measure_ride_m
from fingerpost.transit.engine.timetable.timetable import (
    BY_ARRANGEMENT,
    INTERPOLATED,
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_YES,
    Int64,
    Timetable,
)
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.itinerary import Access, LegOutline, Mode, StopPoint
from fingerpost.transit.model.line_colors import LineColors, find_line_colors
from fingerpost.transit.model.place import Coordinate, Place, PlaceTraits
from fingerpost.transit.rules.modes import to_mode
from fingerpost.transit.rules.name_matching import plain
from fingerpost.transit.rules.place_index import split_stop_name

# The line name of an added trip without a known route.
UNKNOWN_LINE = "unknown"
# The number of stop times to cache; boards show the same ones repeatedly.
CACHED_STOP_TIMES = 50_000

_ACCESS = {WHEELCHAIR_YES: Access.YES, WHEELCHAIR_NO: Access.NO}


class RideNames(NamedTuple):
    line: str
    mode: Mode
    headsign: str
    trip_id: str
    long_name: str | None
    colors: LineColors | None
    wheelchair: Access = Access.UNKNOWN


class DisplayNames:
    """Cached names of a timetable's stops, routes and trips in one language."""

    def __init__(self, timetable: Timetable, language: str = "default") -> None:
        self.timetable = timetable
        self._language = language
        self.in_language = lru_cache(maxsize=None)(
            lambda other: self if other == language else DisplayNames(timetable, other)
        )
        self.get_stop_point = lru_cache(maxsize=None)(self._new_stop_point)
        self.get_line = lru_cache(maxsize=None)(self._new_line)
        self.get_ride_names = lru_cache(maxsize=CACHED_STOP_TIMES)(self._new_ride_names)
        self.get_ride_outline = lru_cache(maxsize=CACHED_STOP_TIMES)(self._new_ride_outline)
        self.measure_ride_m = lru_cache(maxsize=CACHED_STOP_TIMES)(partial(measure_ride_m, timetable))

    def _new_stop_point(self, stop: int) -> StopPoint:
        table = self.timetable
        return StopPoint(
            name=self.get_stop_name(stop),
            coordinate=Coordinate(float(table.stop_lat[stop]), float(table.stop_lon[stop])),
            id=table.stop_printed_id[stop],
            platform=table.stop_platform[stop] or None,
            wheelchair=_ACCESS.get(int(table.stop_wheelchair[stop]), Access.UNKNOWN),
        )

    def get_stop_name(self, stop: int) -> str:
        """Return a stop's name or, if it has none, its parent's name or its own id."""
        table = self.timetable
        name = self._translate(table.stop_names, stop) or table.stop_name[stop]
        parent = int(table.stop_parent[stop])
        return name or (table.stop_name[parent] if parent >= 0 else "") or table.stop_local_id[stop]

    def _translate(self, names: Mapping[str, TextColumn], row: int) -> str:
        translated = names.get(self._language)
        return "" if translated is None else translated[row]

    def _new_line(self, route: int) -> tuple[str, Mode]:
        """Return a route's line name (short name, else long name, else id) and mode (rule A2)."""
        if route < 0:
            return UNKNOWN_LINE, Mode.OTHER
        table = self.timetable
        name = table.route_short_name[route] or self.get_long_name(route) or table.route_local_id[route]
        return name, to_mode(int(table.route_type[route]))

    def get_colors(self, route: int) -> LineColors | None:
        color, text_color = self.timetable.route_color, self.timetable.route_text_color
        return None if route < 0 else find_line_colors(int(color[route]), int(text_color[route]))

    def get_long_name(self, route: int) -> str | None:
        return self._translate(self.timetable.route_names, route) or self.timetable.route_long_name[route] or None

    def find_headsign(self, trip: int, stop_time: int) -> str:
        """Return the headsign of a stop time or, if it has none, its trip's headsign or the last stop's name."""
        table = self.timetable
        row = int(table.stop_time_headsign[stop_time]) if len(table.stop_time_headsign) else -1
        if row < 0:
            row = int(table.trip_headsign[trip])
        if row >= 0:
            return self._translate(table.headsign_names, row) or table.headsign[row]
        return self.get_stop_name(int(table.stop_time_stop[table.trip_first_stop_time[trip + 1] - 1]))

    def _new_ride_names(self, trip: int, stop_time: int) -> RideNames:
        route = int(self.timetable.trip_route[trip])
        line, mode = self.get_line(route)
        headsign = self.find_headsign(trip, stop_time)
        wheelchair = _ACCESS.get(int(self.timetable.trip_wheelchair[trip]), Access.UNKNOWN)
        trip_id = self.get_trip_id(trip)
        colors = self.get_colors(route)
        return RideNames(line, mode, headsign, trip_id, self.get_long_name(route), colors, wheelchair)

    def _new_ride_outline(self, trip_departure: int, board: int, alight: int) -> LegOutline:
        table = self.timetable
        line, mode = self.get_line(int(table.trip_route[table.trip_departure_trip[trip_departure]]))
        start, end = (self.get_stop_point(int(table.stop_time_stop[row])).id or "" for row in (board, alight))
        return mode, line, start, end

    def get_trip_id(self, trip: int) -> str:
        table = self.timetable
        return f"{table.feeds[int(table.route_feed[table.trip_route[trip]])].name}:{table.trip_local_id[trip]}"

    def get_added_names(self, added: AddedRide) -> RideNames:
        """Return the names of an added trip; its trip id begins with the FEED of its first stop."""
        line, mode = self.get_line(added.route)
        headsign = added.headsign or self.get_stop_name(int(added.stop[-1]))
        table = self.timetable
        trip_id = f"{table.feeds[int(table.stop_feed[added.stop[0]])].name}:{added.trip_id}"
        return RideNames(line, mode, headsign, trip_id, None, self.get_colors(added.route))

    def get_service_fields(self, trip_departure: int, *stop_times: int) -> dict[str, Any]:
        """Return the headway and flags of a leg or departure; a flag is set if it is set for any of the stop times."""
        flags = 0
        for stop_time in stop_times:
            flags |= self.timetable.stop_time_flags.item(stop_time)
        return {
            "headway_s": self.timetable.trip_departure_headway_s.item(trip_departure) or None,
            "by_arrangement": bool(flags & BY_ARRANGEMENT),
            "is_interpolated": bool(flags & INTERPOLATED),
        }


# The maximum number of headsigns in a direction, and the maximum distance of a stop in "near STOP".
DIRECTIONS, NEAR_M = 2, 1000.0


def describe_place(timetable: Timetable, names: DisplayNames, place: Place, rows: Sequence[int]) -> PlaceTraits:
    """Return details that distinguish a place from others with the same name; ``rows`` are its stops."""
    is_member = mark_rows(timetable.stop_count, list(rows))
    stop_times = np.flatnonzero(is_member[timetable.stop_time_stop])
    trips: Int64 = np.searchsorted(timetable.trip_first_stop_time, stop_times, "right") - 1
    routes = np.unique(timetable.trip_route[trips]).tolist()
    return PlaceTraits(
        lines=tuple(sorted({names.get_line(route)[0] for route in routes}, key=_natural_sort_key)),
        direction=_find_direction(timetable, names, stop_times, trips),
        district=place.locality or _find_nearby_name(timetable, names, place, is_member),
    )


def _find_direction(timetable: Timetable, names: DisplayNames, stop_times: Int64, trips: Int64) -> str | None:
    is_departure = stop_times < timetable.trip_first_stop_time[trips + 1] - 1
    stop_times, trips = stop_times[is_departure], trips[is_departure]
    headsigns = timetable.trip_headsign[trips].astype(np.int64)
    if len(timetable.stop_time_headsign):
        stop_time_headsigns = timetable.stop_time_headsign[stop_times]
        headsigns = np.where(stop_time_headsigns >= 0, stop_time_headsigns, headsigns)
    last_stop = timetable.stop_time_stop[timetable.trip_first_stop_time[trips + 1] - 1]
    # For trips without a headsign, encode the last stop as a negative number.
    headsigns = np.where(headsigns >= 0, headsigns, -1 - last_stop.astype(np.int64))
    _, first, counts = np.unique(headsigns, return_index=True, return_counts=True)
    count_by_name = Counter[str]()
    for row, count in zip(first.tolist(), counts.tolist(), strict=True):
        count_by_name[names.find_headsign(int(trips[row]), int(stop_times[row]))] += count
    most_common = sorted(count_by_name, key=lambda name: (-count_by_name[name], name))[:DIRECTIONS]
    return ", ".join(most_common) or None


def _find_nearby_name(timetable: Timetable, names: DisplayNames, place: Place, is_member: np.ndarray) -> str | None:
    position = place.coordinate
    distances_m = straight_line_m(position.lat, position.lon, timetable.stop_lat, timetable.stop_lon)
    others = np.flatnonzero((distances_m <= NEAR_M) & ~is_member & (timetable.stop_kind == STOP))
    for row in others[np.argsort(distances_m[others], kind="stable")].tolist():
        name = names.get_stop_name(row)
        if plain(split_stop_name(name).place) != plain(place.name):
            return f"near {name}"
    return None


def _natural_sort_key(line: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts 2 before 10, and numbers before letters."""
    parts = re.findall(r"\d+|\D+", line)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
