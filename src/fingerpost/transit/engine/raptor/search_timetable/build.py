"""Build and cache search timetables: the trip instances around one day, grouped into patterns.

Times are seconds from the start of the day. A reversed search timetable counts time backwards, so the same search finds
the latest departure for a given arrival. Trips from the previous and next days are included, so the kernels need no
calendar.
"""

import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.raptor.arrays import PathsOfStops, Patterns, UInt32
from fingerpost.transit.engine.raptor.kernel import NO_ALIGHTING, NO_BOARDING, NO_HOP, SPAN_S
from fingerpost.transit.engine.raptor.kernel.patterns import assign_patterns, find_shortest_hops, hash_stop_sequences
from fingerpost.transit.engine.raptor.search_timetable.in_seat import Parts, join_in_seat
from fingerpost.transit.engine.raptor.search_timetable.split_stops import SearchStops, split_stops
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import (
    DAY_S,
    MAX_DELAY_S,
    TripInstances,
    apply_overlay,
    close_stops,
    drop_inaccessible,
    gather_trip_instances,
    reverse_in_time,
)
from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts, mark_rows, take_rows
from fingerpost.transit.engine.timetable.footpaths import use_step_free_footpaths
from fingerpost.transit.engine.timetable.overlay import NO_OVERLAY, Overlay
from fingerpost.transit.engine.timetable.service_days import find_midnight, find_service_day_start
from fingerpost.transit.engine.timetable.timetable import Int32, Int64, Timetable

# A forward search timetable ends this long after the start of its day; a reversed one begins one day before that start.
HORIZON_S = 2 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTimetable:
    """The trip instances of a day and of nearby days, grouped by pattern.

    ``instance_parts`` holds each instance's row in ``parts``.

    The search timetable includes all trips that begin by ``reach_s`` (if reversed, all that end at or after that time).
    """

    start: int  # Unix seconds
    is_reverse: bool
    patterns: Patterns
    parts: Parts
    instance_parts: Int64
    search_stops: SearchStops
    reach_s: int  # search timetable seconds

    @property
    def stop_count(self) -> int:
        return len(self.search_stops.change_s)

    @property
    def pattern_count(self) -> int:
        return len(self.patterns.stop_time_base)

    def to_search_s(self, instant: int) -> int:
        return self.start - instant if self.is_reverse else instant - self.start

    def to_instant(self, search_s: int) -> int:
        return self.start - search_s if self.is_reverse else self.start + search_s


def build_search_timetable(
    timetable: Timetable,
    day: date,
    *,
    is_reverse: bool,
    step_free: bool,
    overlay: Overlay = NO_OVERLAY,
    further_days: int = 0,
) -> SearchTimetable:
    """Apply an overlay to the trip instances on and around a day, and group them into patterns.

    ``step_free`` excludes inaccessible trips and stops, and closes stops with broken lifts.
    ``further_days`` is the number of additional later days, or earlier ones if ``is_reverse``.
    """
    zone = timetable.feeds[0].zone
    start = find_service_day_start(day, zone)
    # When the clocks go back, the calendar day begins before the service day.
    first_s = min(0, find_midnight(day, zone) - start)
    if is_reverse:
        since_s, until_s = -(1 + further_days) * DAY_S, DAY_S + DAY_S // 2
    else:
        since_s, until_s = first_s, HORIZON_S + further_days * DAY_S
    instances = gather_trip_instances(timetable, day, start, since_s - MAX_DELAY_S, until_s)
    instances = apply_overlay(instances, overlay, start, since_s)
    if step_free:
        instances = drop_inaccessible(timetable, instances)
    instances = close_stops(timetable, instances, overlay, start, step_free=step_free)
    instances, search_stops = split_stops(timetable, instances, overlay)
    instances, parts = join_in_seat(timetable, instances, overlay)
    if is_reverse:
        instances, since_s, until_s = reverse_in_time(instances), -until_s, -since_s
    span_count = (until_s - since_s) // SPAN_S
    stop_count = len(search_stops.change_s)
    grouped, instance_parts = _group_into_patterns(instances)
    leaving = search_stops.paths
    arriving = _reverse_paths(search_stops.paths)
    if is_reverse:
        leaving, arriving = arriving, leaving
    patterns = Patterns(
        **grouped,
        **_index_positions(stop_count, grouped["pattern_first"], grouped["position_stop"]),
        **_build_hops(stop_count, grouped, span_count, since_s),
        paths=leaving,
        arriving=arriving,
        change_s=search_stops.change_s,
        spans_since_s=since_s,
    )
    return SearchTimetable(
        start=start,
        is_reverse=is_reverse,
        patterns=patterns,
        parts=parts,
        instance_parts=instance_parts,
        search_stops=search_stops,
        reach_s=until_s,
    )


