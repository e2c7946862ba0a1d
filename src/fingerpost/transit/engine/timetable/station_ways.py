"""Find ways between the entrances and platforms of stations: along the feed's pathways, or in a straight line."""

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from fingerpost.transit.engine.timetable.timetable import (
    BOARDING_AREA,
    ENTRANCE,
    STOP,
    WHEELCHAIR_NO,
    Int32,
    Int64,
    StationPlaces,
    Timetable,
)
from fingerpost.transit.engine.timetable.walks import DETOUR_FACTOR, PACE_M_PER_S, straight_line_m

# GTFS pathway_mode
WALKWAY, STAIRS, TRAVELATOR, ESCALATOR, LIFT, FARE_GATE, EXIT_GATE = range(1, 8)
STEP_FREE_MODES = frozenset({WALKWAY, TRAVELATOR, LIFT, FARE_GATE, EXIT_GATE})
STEP_MODES = frozenset({STAIRS, ESCALATOR})
GATES = frozenset({FARE_GATE, EXIT_GATE})


_Ways = dict[int, list[tuple[int, float]]]


def find_entrance_ways(
    places: StationPlaces,
    *,
    step_free: bool = False,
    closed: Collection[int] = (),
    depth_s: Mapping[int, int] = MappingProxyType({}),
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the times between platforms and the entrances of their stations, for pairs with a way in or out.

    Keys are (platform, entrance) in ascending order; values are the seconds in and out, or -1 if there is no way.
    Missing pathways and times are replaced with a straight-line estimate plus the platform's ``depth_s``. ``step_free``
    excludes stairs and entrances known to be inaccessible; ``closed`` are the entrances and nodes (rows) to exclude.
    """
    excluded = frozenset(closed)
    outgoing, incoming = list_ways(places, excluded, step_free=step_free)
    connected = {*places.pathways.begin.tolist(), *places.pathways.end.tolist()}
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for entrances, platforms in list_stations(places):
        has_ways = not connected.isdisjoint([*entrances, *platforms])
        for entrance in entrances:
            if entrance in excluded or (step_free and places.wheelchair[entrance] == WHEELCHAIR_NO):
                continue
            from_entrance = find_quickest_s(outgoing, entrance) if has_ways else None
            to_entrance = find_quickest_s(incoming, entrance) if has_ways else None
            for platform in platforms:
                straight_s = _find_straight_s(places, entrance, platform) + depth_s.get(platform, 0)
                entry_s, exit_s = (_choose_s(times, platform, straight_s) for times in (from_entrance, to_entrance))
                if entry_s >= 0 or exit_s >= 0:
                    found[platform, entrance] = entry_s, exit_s
    return dict(sorted(found.items()))


def list_stations(places: StationPlaces) -> Iterable[tuple[list[int], list[int]]]:
    """Return the entrances and the platforms of each station."""
    children: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    kinds, parents = places.kinds.tolist(), places.parents.tolist()
    for row, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        if parent >= 0 and kind in (ENTRANCE, STOP):
            children[parent][kind == STOP].append(row)
    return children.values()


def list_ways(
    places: StationPlaces, excluded: Collection[int] = (), *, step_free: bool = False, gates: bool = True
) -> tuple[_Ways, _Ways]:
    """Return the usable pathways from and to each place; a gate with an unknown time takes no time."""
    outgoing: dict[int, list[tuple[int, float]]] = defaultdict(list)
    incoming: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for begin, end, mode, seconds in zip(*(column.tolist() for column in places.pathways), strict=True):
        if begin in excluded or end in excluded or (step_free and mode in STEP_MODES) or (mode in GATES and not gates):
            continue
        duration_s = 0.0 if mode in GATES and math.isnan(seconds) else seconds
        outgoing[begin].append((end, duration_s))
        incoming[end].append((begin, duration_s))
    for area in np.flatnonzero((places.kinds == BOARDING_AREA) & (places.parents >= 0)).tolist():
        platform = int(places.parents[area])
        for ways in (outgoing, incoming):
            ways[platform].append((area, 0.0))
            ways[area].append((platform, 0.0))
    return outgoing, incoming


def find_quickest_s(ways: Mapping[int, Sequence[tuple[int, float]]], begin: int) -> dict[int, float]:
    """Return the seconds to every place that can be reached (Dijkstra); NaN if every way has an unknown time."""
    settled: dict[int, float] = {}
    queue = [(0.0, begin)]
    while queue:
        elapsed_s, place = heapq.heappop(queue)
        if place in settled:
            continue
        settled[place] = elapsed_s
        for end, seconds in ways.get(place, ()):
            # Ways whose times are all known are preferred.
            reached_s = elapsed_s + (math.inf if math.isnan(seconds) else seconds)
            if end not in settled:
                heapq.heappush(queue, (reached_s, end))
    return {place: math.nan if math.isinf(elapsed_s) else elapsed_s for place, elapsed_s in settled.items()}


def _choose_s(times: Mapping[int, float] | None, place: int, straight_s: int) -> int:
    """Return the seconds to a place, a straight-line estimate if they are unknown, or -1 if it cannot be reached."""
    if times is None:
        return straight_s
    found_s = times.get(place, -1.0)
    return straight_s if math.isnan(found_s) else round(found_s)


def _find_straight_s(places: StationPlaces, begin: int, end: int) -> int:
    return math.ceil(find_station_walk_m(places, begin, end) / PACE_M_PER_S)


def find_station_walk_m(places: StationPlaces, begin: int, end: int) -> int:
    """Return the metres between two places (rows) in a station: the straight line times the detour factor."""
    lat, lon = float(places.lats[begin]), float(places.lons[begin])
    straight_m = straight_line_m(lat, lon, places.lats[[end]], places.lons[[end]])
    return math.ceil(float(straight_m[0]) * DETOUR_FACTOR)


# The maximum duration of a change along pathways, unless it must be step-free.
_MAX_CHANGE_S = 1800.0


def list_changes(places: StationPlaces) -> tuple[Int32, Int32, Int32]:
    """Return the pairs of platforms (rows) that pathways connect, and the seconds from the first to the second.

    The seconds are -1 if they are unknown or more than half an hour. Ways through gates are excluded, because the next
    ride could require another ticket.
    """
    outgoing, _ = list_ways(places, gates=False)
    changes: list[tuple[int, int, int]] = []
    for _, platforms in list_stations(places):
        for begin in outgoing.keys() & platforms:
            changes += [
                (begin, end, round(seconds) if seconds <= _MAX_CHANGE_S else -1)
                for end, seconds in find_quickest_s(outgoing, begin).items()
                if end != begin and end in platforms
            ]
    begins, ends, durations_s = np.array(sorted(changes), np.int32).reshape(-1, 3).T
    return begins, ends, durations_s


def find_change_s(
    places: StationPlaces, begin: Int32 | Int64, end: Int32 | Int64, *, step_free: bool, closed: Collection[int] = ()
) -> Int32:
    """Return the transfer times in seconds along a station's pathways without gates; -1 if impossible."""
    duration_s = np.full(len(begin), -1, np.int32)
    outgoing, _ = list_ways(places, frozenset(closed), step_free=step_free, gates=False)
    for platform in np.unique(begin).tolist():
        times = find_quickest_s(outgoing, platform)
        for row in np.flatnonzero(begin == platform).tolist():
            target = int(end[row])
            duration_s[row] = _choose_s(times, target, _find_straight_s(places, platform, target))
    return duration_s


def get_places(timetable: Timetable) -> StationPlaces:
    return StationPlaces(
        timetable.stop_lat,
        timetable.stop_lon,
        timetable.stop_kind,
        timetable.stop_parent,
        timetable.stop_wheelchair,
        timetable.pathways,
    )
