"""What a walk crosses and climbs, as its map knows it, for who needs ways without steps."""

from typing import NamedTuple


class WalkObstacles(NamedTuple):
    """How often a walk crosses a road, takes a lift, meets a kerb of unknown height, and goes up or down a slope."""

    crossings: int = 0
    lifts: int = 0
    unknown_kerbs: int = 0
    slopes: int = 0
