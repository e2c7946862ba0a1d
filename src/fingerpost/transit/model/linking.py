"""Group rows that are linked, directly or through other rows (union-find)."""

from collections.abc import Iterable


def group_linked(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the groups of rows 0 to ``count - 1``; each is sorted, and they are sorted by their first row."""
    leader = list(range(count))

    def find(row: int) -> int:
        while leader[row] != row:
            leader[row] = leader[leader[row]]
            row = leader[row]
        return row

    for one, other in links:
        leader[find(other)] = find(one)
    groups: dict[int, list[int]] = {}
    for row in range(count):
        groups.setdefault(find(row), []).append(row)
    return list(groups.values())
