"""What comes before what, for any graph of step ids."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def find_cycle(edges: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the steps of one circle, each depending on the next, or nothing."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        # graphlib lists each step before those that depend on it, and the first one again at the end.
        circle: list[int] = error.args[1][:0:-1]
        start = circle.index(min(circle))
        return circle[start:] + circle[:start]
    return []


def reach_of(edges: Mapping[int, Sequence[int]]) -> dict[int, frozenset[int]]:
    """Return all steps that each step depends on, directly or not; the graph has no circle."""
    reach: dict[int, frozenset[int]] = {}
    for node in TopologicalSorter(edges).static_order():
        before = edges[node]
        reach[node] = frozenset(before).union(*(reach[each] for each in before))
    return reach
