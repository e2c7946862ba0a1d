"""Obstacles on a walk, for riders who need ways without steps."""

from typing import NamedTuple


class WalkObstacles(NamedTuple):
    crossings: int = 0
    lifts: int = 0
    unknown_kerbs: int = 0
    slopes: int = 0
