"""Names and traits of stops, routes and trips of a timetable."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from fingerpost.transit.embedded.ride_geometry import ride_m
from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.overlay import AddedRide
from fingerpost.transit.engine.timetable.timetable import (
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_YES,
    Int64,
    Timetable,
)
from fingerpost.transit.engine.timetable.walking import straight_line_m
from fingerpost.transit.model.itinerary import Access, Mode, StopPoint
from fingerpost.transit.model.line_colors import LineColors, find_line_colors
from fingerpost.transit.model.place import Coordinate, Place, PlaceTraits
from fingerpost.transit.rules.modes import mode_of
from fingerpost.transit.rules.name_matching import plain
from fingerpost.transit.rules.place_groups import part_name

# A ride that was added without naming a known route.
UNKNOWN_LINE = "unknown"
# Boards show the same stop times repeatedly; the cache holds the words of this many.
CACHED_STOP_TIMES = 50_000

_ACCESS = {WHEELCHAIR_YES: Access.YES, WHEELCHAIR_NO: Access.NO}


class TripWords(NamedTuple):
    line: str
    mode: Mode
    headsign: str
    trip_id: str
    long_name: str | None
    colors: LineColors | None


class TimetableWords:
    """Names of one timetable's rows in one language, cached."""

    def __init__(self, timetable: Timetable, language: str = "default") -> None:
        self.timetable = timetable
        self._language = language
        self.in_language = lru_cache(maxsize=None)(self._in_language)
        self.stop_point = lru_cache(maxsize=None)(self._new_stop_point)
        self.line_of_route = lru_cache(maxsize=None)(self._new_line)
        self.trip = lru_cache(maxsize=CACHED_STOP_TIMES)(self._new_trip)
        self.ride_m = lru_cache(maxsize=CACHED_STOP_TIMES)(partial(ride_m, timetable))

    def _in_language(self, language: str) -> "TimetableWords":
        return self if language == self._language else TimetableWords(self.timetable, language)

    def _new_stop_point(self, stop: int) -> StopPoint:
        table = self.timetable
        return StopPoint(
            name=self.stop_name(stop),
            coordinate=Coordinate(float(table.stop_lat[stop]), float(table.stop_lon[stop])),
            id=table.stop_printed_id[stop],
            platform=table.stop_platform[stop] or None,
            wheelchair=_ACCESS.get(int(table.stop_wheelchair[stop]), Access.UNKNOWN),
        )

    def stop_name(self, stop: int) -> str:
        """Return a stop's name, never empty: its own, else its parent's, else its id."""
        table = self.timetable
        translated = table.stop_names.get(self._language)
        if translated is not None and translated[stop]:
            return translated[stop]
        parent = int(table.stop_parent[stop])
        return table.stop_name[stop] or (table.stop_name[parent] if parent >= 0 else "") or table.stop_local_id[stop]

    def _new_line(self, route: int) -> tuple[str, Mode]:
        """Return a route's line and mode: its short name, else its long name, else its id (rule A2)."""
        if route < 0:
            return UNKNOWN_LINE, Mode.OTHER
        table = self.timetable
        name = table.route_short_name[route] or self.long_name(route) or table.route_local_id[route]
        return name, mode_of(int(table.route_type[route]))

    def colors_of_route(self, route: int) -> LineColors | None:
        """Return the colours of a route's line, None if its mode's colour takes their place."""
        table = self.timetable
        return (
            None if route < 0 else find_line_colors(int(table.route_color[route]), int(table.route_text_color[route]))
        )

    def long_name(self, route: int) -> str | None:
        translated = self.timetable.route_names.get(self._language)
        return (translated[route] if translated is not None else "") or self.timetable.route_long_name[route] or None

    def headsign(self, trip: int, stop_time: int) -> str:
        """Return the headsign at a stop time: the stop's headsign, else the trip's, else the last stop's name."""
        table = self.timetable
        row = int(table.stop_time_headsign[stop_time]) if len(table.stop_time_headsign) else -1
        if row < 0:
            row = int(table.trip_headsign[trip])
        if row >= 0:
            translated = table.headsign_names.get(self._language)
            return (translated[row] if translated is not None else "") or table.headsign[row]
        return self.stop_name(int(table.stop_time_stop[table.trip_first_stop_time[trip + 1] - 1]))

    def _new_trip(self, trip: int, stop_time: int) -> TripWords:
        route = int(self.timetable.trip_route[trip])
        line, mode = self.line_of_route(route)
        headsign = self.headsign(trip, stop_time)
        return TripWords(line, mode, headsign, self.trip_id(trip), self.long_name(route), self.colors_of_route(route))

    def added(self, added: AddedRide) -> TripWords:
        """Return the names of an added ride; the FEED of its id is that of its stops."""
        table = self.timetable
        line, mode = self.line_of_route(added.route)
        headsign = added.headsign or self.stop_name(int(added.stop[-1]))
        trip_id = f"{table.feeds[int(table.stop_feed[added.stop[0]])].name}:{added.trip_id}"
        return TripWords(line, mode, headsign, trip_id, None, self.colors_of_route(added.route))

    def trip_id(self, trip: int) -> str:
        table = self.timetable
        feed = table.feeds[int(table.route_feed[table.trip_route[trip]])]
        return f"{feed.name}:{table.trip_local_id[trip]}"

    def trip_access(self, trip: int) -> Access:
        return _ACCESS.get(int(self.timetable.trip_wheelchair[trip]), Access.UNKNOWN)

    def headway_s(self, trip_departure: int) -> int | None:
        return int(self.timetable.trip_departure_headway_s[trip_departure]) or None

    def has_flag(self, flag: int, *stop_times: int) -> bool:
        return any(int(self.timetable.stop_time_flags[stop_time]) & flag for stop_time in stop_times)


