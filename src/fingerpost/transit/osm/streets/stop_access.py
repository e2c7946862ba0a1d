"""Connect stops to the streets, at their positions or at the entrances of their stations."""

import math
import string
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.timetable.shapes import interpolate, measure_distances
from fingerpost.transit.engine.timetable.station_ways import find_entrance_ways, find_station_walk_m
from fingerpost.transit.engine.timetable.timetable import STOP, Bool, Float64, Int32, Int64, StationPlaces
from fingerpost.transit.engine.timetable.walks import DETOUR_FACTOR, PACE_M_PER_S, WalkedStops, straight_line_m
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.extract_file import distance_m
from fingerpost.transit.osm.streets.extract import OsmEntrance, OsmPlatform, OsmStop
from fingerpost.transit.osm.streets.graph import CUT_OFF, StreetGraph
from fingerpost.transit.osm.streets.snapping import SegmentGrid, snap_to_streets

# A mapped stop that has the same ref but is further away than this is a different stop.
MATCHED_M = 100.0
# A shorter number in a code is a platform number.
_MIN_NUMBER = 3


def find_stop_places(stops: WalkedStops, mapped: Iterable[OsmStop]) -> tuple[Float64, Float64, int]:
    """Return the latitude and longitude of each stop, and the number of stops that were matched to the map.

    A stop is matched to the nearest mapped stop whose ``ref`` is its code or id, because positions in feeds are less
    accurate: they may be in the middle of a road or on its wrong side.
    """
    by_ref = group_by_key((stop.ref.casefold(), stop) for stop in mapped)
    places = stops.places
    lats, lons = places.lats.copy(), places.lons.copy()
    matched = 0
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
    return lats, lons, matched


def _list_refs(local_id: str, code: str) -> set[str]:
    """Return possible refs of a stop: its id, its code, and the number in a code such as H0249."""
    number = code.lstrip(string.ascii_letters)
    numbers = {number} if len(number) >= _MIN_NUMBER and number.isdecimal() else set()
    return {name.casefold() for name in (local_id, code) if name} | numbers


PlatformPlaces = Mapping[int, tuple[float, float, bool]]
"""The positions of stops (rows) on mapped platforms, in degrees, and whether only steps lead there."""

_ROUNDING_M, _MAX_PLATFORM_M = 0.1, 500.0


def find_platform_places(
    stops: WalkedStops, platforms: Iterable[OsmPlatform], graph: StreetGraph, grid: SegmentGrid
) -> PlatformPlaces:
    """Return the positions of metro and railway stops on mapped platforms that are connected to the streets.

    A stop is on the nearest platform that shares a ref with it; a metro stop without such a platform is on the nearest
    underground platform.
    """
    found = dict[int, tuple[float, float, bool]]()
    for row in np.flatnonzero((stops.has_metro | stops.has_rail) & (stops.places.kinds == STOP)).tolist():
        refs = _list_refs(stops.local_ids[row], stops.codes[row])
        position = (stops.places.lats[row], stops.places.lons[row])
        nearest = [
            (refs.isdisjoint(platform_refs), *_find_nearest(np.array(position), np.array(line)))
            for platform_refs, is_underground, line in platforms
            if distance_m(position, line[0]) <= _MAX_PLATFORM_M
            and (not refs.isdisjoint(platform_refs) or (is_underground and stops.has_metro[row]))
        ]
        for _, away_m, *place in sorted(nearest):
            snapped = snap_to_streets(graph, grid, *np.array([place]).T, limit_m=_ROUNDING_M)
            if away_m <= MATCHED_M and snapped.edge[0] >= 0:
                found[row] = place[0], place[1], bool(graph.edge_flags[snapped.edge[0]] & CUT_OFF)
                break
    return found


def _find_nearest(position: Float64, line: Float64) -> tuple[float, float, float]:
    """Return the distance in metres to the nearest point on a line, and that point."""
    scale = np.array([1.0, np.cos(np.radians(position[0]))]) * METRES_PER_DEGREE
    away_m, fraction = measure_distances(line * scale, position * scale)
    nearest = int(away_m.argmin())
    return float(away_m[nearest]), *interpolate(line, nearest + float(fraction[nearest])).tolist()


# A mapped entrance further away than this from every platform belongs to another station.
ENTRANCE_M = 300.0
# Platforms without a parent station share an entrance if they are this close to the platform nearest to the entrance.
_SAME_STATION_M = 100.0
_CLOSED = -1
# Seconds added between an entrance and a metro platform if the map and the feed lack the path (decision 0480).
METRO_DEPTH_S = 120
# Values of ``StopAccess.entrance`` that are not rows.
_NO_ENTRANCE, _MAPPED, METRO_ENTRANCE = -1, -2, -3


