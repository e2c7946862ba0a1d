"""Straight lines across squares and platforms, between their entrances and the corners that one walks round."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fingerpost.transit.streets.extract import ExtractedStreets, Square, Way
from fingerpost.transit.timetable.timetable import Float64

# Squares with more entrances than this are crossed between this many of them; round the edge one may always walk.
MOST_ENTRANCES = 150
# So many corners of what stands in a square, or juts into it, are walked round closely.
MOST_CORNERS = 60
# Smaller bends are no corners.
_BEND_DEGREES = 5.0


def list_crossings(streets: ExtractedStreets) -> Iterator[Way]:
    """Yield a line for each two entrances or inner corners of a square from one of which one sees the other."""
    for square in streets.squares:
        for start, end in _list_sights(streets, square):
            yield Way(square.rule, [start, end])


def _list_sights(streets: ExtractedStreets, square: Square) -> Iterator[tuple[int, int]]:
    on_edge = dict.fromkeys(node for ring in square.rings for node in ring)
    entrances = [node for node in on_edge if _is_entrance(streets, node, square)]
    if len(entrances) > MOST_ENTRANCES:
        entrances = entrances[:: -(-len(entrances) // MOST_ENTRANCES)]
    if len(entrances) < 2:
        return
    corners = [node for node in _list_corners(streets, square) if node not in set(entrances)]
    if len(corners) > MOST_CORNERS:
        corners = corners[:: -(-len(corners) // MOST_CORNERS)]
    entrances += corners
    rings = [np.array([streets.positions[node] for node in ring]) for ring in square.rings]
    # Squares are small: a degree of longitude may be as long as at the first corner throughout.
    scale = np.array([1.0, np.cos(np.radians(rings[0][0, 0]))])
    walls = np.concatenate([np.hstack([ring[:-1], ring[1:]]) for ring in rings]) * np.tile(scale, 2)
    neighbours = {pair for ring in square.rings for pair in pairwise(ring)}
    places = np.array([streets.positions[node] for node in entrances]) * scale
    for i, start in enumerate(entrances[:-1]):
        seen = _sees(places[i], places[i + 1 :], walls).tolist()
        for end, is_seen in zip(entrances[i + 1 :], seen, strict=True):
            if is_seen and (start, end) not in neighbours and (end, start) not in neighbours:
                yield start, end


def _is_entrance(streets: ExtractedStreets, node: int, square: Square) -> bool:
    """Whether another way meets a square's edge at a node."""
    own = sum(ring[:-1].count(node) for ring in square.rings) + sum(ring[0] == node for ring in square.rings)
    return streets.uses[node] > own or node in streets.corners


def _list_corners(streets: ExtractedStreets, square: Square) -> list[int]:
    """Return the nodes at which a square's edge turns into it: a shortest way inside bends at such corners alone."""
    corners: list[int] = []
    for number, ring in enumerate(square.rings):
        points = np.array([streets.positions[node] for node in ring[:-1]])
        if len(points) < 3:
            continue
        north, east = points[:, 0], points[:, 1] * np.cos(np.radians(points[0, 0]))
        came = np.column_stack([north - np.roll(north, 1), east - np.roll(east, 1)])
        goes = np.roll(came, -1, axis=0)
        turn = np.degrees(np.arctan2(came[:, 1] * goes[:, 0] - came[:, 0] * goes[:, 1], (came * goes).sum(axis=1)))
        # Walked counter-clockwise, an outer ring turns left at its outward corners; a hole the other way round.
        inward = -turn if (turn.sum() > 0) == (number == 0) else turn
        corners += [node for node, bend in zip(ring[:-1], inward.tolist(), strict=True) if bend > _BEND_DEGREES]
    return list(dict.fromkeys(corners))


def _sees(start: Float64, ends: Float64, walls: Float64) -> npt.NDArray[np.bool_]:
    """Return which lines from one corner of a ring to others stay inside: they cross no wall, and their middles lie in.

    Ends are rows, walls are too: from (latitude, longitude) to (latitude, longitude), of one scale.
    """
    a, b = walls[:, :2], walls[:, 2:]
    goals = ends[:, np.newaxis, :]
    side_a, side_b = _side(start, goals, a), _side(start, goals, b)
    side_start, side_end = _side(a, b, start), _side(a, b, goals)
    sees: npt.NDArray[np.bool_] = ~np.any((side_a * side_b < 0) & (side_start * side_end < 0), axis=1)
    # A line that touches a corner on its way must not leave there either: look at several places on it.
    for part in (0.5, 0.03, 0.97, 0.25, 0.75):
        at = (start + (ends - start) * part)[:, np.newaxis, :]
        crosses = (a[:, 0] > at[..., 0]) != (b[:, 0] > at[..., 0])
        rise = np.where(crosses, b[:, 0] - a[:, 0], 1.0)
        meets = a[:, 1] + (at[..., 0] - a[:, 0]) / rise * (b[:, 1] - a[:, 1])
        sees &= ((crosses & (at[..., 1] < meets)).sum(axis=1) % 2).astype(np.bool_)
    return sees


def _side(a: Float64, b: Float64, point: Float64) -> Float64:
    """Return on which side of the line from a to b points lie, by the sign."""
    side: Float64 = (b[..., 0] - a[..., 0]) * (point[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        point[..., 0] - a[..., 0]
    )
    return side
