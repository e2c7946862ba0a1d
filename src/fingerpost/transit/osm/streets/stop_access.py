"""Connect stops to the streets: at their position on the map, or at the entrances to their station."""

import math
import string
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.station_ways import find_entrance_ways, find_station_walk_m
from fingerpost.transit.engine.timetable.timetable import STOP, Bool, Float64, Int32, Int64, StationPlaces
from fingerpost.transit.engine.timetable.walks import DETOUR_FACTOR, PACE_M_PER_S, WalkedStops, straight_line_m
from fingerpost.transit.osm.extract_file import distance_m
from fingerpost.transit.osm.streets.extract import OsmEntrance, OsmStop

# A mapped stop that has the same ref but is further away than this is a different stop.
MATCHED_M = 100.0
# Shorter numbers are platform numbers.
_MIN_NUMBER = 3


class StopPlaces(NamedTuple):
    lats: Float64
    lons: Float64
    matched: int


def find_stop_places(stops: WalkedStops, mapped: Iterable[OsmStop]) -> StopPlaces:
    """Return the position of each stop: that of the nearest mapped stop with its code or id as ``ref``, or the feed's.

    A feed's position may be in the middle or on the wrong side of a road; OpenStreetMap's is more accurate.
    """
    by_ref: dict[str, list[OsmStop]] = {}
    for stop in mapped:
        by_ref.setdefault(stop.ref.casefold(), []).append(stop)
    places = stops.places
    lats, lons, matched = places.lats.copy(), places.lons.copy(), 0
    for row, names in enumerate(zip(stops.local_ids, stops.codes, strict=True)):
        if places.kinds[row] != STOP:
            continue
        position = float(places.lats[row]), float(places.lons[row])
        candidates = [
            (distance_m(position, (stop.lat, stop.lon)), stop.lat, stop.lon)
            for name in _list_refs(*names)
            for stop in by_ref.get(name, ())
        ]
        if candidates and min(candidates)[0] <= MATCHED_M:
            _, lats[row], lons[row] = min(candidates)
            matched += 1
    return StopPlaces(lats, lons, matched)


def _list_refs(local_id: str, code: str) -> set[str]:
    """Return possible refs of a stop: its id, its code, and the number in a code such as H0249."""
    number = code.lstrip(string.ascii_letters)
    numbers = {number} if len(number) >= _MIN_NUMBER and number.isdecimal() else set()
    return {name.casefold() for name in (local_id, code) if name} | numbers


# A mapped entrance further away than this from every platform belongs to another station.
ENTRANCE_M = 300.0
# Platforms without a parent station share an entrance if they are this close to the platform nearest to it.
_SAME_STATION_M = 100.0
_CLOSED = -1
# Values of ``StopAccess.entrance`` that are not rows.
_NO_ENTRANCE, _MAPPED = -1, -2


class StopAccess(NamedTuple):
    """The access points of stops (ascending rows) on the streets, in degrees: each entrance, or the stop itself.

    ``entrance`` is the timetable's row of the entrance, -1 for the stop's own position, -2 for an entrance on the map.
    ``inside_m``, ``in_s`` and ``out_s`` are metres and seconds from there to the stop and back, -1 if impossible.
    """

    stop: Int32
    entrance: Int32
    lat: Float64
    lon: Float64
    inside_m: Int32
    in_s: Int32
    out_s: Int32
    step_free_in_s: Int32
    step_free_out_s: Int32

    @property
    def has_entrance(self) -> Bool:
        is_entrance: Bool = self.entrance != _NO_ENTRANCE
        return is_entrance

    def without_steps(self) -> "StopAccess":
        return self._replace(in_s=self.step_free_in_s, out_s=self.step_free_out_s)


def connect_at_positions(lats: Float64, lons: Float64) -> StopAccess:
    count = len(lats)
    zeros = np.zeros(count, np.int32)
    return StopAccess(
        np.arange(count, dtype=np.int32), np.full(count, _NO_ENTRANCE, np.int32), lats, lons, *[zeros] * 5
    )