# The number of destinations that name a direction, and how near another stop must be to say where a place lies.
DIRECTIONS, NEAR_M = 2, 1000.0


def describe_place(timetable: Timetable, words: TimetableWords, place: Place, rows: Sequence[int]) -> PlaceTraits:
    """Return the traits of a place that differ from others of its name; ``rows`` are its stops."""
    is_member = mark_rows(timetable.stop_count, list(rows))
    stop_times = np.flatnonzero(is_member[timetable.stop_time_stop])
    trips: Int64 = np.searchsorted(timetable.trip_first_stop_time, stop_times, "right") - 1
    routes = np.unique(timetable.trip_route[trips]).tolist()
    return PlaceTraits(
        lines=tuple(sorted({words.line_of_route(route)[0] for route in routes}, key=_natural)),
        direction=_find_direction(timetable, words, stop_times, trips),
        district=place.locality or _find_nearby_name(timetable, words, place, is_member),
    )


def _find_direction(timetable: Timetable, words: TimetableWords, stop_times: Int64, trips: Int64) -> str | None:
    leaves = stop_times < timetable.trip_first_stop_time[trips + 1] - 1
    stop_times, trips = stop_times[leaves], trips[leaves]
    heads = timetable.trip_headsign[trips].astype(np.int64)
    if len(timetable.stop_time_headsign):
        own = timetable.stop_time_headsign[stop_times]
        heads = np.where(own >= 0, own, heads)
    last_stop = timetable.stop_time_stop[timetable.trip_first_stop_time[trips + 1] - 1]
    # Trips without a headsign go to their last stop, here a negative number.
    heads = np.where(heads >= 0, heads, -1 - last_stop.astype(np.int64))
    _, first, counts = np.unique(heads, return_index=True, return_counts=True)
    count_of: dict[str, int] = {}
    for at, count in zip(first.tolist(), counts.tolist(), strict=True):
        name = words.headsign(int(trips[at]), int(stop_times[at]))
        count_of[name] = count_of.get(name, 0) + count
    commonest = sorted(count_of, key=lambda name: (-count_of[name], name))[:DIRECTIONS]
    return ", ".join(commonest) or None


def _find_nearby_name(timetable: Timetable, words: TimetableWords, place: Place, is_member: np.ndarray) -> str | None:
    here = place.coordinate
    away_m = straight_line_m(here.lat, here.lon, timetable.stop_lat, timetable.stop_lon)
    others = np.flatnonzero((away_m <= NEAR_M) & ~is_member & (timetable.stop_kind == STOP))
    for row in others[np.argsort(away_m[others], kind="stable")].tolist():
        name = words.stop_name(row)
        if plain(part_name(name).place) != plain(place.name):
            return f"near {name}"
    return None


def _natural(line: str) -> list[tuple[int, int, str]]:
    """Sort 2 before 10, and numbers before letters."""
    parts = re.findall(r"\d+|\D+", line)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
