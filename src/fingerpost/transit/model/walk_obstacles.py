"""Obstacles on a walk, for riders who need ways without steps."""

from typing import NamedTuple


class WalkObstacles(NamedTuple):
    """Counts of road crossings, lifts, kerbs of unknown height, and slopes on a walk."""

    crossings: int = 0
    lifts: int = 0
    unknown_kerbs: int = 0
    slopes: int = 0
