"""Group rows that are linked, directly or through other rows (union-find)."""

from collections.abc import Iterable


def group_linked(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the groups of rows 0 to ``count - 1``; each is sorted, and the groups are sorted by their first row."""
    parent = list(range(count))

    def find_root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for a, b in links:
        parent[find_root(b)] = find_root(a)
    groups: dict[int, list[int]] = {}
    for row in range(count):
        groups.setdefault(find_root(row), []).append(row)
    return list(groups.values())
