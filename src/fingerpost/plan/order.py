"""Topological order of a graph of step ids."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


class StepsCircular(ValueError):
    """Steps wait for one another; ``steps`` are those of one circle, each depending on the next."""

    def __init__(self, steps: list[int]) -> None:
        self.steps = steps
        super().__init__("steps wait for one another")


def sort_steps(edges: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the steps, each after all that it depends on.

    Raises:
        StepsCircular: there is no such order.
    """
    try:
        return list(TopologicalSorter(edges).static_order())
    except CycleError as error:
        # graphlib lists each step before those that depend on it, and the first one again at the end.
        circle: list[int] = error.args[1][:0:-1]
        start = circle.index(min(circle))
        raise StepsCircular(circle[start:] + circle[:start]) from None


def reach_of(edges: Mapping[int, Sequence[int]], in_order: Iterable[int]) -> dict[int, frozenset[int]]:
    """Return all steps that each step depends on, directly or not; ``in_order`` is what ``sort_steps`` found."""
    reach: dict[int, frozenset[int]] = {}
    for node in in_order:
        before = edges[node]
        reach[node] = frozenset(before).union(*(reach[each] for each in before))
    return reach
