"""What lies behind a trip on a map: water and ways by class."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class LayerKind(StrEnum):
    WATER = "water"
    COAST = "coastline"
    MAIN = "main-road"
    RAIL = "railway"
    SECONDARY = "secondary-road"
    MINOR = "minor-road"


@dataclass(frozen=True, slots=True)
class MapLayer:
    """Everything of one class: lines of (latitude, longitude) in degrees.

    Those of water are closed rings, also around its islands.
    """

    kind: LayerKind
    lines: Sequence[Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Basemap:
    """What lies in a box. Points that were left out lie within ``tolerance_m`` of the lines.

    ``left_out`` are the classes that are in the box and were too many to show.
    """

    layers: tuple[MapLayer, ...]
    tolerance_m: float
    left_out: tuple[LayerKind, ...] = ()