def find_stop_access(
    stops: WalkedStops, places: tuple[Float64, Float64], entrances: tuple[OsmEntrance, ...]
) -> StopAccess:
    """Return the access points of stops: entrances in the feed, or else on the map, or else the stops' positions.

    On the map, metro platforms use entrances to metro stations, and railway platforms those to railway stations.
    """
    feed_rows = _list_feed_entrances(stops.places)
    feed_stops = {row[0] for row in feed_rows}
    rows = [*feed_rows, *(row for row in _list_mapped_entrances(stops, entrances) if row[0] not in feed_stops)]
    linked = {row[0] for row in rows}
    positions = enumerate(zip(*(column.tolist() for column in places), strict=True))
    rows += [(stop, _NO_ENTRANCE, lat, lon, 0, 0, 0, 0, 0) for stop, (lat, lon) in positions if stop not in linked]
    rows.sort(key=lambda row: row[0])
    dtypes = (np.int32, np.int32, np.float64, np.float64, *[np.int32] * 5)
    return StopAccess._make(np.array([row[index] for row in rows], dtype) for index, dtype in enumerate(dtypes))


def close_entrances(
    access: StopAccess, places: StationPlaces, closed: frozenset[int], *, step_free: bool
) -> StopAccess:
    """Return the access points without closed entrances and passages (rows).

    If ``step_free``, only the step-free times change, otherwise only the other times.
    """
    ways = find_entrance_ways(places, step_free=step_free, closed=closed)
    names = ("step_free_in_s", "step_free_out_s") if step_free else ("in_s", "out_s")
    in_s, out_s = (np.copy(getattr(access, name)) for name in names)
    for row in np.flatnonzero(access.entrance >= 0).tolist():
        in_s[row], out_s[row] = ways.get((int(access.stop[row]), int(access.entrance[row])), (_CLOSED, _CLOSED))
    return access._replace(**dict(zip(names, (in_s, out_s), strict=True)))


_Row = tuple[int, int, float, float, int, int, int, int, int]


def _list_feed_entrances(places: StationPlaces) -> list[_Row]:
    usual, step_free = (find_entrance_ways(places, step_free=is_step_free) for is_step_free in (False, True))
    return [
        (
            stop, entrance, float(places.lats[entrance]), float(places.lons[entrance]),
            find_station_walk_m(places, entrance, stop), *times, *step_free.get((stop, entrance), (_CLOSED, _CLOSED)),
        )
        for (stop, entrance), times in usual.items()
    ]  # fmt: skip


def _list_mapped_entrances(stops: WalkedStops, entrances: tuple[OsmEntrance, ...]) -> list[_Row]:
    places = stops.places
    rows: list[_Row] = []
    for is_railway, served in ((False, stops.has_metro), (True, stops.has_rail)):
        platforms = np.flatnonzero(served & (places.kinds == STOP))
        for entrance in entrances if len(platforms) else ():
            if entrance.is_railway != is_railway:
                continue
            away_m = straight_line_m(entrance.lat, entrance.lon, places.lats[platforms], places.lons[platforms])
            if away_m.min() > ENTRANCE_M:
                continue
            is_served = _are_in_same_station(places, platforms, int(platforms[away_m.argmin()]))
            for stop, straight_m in zip(platforms[is_served].tolist(), away_m[is_served].tolist(), strict=True):
                metres = math.ceil(straight_m * DETOUR_FACTOR)
                seconds = math.ceil(metres / PACE_M_PER_S)
                step_free_s = _CLOSED if entrance.has_steps else seconds
                in_s, step_free_in_s = (_CLOSED, _CLOSED) if entrance.is_exit else (seconds, step_free_s)
                rows.append(
                    (stop, _MAPPED, entrance.lat, entrance.lon, metres, in_s, seconds, step_free_in_s, step_free_s)
                )
    return rows


def _are_in_same_station(places: StationPlaces, platforms: Int64, platform: int) -> Bool:
    parents, parent = places.parents[platforms], places.parents[platform]
    lat, lon = places.lats[platform], places.lons[platform]
    is_near = straight_line_m(lat, lon, places.lats[platforms], places.lons[platforms]) <= _SAME_STATION_M
    is_same: Bool = (parents == parent) & (is_near | (parent >= 0))
    return is_same
