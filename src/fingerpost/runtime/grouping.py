"""Group values by key, and rows by links between them."""

from collections.abc import Iterable
from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


def group_by_key(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Return the values of each key; keys and values remain in order."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def group_linked(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Group rows that are linked, directly or through other rows (union-find).

    Return the groups of rows 0 to ``count - 1``; each is sorted, and the groups are sorted by their first row.
    """
    parent = list(range(count))

    def find_root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for a, b in links:
        parent[find_root(b)] = find_root(a)
    return list(group_by_key((find_root(row), row) for row in range(count)).values())
