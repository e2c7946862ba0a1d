"""What comes before what, for any graph of step ids; nothing here recurses."""

from collections.abc import Mapping, Sequence


def find_cycle(edges: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the steps of one circle, each depending on the next, or nothing."""
    settled: set[int] = set()
    for start in edges:
        path: list[int] = []
        on_path: set[int] = set()
        stack: list[tuple[int, int]] = [(start, 0)]
        while stack:
            node, turn = stack.pop()
            if turn == 0:
                if node in settled:
                    continue
                if node in on_path:
                    return path[path.index(node) :]
                path.append(node)
                on_path.add(node)
            following = edges[node]
            if turn < len(following):
                stack += [(node, turn + 1), (following[turn], 0)]
            else:
                settled.add(node)
                on_path.discard(path.pop())
    return []


def reach_of(edges: Mapping[int, Sequence[int]]) -> dict[int, frozenset[int]]:
    """Return all steps that each step depends on, directly or not; the graph has no circle."""
    reach: dict[int, frozenset[int]] = {}
    for start in edges:
        stack = [start]
        while stack:
            node = stack[-1]
            if node in reach:
                stack.pop()
                continue
            waiting = [each for each in edges[node] if each not in reach]
            if waiting:
                stack += waiting
                continue
            reach[node] = frozenset(edges[node]).union(*(reach[each] for each in edges[node]))
            stack.pop()
    return reach
