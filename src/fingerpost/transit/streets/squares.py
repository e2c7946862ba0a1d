"""Straight lines across squares and platforms, between the places where other ways meet their edge."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fingerpost.transit.streets.extract import ExtractedStreets, Square, Way
from fingerpost.transit.timetable.timetable import Float64

# Squares with more entrances than this are crossed between this many of them; round the edge one may always walk.
MOST_ENTRANCES = 60


def list_crossings(streets: ExtractedStreets) -> Iterator[Way]:
    """Yield a line for each two entrances of a square between which one sees straight across it."""
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
    rings = [np.array([streets.positions[node] for node in ring]) for ring in square.rings]
    # Squares are small: a degree of longitude may be as long as at the first corner throughout.
    scale = np.array([1.0, np.cos(np.radians(rings[0][0, 0]))])
    walls = np.concatenate([np.hstack([ring[:-1], ring[1:]]) for ring in rings]) * np.tile(scale, 2)
    neighbours = {pair for ring in square.rings for pair in pairwise(ring)}
    for i, start in enumerate(entrances):
        for end in entrances[i + 1 :]:
            if (start, end) in neighbours or (end, start) in neighbours:
                continue
            if _sees(np.array(streets.positions[start]) * scale, np.array(streets.positions[end]) * scale, walls):
                yield start, end


def _is_entrance(streets: ExtractedStreets, node: int, square: Square) -> bool:
    """Whether another way meets a square's edge at a node."""
    own = sum(ring[:-1].count(node) for ring in square.rings) + sum(ring[0] == node for ring in square.rings)
    return streets.uses[node] > own or node in streets.corners


def _sees(start: Float64, end: Float64, walls: Float64) -> bool:
    """Whether a line between two corners of rings stays inside: it crosses no wall, and its middle lies inside."""
    a, b = walls[:, :2], walls[:, 2:]
    side_a, side_b = _side(start, end, a), _side(start, end, b)
    side_start, side_end = _side(a, b, start), _side(a, b, end)
    if bool(((side_a * side_b < 0) & (side_start * side_end < 0)).any()):
        return False
    # A line that touches a corner on its way must not leave there either: look at several places on it.
    for part in (0.5, 0.03, 0.97, 0.25, 0.75):
        at = start + (end - start) * part
        crosses = (a[:, 0] > at[0]) != (b[:, 0] > at[0])
        rise = np.where(crosses, b[:, 0] - a[:, 0], 1.0)
        meets = a[:, 1] + (at[0] - a[:, 0]) / rise * (b[:, 1] - a[:, 1])
        if int((crosses & (at[1] < meets)).sum()) % 2 == 0:
            return False
    return True


def _side(a: Float64, b: Float64, point: Float64) -> Float64:
    """Return on which side of the line from a to b points lie, by the sign."""
    side: Float64 = (b[..., 0] - a[..., 0]) * (point[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        point[..., 0] - a[..., 0]
    )
    return side
