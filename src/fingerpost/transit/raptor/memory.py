"""Scratch memory of searches, kept by each thread from question to question."""

import threading
from dataclasses import dataclass

from fingerpost.transit.raptor.arrays import Found, Labels, Workspace, new_found, new_labels, new_workspace
from fingerpost.transit.raptor.chains import DaySlice

# Room for journeys at first, and for labels of the walk-limited search for each of these; doubled as needed.
JOURNEYS, LABELS_PER_JOURNEY = 256, 64
# A thread keeps memory for so many kinds of questions, that is, sizes of networks and numbers of rides.
KEPT = 16


@dataclass(slots=True)
class Memory:
    """Scratch memory for searches of up to so many rides on slices of up to this size."""

    stops: int
    chains: int
    longest: int
    rides: int
    work: Workspace
    labels: Labels
    found: Found

    def fits(self, piece: DaySlice) -> bool:
        """Whether a slice of that size can be searched."""
        return (
            self.stops == piece.stop_count and self.chains >= piece.chain_count and self.longest >= piece.longest_chain
        )

    def grow(self) -> None:
        """Double the room, and forget the search that lacked it."""
        journeys = 2 * len(self.found.journey)
        self.found = new_found(journeys)
        self.labels = new_labels(self.stops, self.rides, LABELS_PER_JOURNEY * journeys)
        # A search that gave up half way left its marks behind.
        self.work = new_workspace(self.stops, self.chains, self.longest, self.rides)


_own = threading.local()


def memory_of_thread(piece: DaySlice, max_rides: int) -> Memory:
    """Return this thread's memory for searches of up to ``max_rides`` rides: what it used before, if the slice fits."""
    kept: dict[tuple[int, int], Memory] = _own.__dict__.setdefault("kept", {})
    key = (piece.stop_count, max_rides)
    memory = kept.get(key)
    if memory is None or not memory.fits(piece):
        if len(kept) > KEPT:
            kept.clear()
        memory = Memory(
            stops=piece.stop_count,
            chains=piece.chain_count,
            longest=piece.longest_chain,
            rides=max_rides,
            work=new_workspace(piece.stop_count, piece.chain_count, piece.longest_chain, max_rides),
            labels=new_labels(piece.stop_count, max_rides, LABELS_PER_JOURNEY * JOURNEYS),
            found=new_found(JOURNEYS),
        )
        kept[key] = memory
    return memory
