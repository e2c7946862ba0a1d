"""Ranking of itineraries (rule B8).

The published formula of ``balanced``, in seconds, the smallest first::

    time + CHANGE_COST_S * changes + WALK_COST * seconds on foot

where time is the expected arrival, or for a wanted arrival the expected departure with its sign turned.
"""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import Itinerary, Mode, Optimize
from fingerpost.transit.rules.fingerprint import fingerprint

# A change is worth arriving this much later.
CHANGE_COST_S = 300
# A second on foot counts once in the arrival and this much more.
WALK_COST = 1

SortKey = tuple[int, int, int, int, str]


def rank(itineraries: Iterable[Itinerary], optimize: Optimize, *, arrive_by: bool) -> list[Itinerary]:
    """Return the itineraries in the rider's order, best first; the order is the same for any order of input."""
    named = [(fingerprint(each), each) for each in itineraries]
    return [itinerary for _, itinerary in rank_named(named, optimize, arrive_by=arrive_by)]


def rank_named(
    named: Iterable[tuple[str, Itinerary]], optimize: Optimize, *, arrive_by: bool
) -> list[tuple[str, Itinerary]]:
    """Return itineraries, each beside its fingerprint, in the rider's order."""
    return sorted(named, key=lambda pair: sort_key(pair[1], optimize, arrive_by=arrive_by, name=pair[0]))


def sort_key(itinerary: Itinerary, optimize: Optimize, *, arrive_by: bool, name: str | None = None) -> SortKey:
    """Return a key by which the better itinerary sorts first; ``name`` is its fingerprint, where known already.

    After what ``optimize`` asks for: arrival, or latest departure where ``arrive_by``; changes; then leaving
    later (arriving earlier where ``arrive_by``), because nobody likes to wait; the fingerprint last.
    """
    time, other = itinerary.arrival, -itinerary.departure
    if arrive_by:
        time, other = other, time
    changes = itinerary.transfers
    if optimize is Optimize.SHORTEST_TIME:
        first = time
    elif optimize is Optimize.FEW_TRANSFERS:
        first = changes
    else:
        first = time + CHANGE_COST_S * changes + WALK_COST * walk_s(itinerary)
    return first, time, changes, other, name if name is not None else fingerprint(itinerary)


def walk_s(itinerary: Itinerary) -> int:
    """Return the time on foot, all legs together."""
    return sum(leg.duration_s for leg in itinerary.legs if leg.mode is Mode.WALK)
