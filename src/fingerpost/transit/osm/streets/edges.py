"""Edges between junctions while a graph of streets is built; merges those that meet where nothing else does."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float32, Float64, Int32, Int64, UInt8
from fingerpost.transit.osm.streets.graph import DEGREES_E7, ONE_WAY

# A bearing is taken over this many metres at an edge's end, so that a kink of the drawing is no turn.
_BEARING_M = 10.0


class Edges(NamedTuple):
    """Edges as columns, before arcs are made of them; nodes are numbered from 0.

    Attributes:
        begin, end: the nodes of each edge.
        flags, node_flags, avoided, turned_degrees: as in ``StreetGraph``.
        first: the points of edge e are rows ``first[e] .. first[e + 1]`` of the next three.
        lat_e7, lon_e7: positions of points, in ten millionths of a degree.
        along_m: metres from the beginning of the edge.
    """

    begin: Int32
    end: Int32
    flags: UInt8
    avoided: Float32
    turned_degrees: Float32
    first: Int64
    lat_e7: Int32
    lon_e7: Int32
    along_m: Float64
    node_flags: UInt8

    @property
    def length_m(self) -> Float64:
        return self.along_m[self.first[1:] - 1]


def find_bearings(edges: Edges) -> Float32:
    """Return of each arc the bearing where it begins and where it ends, in degrees."""
    count = len(edges.begin)
    begins, ends = edges.first[:-1], edges.first[1:] - 1
    after, before = begins + 1, ends - 1
    # Far enough from the end for a bearing, where the edge goes on so far.
    for _ in range(8):
        after = np.where((edges.along_m[after] < _BEARING_M) & (after < ends), after + 1, after)
        short = edges.along_m[ends] - edges.along_m[before] < _BEARING_M
        before = np.where(short & (before > begins), before - 1, before)
    starts, finishes = _bearing(edges, begins, after), _bearing(edges, before, ends)
    bearing = np.empty((2 * count, 2), np.float32)
    bearing[::2, 0], bearing[::2, 1] = starts, finishes
    bearing[1::2, 0], bearing[1::2, 1] = (finishes + 180) % 360, (starts + 180) % 360
    return bearing


def _bearing(edges: Edges, start: Int64, end: Int64) -> Float64:
    north = (edges.lat_e7[end] - edges.lat_e7[start]).astype(np.float64)
    east = (edges.lon_e7[end] - edges.lon_e7[start]) * np.cos(np.radians(edges.lat_e7[start] / DEGREES_E7))
    bearing: Float64 = np.degrees(np.arctan2(east, north)) % 360
    return bearing


_HALF_TURN = 180.0


class _ChainedEdge(NamedTuple):
    """An edge within a chain of edges; ``is_turned`` where the chain goes against it."""

    edge: int
    is_turned: bool


def merge_edges(edges: Edges) -> Edges:
    """Return edges in which no two of a kind meet at a node where nothing happens and no third does.

    What is merged keeps its shape, and how far it turns at the nodes that are gone. None begins and ends at one node.
    """
    chains = _list_chains(edges)
    if not chains:
        return edges
    is_merged = np.zeros(len(edges.begin), np.bool_)
    is_merged[[part.edge for chain in chains for part in chain]] = True
    single = np.flatnonzero(~is_merged)
    bearings = find_bearings(edges)
    ends = [_ends_of(edges, chain) for chain in chains]
    heads = np.array([chain[0].edge for chain in chains])
    turned = [_turned_degrees(bearings, chain) for chain in chains]
    rows = [_points_of(edges, chain) for chain in chains]
    size = np.concatenate([np.diff(edges.first)[single], [len(each) for each in rows]])
    single_size = size[: len(single)]
    of_single = np.repeat(edges.first[single] - np.cumsum(single_size) + single_size, single_size)
    points = np.concatenate([of_single + np.arange(len(of_single)), *rows])
    along = [edges.along_m[points[: len(of_single)]], *(_along_of(edges, chain) for chain in chains)]
    return Edges(
        begin=np.concatenate([edges.begin[single], [begin for begin, _ in ends]]).astype(np.int32),
        end=np.concatenate([edges.end[single], [end for _, end in ends]]).astype(np.int32),
        flags=np.concatenate([edges.flags[single], edges.flags[heads]]),
        avoided=np.concatenate([edges.avoided[single], edges.avoided[heads]]),
        turned_degrees=np.concatenate([edges.turned_degrees[single], turned]).astype(np.float32),
        first=np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
        lat_e7=edges.lat_e7[points],
        lon_e7=edges.lon_e7[points],
        along_m=np.concatenate(along),
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
    begin, end = _ends_of(edges, chain)
    return [chain] if begin != end else [chain[:1], chain[1:]]


def _ends_of(edges: Edges, chain: list[_ChainedEdge]) -> tuple[int, int]:
    first, last = chain[0], chain[-1]
    begin = edges.end[first.edge] if first.is_turned else edges.begin[first.edge]
    end = edges.begin[last.edge] if last.is_turned else edges.end[last.edge]
    return int(begin), int(end)


def _points_of(edges: Edges, chain: list[_ChainedEdge]) -> Int64:
    rows = []
    for place, part in enumerate(chain):
        points = np.arange(edges.first[part.edge], edges.first[part.edge + 1])
        rows.append((points[::-1] if part.is_turned else points)[place > 0 :])
    return np.concatenate(rows)


def _along_of(edges: Edges, chain: list[_ChainedEdge]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    parts, so_far_m = [], 0.0
    for place, part in enumerate(chain):
        along = edges.along_m[edges.first[part.edge] : edges.first[part.edge + 1]]
        length_m = float(along[-1])
        parts.append((length_m - along[::-1] if part.is_turned else along)[place > 0 :] + so_far_m)
        so_far_m += length_m
    return np.concatenate(parts)


def _turned_degrees(bearings: np.ndarray[tuple[int, int], np.dtype[np.float32]], chain: list[_ChainedEdge]) -> float:
    """Return by how many degrees a chain turns at the nodes between its edges, either way counted up."""
    arcs = [2 * part.edge + part.is_turned for part in chain]
    turned = 0.0
    for came, goes in pairwise(arcs):
        turn = abs(float(bearings[goes, 0]) - float(bearings[came, 1]))
        turned += min(turn, 2 * _HALF_TURN - turn)
    return turned
