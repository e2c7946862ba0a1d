"""Edges between junctions while a graph of streets is built; merges those that meet where nothing else does."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import list_ranges, starts_of
from fingerpost.transit.engine.timetable.timetable import Float32, Float64, Int32, Int64, UInt8
from fingerpost.transit.osm.streets.graph import BLOCKED, ONE_WAY


class Edges(NamedTuple):
    """Edges as columns, before arcs are made of them; nodes are numbered from 0.

    Attributes:
        begin, end: the nodes of each edge.
        flags, node_flags, avoided: as in ``StreetGraph``.
        first: the points of edge e are rows ``first[e] .. first[e + 1]`` of the next three.
        lat_e7, lon_e7: positions of points, in ten millionths of a degree.
        along_m: metres from the beginning of the edge.
    """

    begin: Int32
    end: Int32
    flags: UInt8
    avoided: Float32
    first: Int64
    lat_e7: Int32
    lon_e7: Int32
    along_m: Float64
    node_flags: UInt8

    @property
    def length_m(self) -> Float64:
        return self.along_m[self.first[1:] - 1]

    @property
    def is_blocked(self) -> npt.NDArray[np.bool_]:
        """Which nodes nobody walks past."""
        blocked: npt.NDArray[np.bool_] = self.node_flags & BLOCKED != 0
        return blocked


class _ChainedEdge(NamedTuple):
    """An edge within a chain of edges; ``is_turned`` where the chain goes against it."""

    edge: int
    is_turned: bool


def merge_edges(edges: Edges) -> Edges:
    """Return edges in which no two of a kind meet at a node where nothing happens and no third does.

    What is merged keeps its shape. None begins and ends at one node.
    """
    chains = _list_chains(edges)
    if not chains:
        return edges
    merged = [part for chain in chains for part in chain]
    is_single = np.ones(len(edges.begin), np.bool_)
    is_single[[part.edge for part in merged]] = False
    single = np.flatnonzero(is_single)
    # Each edge of the result is a chain: one that stays is a chain of itself alone.
    edge = np.concatenate([single, [part.edge for part in merged]])
    is_turned = np.concatenate([np.zeros(len(single), np.bool_), [part.is_turned for part in merged]])
    count = np.concatenate([np.ones(len(single), np.int64), [len(chain) for chain in chains]])
    first = starts_of(count)
    head, last = first[:-1], first[1:] - 1
    length_m = edges.length_m[edge]
    before_m = np.cumsum(length_m) - length_m
    before_m -= np.repeat(before_m[head], count)
    # The points of every part in the chain's order; a part begins where the one before it ends.
    size = np.diff(edges.first)[edge]
    of_part, within = list_ranges(np.zeros(len(edge), np.int64), size)
    is_head = np.zeros(len(edge), np.bool_)
    is_head[head] = True
    is_new = is_head[of_part] | (within > 0)
    of_part, within = of_part[is_new], within[is_new]
    points = edges.first[edge[of_part]] + np.where(is_turned[of_part], size[of_part] - 1 - within, within)
    along_m = np.where(is_turned[of_part], length_m[of_part] - edges.along_m[points], edges.along_m[points])
    return Edges(
        begin=np.where(is_turned[head], edges.end[edge[head]], edges.begin[edge[head]]),
        end=np.where(is_turned[last], edges.begin[edge[last]], edges.end[edge[last]]),
        flags=edges.flags[edge[head]],
        avoided=edges.avoided[edge[head]],
        first=starts_of(np.add.reduceat(size - ~is_head, head)),
        lat_e7=edges.lat_e7[points],
        lon_e7=edges.lon_e7[points],
        along_m=along_m + before_m[of_part],
        node_flags=edges.node_flags,
    )


def _list_chains(edges: Edges) -> list[list[_ChainedEdge]]:
    """Return the chains of two and more edges that become one, each in its order."""
    at = _list_meeting_points(edges)
    chains, seen = [], set[int]()
    for node in at:
        if node in seen:
            continue
        seen.add(node)
        one, other = at[node]
        before = _follow(edges, at, node, one, seen)
        after = _follow(edges, at, node, other, seen)
        chain = [_ChainedEdge(part.edge, not part.is_turned) for part in reversed(before)] + after
        chains += _without_loops(edges, chain)
    return [chain for chain in chains if len(chain) > 1]


def _list_meeting_points(edges: Edges) -> dict[int, tuple[int, int]]:
    count = len(edges.node_flags)
    nodes = np.concatenate([edges.begin, edges.end])
    order = np.argsort(nodes, kind="stable")
    meeting = np.bincount(nodes, minlength=count)
    first = np.cumsum(meeting) - meeting
    two = np.flatnonzero((meeting == 2) & (edges.node_flags == 0))
    one, other = (order[first[two] + place] % len(edges.begin) for place in (0, 1))
    alike = (edges.flags[one] == edges.flags[other]) & (edges.avoided[one] == edges.avoided[other])
    alike &= (edges.flags[one] & ONE_WAY == 0) & (one != other)
    return {int(node): (int(a), int(b)) for node, a, b in zip(two[alike], one[alike], other[alike], strict=True)}


def _follow(edges: Edges, at: dict[int, tuple[int, int]], node: int, edge: int, seen: set[int]) -> list[_ChainedEdge]:
    """Return the parts of a chain from a node on, the first along an edge; its inner nodes are seen then."""
    parts = []
    while True:
        is_turned = int(edges.end[edge]) == node
        parts.append(_ChainedEdge(edge, is_turned))
        node = int(edges.begin[edge] if is_turned else edges.end[edge])
        if node in seen or node not in at:
            return parts
        seen.add(node)
        one, other = at[node]
        edge = other if one == edge else one


def _without_loops(edges: Edges, chain: list[_ChainedEdge]) -> list[list[_ChainedEdge]]:
    if len({part.edge for part in chain}) < len(chain):
        # A ring that nothing else meets was followed both ways round.
        chain = chain[: len({part.edge for part in chain})]
    first, last = chain[0], chain[-1]
    begin = edges.end[first.edge] if first.is_turned else edges.begin[first.edge]
    end = edges.begin[last.edge] if last.is_turned else edges.end[last.edge]
    return [chain] if begin != end else [chain[:1], chain[1:]]
