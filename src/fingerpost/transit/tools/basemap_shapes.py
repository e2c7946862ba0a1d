"""What lies behind the trips of an answer, for those who draw them: beside the answer (rule A10)."""

import math
from collections.abc import Sequence
from typing import Annotated

import polyline

from fingerpost.contract.wire import WireDict, WordOf
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.map_layer import Basemap, LayerKind
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.tools.trip_geometry import PRECISION

BASEMAP = "basemap"

# A drawing of a tall trip is wider than the trip, and one of a wide trip is higher; both can be moved a little.
_WIDER, _HIGHER = 2.6, 1.1
_MARGIN = 0.15
_LEAST_M = 800.0


class WireMapLayer(WireDict):
    """Everything of one class, as encoded polylines; those of water are closed rings, also around its islands."""

    kind: Annotated[str, WordOf(LayerKind)]
    lines: list[str]


class WireBasemap(WireDict):
    """Water and ways around the trips of an answer, to be drawn in this order.

    ``precision`` is the polylines' decimal places of a degree. Points that were left out lie within
    ``toleranceMeters`` of the lines, and ``leftOut`` are classes that were too many to show.
    """

    precision: int
    toleranceMeters: float
    layers: list[WireMapLayer]
    leftOut: list[Annotated[str, WordOf(LayerKind)]]


def show_basemap(basemap: Basemap | None) -> WireBasemap:
    """Write a map, without layers where there is none."""
    layers = () if basemap is None else basemap.layers
    return {
        "precision": PRECISION,
        "toleranceMeters": 0.0 if basemap is None else basemap.tolerance_m,
        "layers": [
            {"kind": layer.kind.value, "lines": [polyline.encode(list(line), PRECISION) for line in layer.lines]}
            for layer in layers
        ],
        "leftOut": [] if basemap is None else [kind.value for kind in basemap.left_out],
    }


def find_box(itineraries: Sequence[Itinerary]) -> Bounds | None:
    """Return the box that a drawing of any of some itineraries shows, None of none."""
    places = [point.coordinate for each in itineraries for leg in each.legs for point in (leg.start, leg.end)]
    if not places:
        return None
    lats, lons = [place.lat for place in places], [place.lon for place in places]
    middle = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    degree_m = METRES_PER_DEGREE * max(0.01, math.cos(math.radians(middle[0])))
    high_m = max(_LEAST_M, (max(lats) - min(lats)) * METRES_PER_DEGREE)
    wide_m = max(_LEAST_M, (max(lons) - min(lons)) * degree_m)
    up = max(high_m, wide_m * _HIGHER) * (0.5 + _MARGIN) / METRES_PER_DEGREE
    aside = max(wide_m, high_m * _WIDER) * (0.5 + _MARGIN) / degree_m
    return Bounds(south=middle[0] - up, west=middle[1] - aside, north=middle[0] + up, east=middle[1] + aside)
