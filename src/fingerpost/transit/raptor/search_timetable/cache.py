"""The slices of one timetable at one moment, built when first asked for and kept while they are in use."""

import threading
from collections import OrderedDict
from datetime import date

from fingerpost.transit.raptor.search_timetable.build import DaySlice, build_slice
from fingerpost.transit.timetable.overlay import Overlay
from fingerpost.transit.timetable.timetable import Timetable

KEPT = 8
# A search on a slice with no more calls than this was measured to take less than a millisecond.
LIGHT_CALLS = 250_000


class Slices:
    """A small cache of day slices, least recently used first to go. Safe to share between threads."""

    def __init__(self, timetable: Timetable, overlay: Overlay | None = None) -> None:
        self._timetable = timetable
        self._overlay = overlay
        self._kept: OrderedDict[tuple[date, bool, bool], DaySlice] = OrderedDict()
        self._lock = threading.Lock()

    def get_slice(self, day: date, *, mirrored: bool, step_free: bool) -> DaySlice:
        """Return the slice around a day, building it if need be."""
        key = (day, mirrored, step_free)
        with self._lock:
            piece = self._kept.get(key)
            if piece is None:
                piece = build_slice(self._timetable, day, mirrored=mirrored, step_free=step_free, overlay=self._overlay)
                self._kept[key] = piece
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        return piece

    def is_ready(self, day: date, *, mirrored: bool, step_free: bool) -> bool:
        """Whether the slice is there already."""
        return (day, mirrored, step_free) in self._kept

    def is_light(self, day: date, *, mirrored: bool, step_free: bool) -> bool:
        """Whether the slice is there already, and small."""
        piece = self._kept.get((day, mirrored, step_free))
        return piece is not None and len(piece.chains.arrival_s) <= LIGHT_CALLS