def _group_into_patterns(instances: TripInstances) -> tuple[dict[str, Any], Int64]:
    """Return the columns of ``Patterns``, and the trip instances in row order."""
    columns = (instances.begin, instances.length, instances.shift_s, *instances.stop_times)
    count = len(instances.day)
    stop_hash = np.zeros(count, np.uint64)
    stop_times = instances.stop_times
    hash_stop_sequences(instances.begin, instances.length, stop_times.stop, stop_times.flags, stop_hash)
    group = np.unique(stop_hash, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((np.arange(count), instances.end_s, instances.start_s, group))
    instance_pattern = np.zeros(count, np.int64)
    pattern_count = assign_patterns(order, group, *columns, instance_pattern)
    length = np.zeros(pattern_count, np.int64)
    length[instance_pattern] = instances.length
    size = np.bincount(instance_pattern, minlength=pattern_count).astype(np.int64)
    pattern_first, stop_time_base = list_starts(length), list_starts(length * size)
    instance = order[np.argsort(instance_pattern[order], kind="stable")]
    instance_first = list_starts(size)
    first = take_rows(stop_times, instances.list_rows(instance[instance_first[:-1]]))
    grouped = {
        "pattern_first": pattern_first.astype(np.int32),
        "instance_first": instance_first.astype(np.int32),
        "stop_time_base": stop_time_base[:-1],
        "position_stop": first.stop.astype(np.uint32),
        "position_flags": first.flags & np.uint8(NO_BOARDING | NO_ALIGHTING),
        **instances.copy_columns(instance, ("arrival_s", "departure_s")),
    }
    return grouped, instance


def _index_positions(stop_count: int, pattern_first: Int32, position_stop: UInt32) -> dict[str, Any]:
    length = np.diff(pattern_first)
    pattern, position = list_ranges(np.zeros_like(length), length)
    order = np.argsort(position_stop, kind="stable")
    return {
        "stop_first": list_starts(np.bincount(position_stop, minlength=stop_count)).astype(np.uint32),
        "stop_pattern": pattern[order].astype(np.uint32),
        "stop_position": position[order].astype(np.int32),
    }


def _build_hops(stop_count: int, grouped: Mapping[str, Any], span_count: int, since_s: int) -> dict[str, Any]:
    position_stop = grouped["position_stop"].astype(np.int64)
    is_later = ~mark_rows(len(position_stop), grouped["pattern_first"][:-1])
    rows = np.flatnonzero(is_later)
    hops, hop_rows = np.unique(position_stop[rows] * stop_count + position_stop[rows - 1], return_inverse=True)
    position_hop = np.full(len(is_later), -1, np.int64)
    position_hop[rows] = hop_rows.reshape(-1)
    hop_s = np.full((span_count, len(hops)), NO_HOP, np.uint16)
    names = ("pattern_first", "instance_first", "stop_time_base", "arrival_s", "departure_s")
    find_shortest_hops(*(grouped[name] for name in names), since_s, position_hop, hop_s)
    return {
        "hop_first": list_starts(np.bincount(hops // stop_count, minlength=stop_count)).astype(np.uint32),
        "hop_from": (hops % stop_count).astype(np.uint32),
        "hop_s": hop_s,
    }


def _reverse_paths(paths: PathsOfStops) -> PathsOfStops:
    first, target, seconds, metres = paths
    count = len(first) - 1
    origin = np.repeat(np.arange(count, dtype=np.uint32), np.diff(first))
    order: npt.NDArray[np.int64] = np.lexsort((origin, target))
    arrivals = list_starts(np.bincount(target, minlength=count)).astype(np.uint32)
    return PathsOfStops(arrivals, origin[order], seconds[order], metres[order])


# Default memory limit for all search timetables in a process.
CACHE_BYTES = 512_000_000
# A search timetable for New York takes 54 to 63 MB, and building it takes 124 to 146 MB.
_SHARE_OF_BUILDS = 0.3

_Key = tuple[date, bool, bool, int]


@dataclass(slots=True)
class _Cached:
    search_timetable: SearchTimetable
    size_bytes: int
    last_use: int


class SearchTimetableCache:
    """Limits the memory used by search timetables: drops the least recently used ones, but never the newest.

    The cache frees a share of the memory before each build, because a build needs more memory than its result.
    """

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self.uses = itertools.count()
        # The references are weak, so that the search timetables of an unused overlay are freed with it.
        self._owners: WeakSet[SearchTimetables] = WeakSet()

    def add(self, owner: "SearchTimetables", key: _Key, search_timetable: SearchTimetable) -> _Cached:
        added = _Cached(search_timetable, count_bytes(search_timetable), next(self.uses))
        with self._lock:
            self._owners.add(owner)
            owner.cached[key] = added
        self.make_room(0.0, added)
        return added

    def make_room(self, free_share: float = _SHARE_OF_BUILDS, newest: _Cached | None = None) -> None:
        with self._lock:
            entries = [(cached, key, owner.cached) for owner in self._owners for key, cached in owner.cached.items()]
            excess_bytes = sum(cached.size_bytes for cached, _, _ in entries) - (1 - free_share) * self._max_bytes
            for cached, key, owner_entries in sorted(entries, key=lambda entry: entry[0].last_use):
                if excess_bytes <= 0 or cached is newest:
                    break
                del owner_entries[key]
                excess_bytes -= cached.size_bytes


def count_bytes(search_timetable: SearchTimetable) -> int:
    """Return the total size of a search timetable's arrays, including footpaths shared with its timetable."""
    patterns = search_timetable.patterns
    arrays = (*patterns, *patterns.paths, *patterns.arriving, search_timetable.instance_parts, *search_timetable.parts)
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


class NotBuilt(Exception):
    """A search needs a search timetable but may not build it."""

    def __init__(self, build: Callable[[], SearchTimetable]) -> None:
        super().__init__()
        self.build = build


class SearchTimetables:
    """Builds and caches search timetables by day, direction and options; thread-safe."""

    def __init__(
        self, timetable: Timetable, overlay: Overlay = NO_OVERLAY, cache: SearchTimetableCache | None = None
    ) -> None:
        self.cache = SearchTimetableCache() if cache is None else cache
        self._timetable = timetable
        self._overlay = overlay
        # Only the cache modifies this.
        self.cached: dict[_Key, _Cached] = {}
        self._building = threading.Lock()

    def get_search_timetable(
        self, day: date, *, is_reverse: bool, step_free: bool, further_days: int = 0, may_build: bool = True
    ) -> SearchTimetable:
        """Return a search timetable; if it is missing, build it if ``may_build``, otherwise raise NotBuilt."""
        key = (day, is_reverse, step_free, further_days)
        cached = self.cached.get(key)
        if cached is None and not may_build:
            get = self.get_search_timetable
            raise NotBuilt(lambda: get(day, is_reverse=is_reverse, step_free=step_free, further_days=further_days))
        if cached is None:
            with self._building:
                cached = self.cached.get(key)
                if cached is None:
                    self.cache.make_room()
                    timetable = use_step_free_footpaths(self._timetable) if step_free else self._timetable
                    built = build_search_timetable(
                        timetable, day, is_reverse=is_reverse, step_free=step_free,
                        overlay=self._overlay, further_days=further_days,
                    )  # fmt: skip
                    cached = self.cache.add(self, key, built)
        cached.last_use = next(self.cache.uses)
        return cached.search_timetable
