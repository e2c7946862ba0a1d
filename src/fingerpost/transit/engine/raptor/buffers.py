"""Scratch memory of searches, kept by each thread from query to query."""

import threading
from dataclasses import dataclass

from fingerpost.transit.engine.raptor.arrays import (
    JourneyRows,
    Labels,
    Workspace,
    new_journey_rows,
    new_labels,
    new_workspace,
)
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable

# Sizes at first; both are doubled where either is too small.
JOURNEYS, LABELS = 256, 16_384
# A thread keeps memory for so many different pairs of a number of stops and a number of rides.
KEPT = 16


@dataclass(slots=True)
class SearchBuffers:
    """Scratch memory for queries of exactly ``max_rides`` rides.

    They search timetables of exactly ``stop_count`` stops, with at most ``pattern_count`` patterns of at most
    ``longest_pattern`` positions.
    """

    stop_count: int
    pattern_count: int
    longest_pattern: int
    max_rides: int
    work: Workspace
    labels: Labels
    found: JourneyRows

    def make_fit(self, search_timetable: SearchTimetable) -> None:
        """Grow until a search timetable of as many stops fits; nothing shrinks again."""
        if (
            self.pattern_count < search_timetable.pattern_count
            or self.longest_pattern < search_timetable.longest_pattern
        ):
            self.pattern_count = max(self.pattern_count, search_timetable.pattern_count)
            self.longest_pattern = max(self.longest_pattern, search_timetable.longest_pattern)
            self.work = self._new_work()

    def grow(self) -> None:
        """Double the journeys and labels, and start with fresh scratch memory."""
        self.found = new_journey_rows(2 * len(self.found.journey))
        self.labels = new_labels(self.stop_count, self.max_rides, 2 * len(self.labels.row))
        # A search that gave up half way left its queue behind.
        self.work = self._new_work()

    def _new_work(self) -> Workspace:
        return new_workspace(self.stop_count, self.pattern_count, self.longest_pattern, self.max_rides)


_own = threading.local()


def buffers_of_thread(search_timetable: SearchTimetable, max_rides: int) -> SearchBuffers:
    """Return this thread's memory for queries of ``max_rides`` rides on a search timetable."""
    kept: dict[tuple[int, int], SearchBuffers] = _own.__dict__.setdefault("kept", {})
    key = (search_timetable.stop_count, max_rides)
    if key not in kept:
        if len(kept) >= KEPT:
            kept.clear()
        kept[key] = SearchBuffers(
            stop_count=search_timetable.stop_count,
            pattern_count=search_timetable.pattern_count,
            longest_pattern=search_timetable.longest_pattern,
            max_rides=max_rides,
            work=new_workspace(
                search_timetable.stop_count, search_timetable.pattern_count, search_timetable.longest_pattern, max_rides
            ),
            labels=new_labels(search_timetable.stop_count, max_rides, LABELS),
            found=new_journey_rows(JOURNEYS),
        )
    buffers = kept[key]
    buffers.make_fit(search_timetable)
    return buffers
