"""Build the street graph: cut ways at junctions, add lines across squares, and drop disconnected parts."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.engine.timetable.columns import list_ranges, list_starts
from fingerpost.transit.engine.timetable.timetable import Float32, Float64, Int32, Int64, UInt8
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.streets import graph
from fingerpost.transit.osm.streets.extract import ExtractedStreets, Way
from fingerpost.transit.osm.streets.graph import StreetGraph
from fingerpost.transit.osm.streets.squares import list_crossings, separate_at_walls

# Connected groups of streets shorter than this are dropped, except the longest. Islands with ferries have longer ones.
ISLAND_M = 2000.0
# The width of a latitude band (0.005 degrees); nodes are sorted by band, then by longitude.
_BAND_E7 = 50_000


class _Edges(NamedTuple):
    """Edges between junctions; the points of edge e are rows ``first[e] .. first[e + 1]``."""

    begin: Int32
    end: Int32
    flags: UInt8
    cost_factor: Float32
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
        blocked: npt.NDArray[np.bool_] = self.node_flags & graph.BLOCKED != 0
        return blocked


def build_graph(streets: ExtractedStreets) -> tuple[StreetGraph, float]:
    """Return the graph, and the length in metres of the streets that are not connected to it."""
    separate_at_walls(streets)
    edges, street_m = _cut(streets)
    is_kept = _find_connected(edges, street_m)
    left_out_m = float(street_m[~is_kept].sum())
    edges = _mark_short_parts(edges, is_kept, street_m, barred=graph.ENDS_ONLY, flag=graph.ENDS_ONLY)
    edges = _mark_short_parts(
        edges, is_kept, street_m, barred=graph.STEPS | graph.NO_WHEELS, barred_nodes=graph.KERB, flag=graph.CUT_OFF
    )
    return _link(edges, is_kept), left_out_m


def _cut(streets: ExtractedStreets) -> tuple[_Edges, Float64]:
    """Return the edges and their lengths in metres (0 for lines across squares)."""
    crossings = list(list_crossings(streets))
    junctions = {node for way in crossings for node in way.nodes}
    segments = [(way.rule, nodes) for way in streets.ways for nodes in _split_way(way, streets, junctions)]
    street_count = len(segments)
    segments += [(way.rule, nodes) for way in crossings for nodes in _split_way(way, streets, junctions)]
    numbers: dict[int, int] = {}
    ends = [numbers.setdefault(node, len(numbers)) for _, nodes in segments for node in (nodes[0], nodes[-1])]
    waiting_nodes = _find_waiting_nodes(streets)
    node_flags = ((node, streets.node_flags.get(node, 0)) for node in numbers)
    first = list_starts([len(nodes) for _, nodes in segments])
    points = [streets.positions[node] for _, nodes in segments for node in nodes]
    degrees = np.array(points, np.float64).reshape(-1, 2)
    edges = _Edges(
        begin=np.array(ends[::2], np.int32),
        end=np.array(ends[1::2], np.int32),
        flags=np.array([rule.flags for rule, _ in segments], np.uint8),
        cost_factor=np.array([rule.cost_factor for rule, _ in segments], np.float32),
        first=first,
        lat_e7=np.round(degrees[:, 0] * graph.DEGREES_E7).astype(np.int32),
        lon_e7=np.round(degrees[:, 1] * graph.DEGREES_E7).astype(np.int32),
        along_m=_measure_along(degrees, first),
        node_flags=np.array(
            [flag if node in waiting_nodes else flag & ~graph.LIGHTS for node, flag in node_flags], np.uint8
        ),
    )
    street_m = edges.length_m
    street_m[street_count:] = 0.0
    return edges, street_m


def _split_way(way: Way, streets: ExtractedStreets, junctions: set[int]) -> Iterator[list[int]]:
    nodes = way.nodes[::-1] if way.rule.is_backward else way.nodes
    last = len(nodes) - 1
    visited: set[int] = set()
    cuts = [0]
    for index in range(1, len(nodes)):
        node = nodes[index]
        is_junction = streets.uses[node] > 1 or node in streets.corners or node in junctions
        if index == last or is_junction or node in visited:
            cuts.append(index)
        visited.add(nodes[index - 1])
    for start, stop in pairwise(cuts):
        if nodes[start] == nodes[stop]:
            # A loop is split into two edges, because an edge needs two different ends.
            middle = (start + stop) // 2
            yield nodes[start : middle + 1]
            start = middle
        yield nodes[start : stop + 1]


def _find_waiting_nodes(streets: ExtractedStreets) -> set[int]:
    """Return the traffic lights (nodes) where walkers wait: on each way, those at junctions, else the first.

    A crossing of a road with tram tracks may have lights at each rail, but walkers wait only once.
    """
    waiting_nodes: set[int] = set()
    for way in streets.ways:
        lit = [node for node in way.nodes if streets.node_flags.get(node, 0) & graph.LIGHTS]
        waiting_nodes.update([node for node in lit if streets.uses[node] > 1] or lit[:1])
    return waiting_nodes


def _measure_along(degrees: Float64, first: Int64) -> Float64:
    step = np.zeros(len(degrees))
    dlat = np.diff(degrees[:, 0])
    dlon = np.diff(degrees[:, 1]) * np.cos(np.radians((degrees[1:, 0] + degrees[:-1, 0]) / 2))
    step[1:] = np.hypot(dlat, dlon) * METRES_PER_DEGREE
    step[first[:-1]] = 0.0
    total = np.cumsum(step)
    return total - np.repeat(total[first[:-1]], np.diff(first))


def _find_connected(edges: _Edges, street_m: Float64) -> npt.NDArray[np.bool_]:
    """Mark the edges in the longest connected part of the streets, and in other parts that are long enough.

    Within a part, every node is reachable from every other. One-way edges between parts, such as a platform's only
    escalator, are left out.
    """
    if not len(edges.begin):
        return np.zeros(0, np.bool_)
    label, blocked = _label_both_ways(edges), edges.is_blocked
    part = np.where(blocked[edges.begin], label[edges.end], label[edges.begin])
    is_isolated = blocked[edges.begin] & blocked[edges.end]
    is_between_parts = (edges.flags & graph.ONE_WAY != 0) & (label[edges.begin] != label[edges.end])
    # Each of these edges is a separate part.
    alone = np.flatnonzero(is_isolated | is_between_parts)
    part[alone] = len(label) + np.arange(len(alone))
    total_m = np.bincount(part, weights=street_m)
    is_long: npt.NDArray[np.bool_] = total_m[part] >= min(ISLAND_M, total_m.max()) - 1.0
    return is_long


def _label_both_ways(edges: _Edges) -> Int64:
    blocked, one_way = edges.is_blocked, edges.flags & graph.ONE_WAY != 0
    label = _label_parts(len(edges.node_flags), edges.begin[~one_way], edges.end[~one_way], blocked)
    is_open = one_way & ~(blocked[edges.begin] | blocked[edges.end])
    begin, end = label[edges.begin[is_open]].tolist(), label[edges.end[is_open]].tolist()
    successors, predecessors = group_by_key(zip(begin, end, strict=True)), group_by_key(zip(end, begin, strict=True))
    # Kosaraju's algorithm: a search from every link would take quadratic time.
    visited: set[int] = set()
    order = [node for root in successors for node in _visit(root, successors, visited)]
    joined = np.arange(len(label))
    visited = set()
    for root in reversed(order):
        joined[list(_visit(root, predecessors, visited))] = root
    return joined[label]


def _visit(root: int, links: Mapping[int, Iterable[int]], visited: set[int]) -> Iterator[int]:
    """Yield a root and the unvisited nodes reachable from it, in depth-first postorder."""
    if root in visited:
        return
    visited.add(root)
    path = [(root, iter(links.get(root, ())))]
    while path:
        node, neighbours = path[-1]
        successor = next((successor for successor in neighbours if successor not in visited), None)
        if successor is None:
            path.pop()
            yield node
        else:
            visited.add(successor)
            path.append((successor, iter(links.get(successor, ()))))


def _label_parts(count: int, begin: Int32, end: Int32, blocked: npt.NDArray[np.bool_]) -> Int64:
    label: Int64 = np.arange(count)
    is_open = ~(blocked[begin] | blocked[end])
    open_begin, open_end = begin[is_open], end[is_open]
    previous = np.zeros_like(label)
    while not np.array_equal(previous, label):
        previous = label.copy()
        lowest = np.minimum(label[open_begin], label[open_end])
        np.minimum.at(label, label[open_begin], lowest)
        np.minimum.at(label, label[open_end], lowest)
        label = label[label]
    return label


def _mark_short_parts(
    edges: _Edges, is_kept: npt.NDArray[np.bool_], street_m: Float64, *, barred: int, barred_nodes: int = 0, flag: int
) -> _Edges:
    """Set a flag on short parts of the streets that only barred edges or nodes connect to the rest."""
    is_open = is_kept & (edges.flags & barred == 0)
    is_barred_node = edges.node_flags & barred_nodes != 0
    open_edges = edges._replace(
        begin=edges.begin[is_open],
        end=edges.end[is_open],
        flags=edges.flags[is_open],
        node_flags=np.where(is_barred_node, graph.BLOCKED, edges.node_flags).astype(np.uint8),
    )
    flags = edges.flags.copy()
    flags[is_open] |= np.where(_find_connected(open_edges, street_m[is_open]), 0, flag).astype(np.uint8)
    return edges._replace(flags=flags)


def _link(edges: _Edges, is_kept: npt.NDArray[np.bool_]) -> StreetGraph:
    """Return the graph of the edges to keep, renumbered so that neighbours are close in memory.

    No arc leaves a blocked node, but searches must still check the direction of one-way edges.
    """
    rows = np.flatnonzero(is_kept)
    ends = np.column_stack([edges.begin[rows], edges.end[rows]])
    points = np.column_stack([edges.first[rows], edges.first[rows + 1] - 1])
    nodes, first_end, numbers = np.unique(ends, return_index=True, return_inverse=True)
    point = points.reshape(-1)[first_end]
    order = np.lexsort((edges.lon_e7[point], edges.lat_e7[point] // _BAND_E7))
    rank = np.empty(len(nodes), np.int32)
    rank[order] = np.arange(len(nodes))
    ends = rank[numbers.reshape(-1, 2)]
    by_begin = np.argsort(ends[:, 0], kind="stable")
    rows, ends = rows[by_begin], ends[by_begin]
    size = np.diff(edges.first)[rows]
    _, point_rows = list_ranges(edges.first[rows], size)
    node_flags = edges.node_flags[nodes[order]]
    tail = ends.reshape(-1)
    arcs = np.flatnonzero(node_flags[tail] & graph.BLOCKED == 0)
    arcs = arcs[np.argsort(tail[arcs], kind="stable")]
    return StreetGraph(
        node_first=list_starts(np.bincount(tail[arcs], minlength=len(nodes))).astype(np.int32),
        node_arc=arcs.astype(np.int32),
        arc_head=ends[:, ::-1].reshape(-1),
        node_flags=node_flags,
        edge_flags=edges.flags[rows],
        edge_m=edges.length_m[rows].astype(np.float32),
        edge_avoided=edges.cost_factor[rows],
        shape_first=list_starts(size).astype(np.int32),
        shape_lat_e7=edges.lat_e7[point_rows],
        shape_lon_e7=edges.lon_e7[point_rows],
        shape_m=edges.along_m[point_rows].astype(np.float32),
    )
