"""Add straight lines across squares and platforms, between their entrances and inner corners (a visibility graph).

Adjoining squares are combined into one *ground*. In OpenStreetMap, a square and a way beyond a wall at its border may
share nodes, so the square is given its own nodes first.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.runtime.grouping import group_by_key, group_linked
from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.osm.streets.extract import ExtractedStreets, Square, Way, WayRule

# Maximum number of entrances to connect in a ground; the others are still connected along its border.
MAX_ENTRANCES = 200
# Maximum number of inner corners to connect in a ground.
MAX_CORNERS = 250
# A node where the border bends by less than this is not a corner.
_BEND_DEGREES = 5.0

_Line = tuple[int, int]


class _Ground(NamedTuple):
    """Adjoining squares with the same rule; ``walls`` are all borders, including holes, ground on the left."""

    rule: WayRule
    walls: dict[_Line, None]


def list_crossings(streets: ExtractedStreets) -> Iterator[Way]:
    """Yield a straight way for each pair of mutually visible entrances or inner corners of a ground."""
    # Nodes that are also used outside the rings of squares are entrances.
    uses = Counter(node for square in streets.squares for ring in square.rings for node in ring)
    grounds = _list_grounds(streets)
    bordering = Counter(node for ground in grounds for node in {start for start, _ in ground.walls})
    for ground in grounds:
        nodes = dict.fromkeys(start for start, _ in ground.walls)
        entrances = [
            node for node in nodes if streets.uses[node] > uses[node] or node in streets.corners or bordering[node] > 1
        ]
        for start, end in _list_sight_lines(streets, ground, _thin(entrances, MAX_ENTRANCES)):
            yield Way(ground.rule, [start, end])


def _list_grounds(streets: ExtractedStreets) -> list[_Ground]:
    squares = {
        frozenset(lines): (square.rule, lines) for square in streets.squares if (lines := _list_lines(streets, square))
    }
    members = list(squares.values())
    square_by_line: dict[tuple[WayRule, _Line], int] = {}
    links: list[tuple[int, int]] = []
    for number, (rule, lines) in enumerate(members):
        for start, end in lines:
            # An adjoining square contains the same line in the opposite direction.
            neighbour = square_by_line.get((rule, (end, start)))
            if neighbour is not None:
                links.append((neighbour, number))
            square_by_line[rule, (start, end)] = number
    grounds = []
    for rows in group_linked(len(members), links):
        borders = dict.fromkeys(line for row in rows for line in members[row][1])
        walls = {line: None for line in borders if line[::-1] not in borders}
        grounds.append(_Ground(members[rows[0]][0], walls))
    return grounds


def _list_lines(streets: ExtractedStreets, square: Square) -> list[_Line]:
    lines: list[_Line] = []
    for number, ring in enumerate(square.rings):
        points = np.array([streets.positions[node] for node in ring])
        if len(points) < 4:
            continue
        # Coordinates relative to a corner keep the products precise.
        north, east = (points - points[0]).T
        is_counter_clockwise = float((east[:-1] * north[1:] - east[1:] * north[:-1]).sum()) > 0
        lines += pairwise(ring if is_counter_clockwise == (number == 0) else ring[::-1])
    return lines


def _list_sight_lines(streets: ExtractedStreets, ground: _Ground, entrances: list[int]) -> Iterator[_Line]:
    if len(entrances) < 2:
        return
    entrance_nodes = set(entrances)
    corners = _thin([node for node in _list_corners(streets, ground) if node not in entrance_nodes], MAX_CORNERS)
    ends = entrances + corners
    lines = np.array([(*streets.positions[start], *streets.positions[end]) for start, end in ground.walls])
    # Grounds are small, so one scale for longitudes is enough.
    scale = np.array([1.0, np.cos(np.radians(lines[0, 0]))])
    walls = lines * np.tile(scale, 2)
    places = np.array([streets.positions[node] for node in ends]) * scale
    for i, start in enumerate(ends[:-1]):
        seen = _can_see(places[i], places[i + 1 :], walls).tolist()
        for end, is_seen in zip(ends[i + 1 :], seen, strict=True):
            if is_seen and (start, end) not in ground.walls and (end, start) not in ground.walls:
                yield start, end


def _thin(nodes: list[int], limit: int) -> list[int]:
    return nodes if len(nodes) <= limit else nodes[:: -(-len(nodes) // limit)]


def _list_corners(streets: ExtractedStreets, ground: _Ground) -> list[int]:
    """Return the nodes where a border turns into the ground; shortest paths bend only there."""
    successors = group_by_key(ground.walls)
    predecessors = group_by_key((end, start) for start, end in ground.walls)
    # A node where borders touch is a corner.
    corners = [node for node in successors if len(successors[node]) > 1]
    single = [node for node in successors if len(successors[node]) == len(predecessors.get(node, ())) == 1]
    if not single:
        return corners
    previous, current, following = (
        np.array([streets.positions[node] for node in nodes])
        for nodes in ([predecessors[node][0] for node in single], single, [successors[node][0] for node in single])
    )
    scale = np.array([1.0, np.cos(np.radians(current[0, 0]))])
    a, b = (current - previous) * scale, (following - current) * scale
    turn = np.degrees(np.arctan2(a[:, 1] * b[:, 0] - a[:, 0] * b[:, 1], (a * b).sum(axis=1)))
    # With the ground to the left, the border turns right at an inner corner.
    return corners + [node for node, bend in zip(single, turn.tolist(), strict=True) if bend < -_BEND_DEGREES]


def _can_see(start: Float64, ends: Float64, walls: Float64) -> npt.NDArray[np.bool_]:
    """Return whether the lines from ``start`` to ``ends`` stay inside; each row of ``walls`` holds two points."""
    a, b = walls[:, :2], walls[:, 2:]
    goals = ends[:, np.newaxis, :]
    side_a, side_b = _find_side(start, goals, a), _find_side(start, goals, b)
    side_start, side_end = _find_side(a, b, start), _find_side(a, b, goals)
    is_inside: npt.NDArray[np.bool_] = ~np.any((side_a * side_b < 0) & (side_start * side_end < 0), axis=1)
    # A line that touches a corner may leave the ground there, so several points on it are tested.
    for fraction in (0.5, 0.03, 0.97, 0.25, 0.75):
        point = (start + (ends - start) * fraction)[:, np.newaxis, :]
        crosses = (a[:, 0] > point[..., 0]) != (b[:, 0] > point[..., 0])
        rise = np.where(crosses, b[:, 0] - a[:, 0], 1.0)
        crossing = a[:, 1] + (point[..., 0] - a[:, 0]) / rise * (b[:, 1] - a[:, 1])
        is_inside &= ((crosses & (point[..., 1] < crossing)).sum(axis=1) % 2).astype(np.bool_)
    return is_inside


def _find_side(a: Float64, b: Float64, point: Float64) -> Float64:
    side: Float64 = (b[..., 0] - a[..., 0]) * (point[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        point[..., 0] - a[..., 0]
    )
    return side


# Copies have ids below all others: OpenStreetMap's ids are positive, and lifts have negated way ids.
_COPY_ID = -(1 << 48)


def separate_at_walls(streets: ExtractedStreets) -> None:
    """Give each square its own nodes along walls, except at openings.

    A square above a retaining wall and the way below the wall share nodes on the map, but are not connected.
    """
    walls = streets.walls - streets.openings
    rings = (ring for square in streets.squares for ring in square.rings)
    numbers = {frozenset(ring): number for number, ring in enumerate(rings, 1)}

    def separate(nodes: list[int]) -> list[int]:
        # The way of a ring may begin at a different node.
        number = numbers.get(frozenset(nodes))
        if number is None:
            return nodes
        copies = [node + number * _COPY_ID if node in walls else node for node in nodes]
        streets.positions.update({copy: streets.positions[node] for copy, node in zip(copies, nodes, strict=True)})
        return copies

    streets.squares = [Square(square.rule, [separate(ring) for ring in square.rings]) for square in streets.squares]
    streets.ways = [Way(way.rule, separate(way.nodes)) for way in streets.ways]
    streets.uses.update(node for way in streets.ways for node in way.nodes if node < _COPY_ID // 2)
