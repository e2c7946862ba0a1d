"""Scratch memory of searches, kept by each thread from question to question."""

import threading
from dataclasses import dataclass

from fingerpost.transit.raptor.arrays import Found, Labels, Workspace, new_found, new_labels, new_workspace
from fingerpost.transit.raptor.search_timetable.build import DaySlice

# Room at first; both are doubled where either is lacking.
JOURNEYS, LABELS = 256, 16_384
# A thread keeps memory for so many kinds of questions, that is, numbers of stops and of rides.
KEPT = 16


@dataclass(slots=True)
class Memory:
    """Scratch memory for questions of exactly ``max_rides`` rides.

    They are asked of slices of exactly ``stop_count`` stops, with at most ``chain_count`` chains of at most
    ``longest_chain`` positions.
    """

    stop_count: int
    chain_count: int
    longest_chain: int
    max_rides: int
    work: Workspace
    labels: Labels
    found: Found

    def make_fit(self, piece: DaySlice) -> None:
        """Let a slice with as many stops be searched: what has grown stays as large."""
        if self.chain_count < piece.chain_count or self.longest_chain < piece.longest_chain:
            self.chain_count = max(self.chain_count, piece.chain_count)
            self.longest_chain = max(self.longest_chain, piece.longest_chain)
            self.work = self._new_work()

    def grow(self) -> None:
        """Double the room, and forget the search that lacked it."""
        self.found = new_found(2 * len(self.found.journey))
        self.labels = new_labels(self.stop_count, self.max_rides, 2 * len(self.labels.row))
        # A search that gave up half way left its queue behind.
        self.work = self._new_work()

    def _new_work(self) -> Workspace:
        return new_workspace(self.stop_count, self.chain_count, self.longest_chain, self.max_rides)


_own = threading.local()


def memory_of_thread(piece: DaySlice, max_rides: int) -> Memory:
    """Return this thread's memory for questions of ``max_rides`` rides that are asked of a slice."""
    kept: dict[tuple[int, int], Memory] = _own.__dict__.setdefault("kept", {})
    key = (piece.stop_count, max_rides)
    if key not in kept:
        if len(kept) >= KEPT:
            kept.clear()
        kept[key] = Memory(
            stop_count=piece.stop_count,
            chain_count=piece.chain_count,
            longest_chain=piece.longest_chain,
            max_rides=max_rides,
            work=new_workspace(piece.stop_count, piece.chain_count, piece.longest_chain, max_rides),
            labels=new_labels(piece.stop_count, max_rides, LABELS),
            found=new_found(JOURNEYS),
        )
    memory = kept[key]
    memory.make_fit(piece)
    return memory
