"""The background map of a trip: water, roads and railways."""

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
    """The lines of one kind, as (latitude, longitude) in degrees; water and its islands are closed rings."""

    kind: LayerKind
    lines: Sequence[Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Basemap:
    """The map of a box; ``left_out`` lists layers with too many points. Lines are accurate to ``tolerance_m``."""

    layers: tuple[MapLayer, ...]
    tolerance_m: float
    left_out: tuple[LayerKind, ...] = ()
