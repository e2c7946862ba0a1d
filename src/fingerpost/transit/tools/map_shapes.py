"""Serialize leg geometries, line colours and the basemap for map views."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import polyline
from pydantic import Field

from fingerpost.contract.tool_definition import ToolReply
from fingerpost.contract.wire import EnumValue, WireDict
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, thin
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, LegLine, LineSource
from fingerpost.transit.model.line_colors import LineColors
from fingerpost.transit.model.map_layer import Basemap, LayerKind
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.rules.ranking import fingerprint

LINE_COLORS = "lineColors"

Color = Annotated[str, Field(pattern="^[0-9A-F]{6}$", description="RRGGBB")]


class WireLineColor(WireDict):
    """A line colour, a legible text colour, and the parts of the answer that have it, as paths into the answer."""

    color: Color
    textColor: Color
    touches: Annotated[list[str], Field(min_length=1)]


class WireLineColors(WireDict):
    """The colours of the sources, in the order of the answer; other parts have the colour of their mode."""

    lines: list[WireLineColor]


def serialize_line_colors(parts: Iterable[tuple[str, Leg | Departure]]) -> WireLineColors:
    touches: dict[LineColors, list[str]] = {}
    for path, part in parts:
        if part.colors is not None:
            touches.setdefault(part.colors, []).append(path)
    return {
        "lines": [
            {"color": f"{colors.color:06X}", "textColor": f"{colors.text_color:06X}", "touches": paths}
            for colors, paths in touches.items()
        ]
    }


def reply_with_colors(
    body: Mapping[str, Any],
    text: str,
    parts: Iterable[tuple[str, Leg | Departure]],
    include: Collection[str],
) -> ToolReply:
    return ToolReply(body, text, {LINE_COLORS: serialize_line_colors(parts)} if LINE_COLORS in include else {})


GEOMETRY = "geometry"
MAX_CHARACTERS = 32_000
# Decimal places of a degree: a metre.
PRECISION = 5
_TOLERANCES_M = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class LegGeometry(WireDict):
    points: str
    length: int


class DrawnLeg(WireDict):
    legGeometry: LegGeometry
    source: Annotated[str, EnumValue(LineSource)]


class DrawnItinerary(WireDict):
    fingerprint: str
    legs: Annotated[list[DrawnLeg], Field(min_length=1)]


class TripGeometry(WireDict):
    """Lines of all itineraries of an answer.

    ``precision`` is the polylines' decimal places of a degree. Points that were left out lie within
    ``toleranceMeters`` of the lines; 0 where none was.
    """

    precision: int
    toleranceMeters: int
    itineraries: list[DrawnItinerary]


def draw_itineraries(itineraries: Sequence[Itinerary], find_line: Callable[[Leg], LegLine | None]) -> TripGeometry:
    """Return the lines of all legs, thinned until they fit; straight if ``find_line`` returns none."""
    lines = [[find_line(leg) or _draw_straight(leg) for leg in itinerary.legs] for itinerary in itineraries]
    for tolerance_m in _TOLERANCES_M:
        drawn = [[_encoded(line, tolerance_m) for line in legs] for legs in lines]
        if sum(len(leg["legGeometry"]["points"]) for legs in drawn for leg in legs) <= MAX_CHARACTERS:
            break
    return {
        "precision": PRECISION,
        "toleranceMeters": tolerance_m,
        "itineraries": [
            {"fingerprint": fingerprint(itinerary), "legs": legs}
            for itinerary, legs in zip(itineraries, drawn, strict=True)
        ],
    }


def _draw_straight(leg: Leg) -> LegLine:
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine([(place.lat, place.lon) for place in ends], LineSource.STRAIGHT)


def _encoded(line: LegLine, tolerance_m: int) -> DrawnLeg:
    points = thin(line.points, tolerance_m)
    return {
        "legGeometry": {"points": polyline.encode(points, PRECISION), "length": len(points)},
        "source": line.source.value,
    }


BASEMAP = "basemap"

# A map of a tall trip is wider than the trip, and one of a wide trip is higher; both leave some room to pan.
_WIDER, _HIGHER = 2.6, 1.1
_MARGIN = 0.15
_MIN_M = 800.0


class WireMapLayer(WireDict):
    """Features of one class as encoded polylines; water and its islands are closed rings."""

    kind: Annotated[str, EnumValue(LayerKind)]
    lines: list[str]


class WireBasemap(WireDict):
    """Water and ways around the trips of an answer, to be drawn in this order.

    ``precision`` is the polylines' decimal places of a degree. Points that were left out lie within
    ``toleranceMeters`` of the lines, and ``leftOut`` are classes that were too many to show.
    """

    precision: int
    toleranceMeters: float
    layers: list[WireMapLayer]
    leftOut: list[Annotated[str, EnumValue(LayerKind)]]


def serialize_basemap(basemap: Basemap | None) -> WireBasemap:
    shown = basemap or Basemap(layers=(), tolerance_m=0.0)
    return {
        "precision": PRECISION,
        "toleranceMeters": shown.tolerance_m,
        "layers": [
            {"kind": layer.kind.value, "lines": [polyline.encode(list(line), PRECISION) for line in layer.lines]}
            for layer in shown.layers
        ],
        "leftOut": [kind.value for kind in shown.left_out],
    }


def find_box(itineraries: Sequence[Itinerary]) -> Bounds | None:
    places = [point.coordinate for itinerary in itineraries for leg in itinerary.legs for point in (leg.start, leg.end)]
    if not places:
        return None
    lats, lons = [place.lat for place in places], [place.lon for place in places]
    middle = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    degree_m = METRES_PER_DEGREE * max(0.01, math.cos(math.radians(middle[0])))
    high_m = max(_MIN_M, (max(lats) - min(lats)) * METRES_PER_DEGREE)
    wide_m = max(_MIN_M, (max(lons) - min(lons)) * degree_m)
    up = max(high_m, wide_m * _HIGHER) * (0.5 + _MARGIN) / METRES_PER_DEGREE
    across = max(wide_m, high_m * _WIDER) * (0.5 + _MARGIN) / degree_m
    return Bounds(south=middle[0] - up, west=middle[1] - across, north=middle[0] + up, east=middle[1] + across)
