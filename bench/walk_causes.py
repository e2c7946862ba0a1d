"""Why a walk of ours and one of OpenTripPlanner's take times far apart: each cause is tried, not guessed.

Either walk is measured anew under one changed condition; the first that brings the two together is the cause.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.streets.graph import UNDERGROUND
from fingerpost.transit.osm.streets.snapping import snap_pin, snap_to_streets

# Walks further apart than this have their cause looked for.
FAR_S = 60.0
PIECE_M = 60.0
_LONGEST_M = 20_000.0
_E5 = 1e-5
# Its line is rounded to about a metre.
_NEARER_M = 2.0

TUNNEL = "its walk begins or ends in a tunnel under the pin, ours on the street"
OTHER_STREET = "its walk begins or ends on another street, which is no nearer to the pin"
NEARER_STREET = "its walk begins or ends on a nearer street, which we do not have"
CUT = "a way that leaves the extract, which it drops whole"
BOTH = "the two together"
OURS_ONLY = "a stretch of our way that it does not walk, or walks slower"
THEIRS_ONLY = "a stretch of its way that we do not walk, or walk slower"
IT_PREFERS = "it walks our way as quickly, and prefers another"
WE_PREFER = "we walk its way as quickly, and prefer another"
UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class StreetMeasure:
    """Walks on one graph of ours, with its pace and turns."""

    graph: object
    grid: object
    search: object

    def snap(self, place, *, is_pin=True):
        """Return where a place meets the streets: a stop at the nearest way, a pin rather on the ground."""
        if is_pin:
            return snap_pin(self.graph, self.grid, *place)
        return snap_to_streets(self.graph, self.grid, np.array([place[0]]), np.array([place[1]]))

    def walk(self, start, end):
        """Return the metres and seconds between two places that were snapped, None where there is no way."""
        walked = self.search.measure_one(start, end, _LONGEST_M)
        return None if walked.metres[0] < 0 else (float(walked.metres[0]), float(walked.seconds[0]))

    def walk_between(self, one, other):
        """Return the seconds between two points of a line, of any depth; infinite where there is no way."""
        walked = self.walk(self.snap(one, is_pin=False), self.snap(other, is_pin=False))
        return math.inf if walked is None else walked[1]

    def draw(self, start, end):
        """Return the points of the walk."""
        return [tuple(point) for point in self.search.find_line(start, end, _LONGEST_M).tolist()]


def find_cause(ours, whole, theirs, ends, told):
    """Return the cause, and where on the map it shows (None: everywhere).

    ``ours`` and ``whole`` measure on all ways and on those that the extract holds whole; ``theirs`` asks the server for
    the seconds between two points; ``ends`` are the places of the walk as (place, is_pin); ``told`` is (its seconds,
    its line).
    """
    its_s, its_line = told
    snapped = [ours.snap(place, is_pin=is_pin) for place, is_pin in ends]
    our_s = ours.walk(*snapped)[1]

    def is_near(seconds):
        return abs(seconds - its_s) <= FAR_S

    if is_near(ours.walk_between(its_line[0], its_line[-1])):
        return _say_other_street(ours, ends, snapped, (its_line[0], its_line[-1])), None
    on_whole = whole.walk(*(whole.snap(place, is_pin=is_pin) for place, is_pin in ends))
    if on_whole is not None and is_near(on_whole[1]):
        return CUT, None
    if is_near(whole.walk_between(its_line[0], its_line[-1])):
        return BOTH, None
    if our_s < its_s:
        return _compare_pieces(ours.draw(*snapped), theirs, ours.walk_between, OURS_ONLY, IT_PREFERS)
    return _compare_pieces(its_line, ours.walk_between, theirs, THEIRS_ONLY, WE_PREFER)


def _say_other_street(ours, ends, snapped, its_ends):
    """Return what is to be said of ends on other streets than ours: a tunnel, a nearer one, or another."""
    said = OTHER_STREET
    for (place, _), on_ours, its in zip(ends, snapped, its_ends, strict=True):
        flags = [ours.graph.edge_flags[each.edge[0]] for each in (on_ours, ours.snap(its, is_pin=False))]
        if flags[1] & UNDERGROUND and not flags[0] & UNDERGROUND:
            return TUNNEL
        if apart_m(place, its) < float(on_ours.away_m[0]) - _NEARER_M:
            said = NEARER_STREET
    return said


def apart_m(one, other):
    """Return the metres between two places."""
    east = (other[1] - one[1]) * math.cos(math.radians(one[0]))
    return METRES_PER_DEGREE * math.hypot(other[0] - one[0], east)


def _compare_pieces(line, slower, quicker, stretch, preference):
    """Return whether the slower one lacks a stretch of the quicker one's line, or walks it as quickly."""
    lost = [(slower(*piece) - quicker(*piece), piece) for piece in _cut(line)]
    lost_s = sum(each for each, _ in lost)
    if lost_s <= FAR_S:
        return preference, None
    worst_s, piece = max(lost)
    return (stretch, piece[0]) if worst_s >= lost_s / 4 else (UNKNOWN, piece[0])


def _cut(line):
    """Yield the ends of pieces of a line of about PIECE_M."""
    places = [line[0]]
    walked_m = 0.0
    for one, other in pairwise(line):
        walked_m += apart_m(one, other)
        if walked_m >= PIECE_M:
            places.append(other)
            walked_m = 0.0
    if places[-1] != line[-1]:
        places.append(line[-1])
    return pairwise(places)


def decode_line(text):
    """Return the points of an encoded polyline, in degrees."""
    points, at, here = [], 0, [0, 0]
    while at < len(text):
        for side in (0, 1):
            value = shift = 0
            while True:
                bits = ord(text[at]) - 63
                at, value, shift = at + 1, value | (bits & 31) << shift, shift + 5
                if bits < 32:
                    break
            here[side] += ~(value >> 1) if value & 1 else value >> 1
        points.append((here[0] * _E5, here[1] * _E5))
    return points
