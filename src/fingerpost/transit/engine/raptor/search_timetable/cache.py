"""A cache of one timetable's search timetables, static or with one overlay."""

import threading
from collections import OrderedDict
from datetime import date

from fingerpost.transit.changeover import in_one_mode
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable, build_search_timetable
from fingerpost.transit.engine.timetable.footpaths import with_step_free_footpaths
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable

KEPT = 8
# A search among no more stop times than this was measured to take less than a millisecond.
LIGHT_STOP_TIMES = 250_000


class SearchTimetables:
    """An LRU cache of search timetables by day, direction, step-free and reach. Safe to share between threads."""

    def __init__(self, timetable: Timetable, overlay: Overlay | None = None) -> None:
        self._timetable = timetable
        self._step_free = with_step_free_footpaths(timetable)
        self._overlay = overlay
        self._kept: OrderedDict[tuple[date, bool, bool, int], SearchTimetable] = OrderedDict()
        self._lock = threading.Lock()

    @in_one_mode
    def get_search_timetable(
        self, day: date, *, mirrored: bool, step_free: bool, further_days: int = 0
    ) -> SearchTimetable:
        """Return the search timetable of a day, building it if need be; ``further_days`` as where it is built."""
        key = (day, mirrored, step_free, further_days)
        with self._lock:
            search_timetable = self._kept.get(key)
            if search_timetable is None:
                search_timetable = build_search_timetable(
                    self._step_free if step_free else self._timetable,
                    day,
                    mirrored=mirrored,
                    step_free=step_free,
                    overlay=self._overlay,
                    further_days=further_days,
                )
                self._kept[key] = search_timetable
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        return search_timetable

    def is_ready(self, day: date, *, mirrored: bool, step_free: bool) -> bool:
        """Whether the search timetable is built already."""
        return (day, mirrored, step_free, 0) in self._kept

    def is_light(self, day: date, *, mirrored: bool, step_free: bool) -> bool:
        """Whether the search timetable is built already, and small."""
        search_timetable = self._kept.get((day, mirrored, step_free, 0))
        return search_timetable is not None and len(search_timetable.patterns.arrival_s) <= LIGHT_STOP_TIMES
