"""The line of a leg on the map, and what it is drawn after."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class LineSource(StrEnum):
    """What a leg's line on the map is drawn after."""

    SHAPE = "shape"
    STOPS = "stops"
    STREETS = "streets"
    STRAIGHT = "straight-line"


@dataclass(frozen=True, slots=True)
class LegLine:
    """Where a leg runs: (latitude, longitude) in degrees, at least two points, and what they are drawn after.

    A shape is the source's own line; ``stops`` are straight lines from call to call; ``streets`` are those that are
    walked; a straight line joins the ends.
    """

    points: Sequence[tuple[float, float]]
    source: LineSource