class StopAccess(NamedTuple):
    """The points where stops are connected to the streets: entrances, or the stop's own position; sorted by stop.

    ``entrance`` is the entrance's row in the timetable, -1 for the stop's position, -2 for a mapped railway entrance,
    or -3 for a mapped metro entrance. Positions are in degrees. ``inside_m`` is the distance to the stop; ``in_s`` and
    ``out_s`` are the seconds to the stop and back, or -1 if there is no path.
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
    stops: WalkedStops, places: tuple[Float64, Float64], entrances: tuple[OsmEntrance, ...], platforms: PlatformPlaces
) -> StopAccess:
    """Return the access points of stops: entrances in the feed, else the mapped platform, else mapped entrances.

    Other stops are connected at their positions. Metro platforms use mapped entrances to metro stations, and railway
    platforms those to railway stations. If only steps lead to a mapped platform, step-free riders use mapped entrances.
    """
    rows = _list_feed_entrances(stops)
    linked = {row[0] for row in rows}
    rows += [
        (stop, _NO_ENTRANCE, lat, lon, 0, 0, 0, _CLOSED * is_cut_off, _CLOSED * is_cut_off)
        for stop, (lat, lon, is_cut_off) in platforms.items()
        if stop not in linked
    ]
    rows += [row for row in _list_mapped_entrances(stops, entrances, platforms) if row[0] not in linked]
    linked = {row[0] for row in rows}
    positions = enumerate(zip(*(column.tolist() for column in places), strict=True))
    rows += [(stop, _NO_ENTRANCE, lat, lon, 0, 0, 0, 0, 0) for stop, (lat, lon) in positions if stop not in linked]
    rows.sort(key=lambda row: row[0])
    dtypes = (np.int32, np.int32, np.float64, np.float64, *[np.int32] * 5)
    return StopAccess._make(np.array([row[index] for row in rows], dtype) for index, dtype in enumerate(dtypes))


def count_estimated_stops(access: StopAccess, places: StationPlaces) -> int:
    """Count the metro platforms whose walking time from an entrance includes METRO_DEPTH_S."""
    level = find_entrance_ways(places)
    ways = zip(*(column.tolist() for column in (access.stop, access.entrance, access.in_s, access.out_s)), strict=True)
    return len(
        {
            stop
            for stop, entrance, *times in ways
            if max(times) >= 0
            and (entrance == METRO_ENTRANCE or (entrance >= 0 and level[stop, entrance] != tuple(times)))
        }
    )


def close_entrances(
    access: StopAccess, places: StationPlaces, closed: frozenset[int], *, step_free: bool
) -> StopAccess:
    """Return the access points with times that avoid closed entrances and passages (rows); no time decreases.

    Only the step-free times change if ``step_free``; otherwise, only the other times change.
    """
    ways = find_entrance_ways(places, step_free=step_free, closed=closed)
    names = ("step_free_in_s", "step_free_out_s") if step_free else ("in_s", "out_s")
    in_s, out_s = (np.copy(getattr(access, name)) for name in names)
    for row in np.flatnonzero(access.entrance >= 0).tolist():
        open_s = ways.get((int(access.stop[row]), int(access.entrance[row])), (_CLOSED, _CLOSED))
        in_s[row], out_s[row] = (
            max(way_s, int(column[row])) if way_s >= 0 else _CLOSED
            for way_s, column in zip(open_s, (in_s, out_s), strict=True)
        )
    return access._replace(**dict(zip(names, (in_s, out_s), strict=True)))


_Row = tuple[int, int, float, float, int, int, int, int, int]


def _list_feed_entrances(stops: WalkedStops) -> list[_Row]:
    places = stops.places
    depth_s = dict.fromkeys(np.flatnonzero(stops.has_metro).tolist(), METRO_DEPTH_S)
    usual, step_free = (
        find_entrance_ways(places, step_free=is_step_free, depth_s=depth_s) for is_step_free in (False, True)
    )
    return [
        (
            stop, entrance, float(places.lats[entrance]), float(places.lons[entrance]),
            find_station_walk_m(places, entrance, stop), *times, *step_free.get((stop, entrance), (_CLOSED, _CLOSED)),
        )
        for (stop, entrance), times in usual.items()
    ]  # fmt: skip


def _list_mapped_entrances(
    stops: WalkedStops, entrances: tuple[OsmEntrance, ...], platform_places: PlatformPlaces
) -> list[_Row]:
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
                *_, is_cut_off = platform_places.get(stop, (None,))
                if is_cut_off is False:
                    continue
                metres = math.ceil(straight_m * DETOUR_FACTOR)
                seconds = math.ceil(metres / PACE_M_PER_S) + (0 if is_railway else METRO_DEPTH_S)
                out_s = _CLOSED if is_cut_off else seconds
                step_free_s = _CLOSED if entrance.has_steps else seconds
                in_s, step_free_in_s = (_CLOSED, _CLOSED) if entrance.is_exit else (out_s, step_free_s)
                kind = _MAPPED if is_railway else METRO_ENTRANCE
                times = in_s, out_s, step_free_in_s, step_free_s
                rows.append((stop, kind, entrance.lat, entrance.lon, metres, *times))
    return rows


def _are_in_same_station(places: StationPlaces, platforms: Int64, platform: int) -> Bool:
    parents, parent = places.parents[platforms], places.parents[platform]
    lat, lon = places.lats[platform], places.lons[platform]
    is_near = straight_line_m(lat, lon, places.lats[platforms], places.lons[platforms]) <= _SAME_STATION_M
    is_same: Bool = (parents == parent) & (is_near | (parent >= 0))
    return is_same
