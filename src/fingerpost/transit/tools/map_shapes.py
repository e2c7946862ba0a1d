"""Serialize leg geometries, line colors and the basemap for map views."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import polyline
from pydantic import Field

from fingerpost.contract.published_tool import ToolReply
from fingerpost.contract.wire import EnumValue, Shape, WireDict
from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, thin
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, LegLine, LineSource
from fingerpost.transit.model.map_layer import Basemap, LayerKind
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.port import Network
from fingerpost.transit.rules.ranking import compute_fingerprint
from fingerpost.transit.tools.report import list_leg_paths

LINE_COLORS = "lineColors"

Color = Annotated[str, Field(pattern="^[0-9A-F]{6}$", description="RRGGBB")]


class WireLineColor(WireDict):
    """A line color, a legible text color, and the paths of the legs or departures that use them."""

    color: Color
    textColor: Color
    touches: Annotated[list[str], Field(min_length=1)]


class WireLineColors(WireDict):
    """Line colors from the feeds; legs that are not listed use the color of their mode."""

    lines: list[WireLineColor]


def _serialize_line_colors(parts: Iterable[tuple[str, Leg | Departure]]) -> WireLineColors:
    touches = group_by_key((part.colors, path) for path, part in parts if part.colors is not None)
    return {
        "lines": [
            {"color": f"{colors.color:06X}", "textColor": f"{colors.text_color:06X}", "touches": paths}
            for colors, paths in touches.items()
        ]
    }


def reply_with_colors(
    body: Mapping[str, Any], text: str, parts: Iterable[tuple[str, Leg | Departure]], include: Collection[str]
) -> ToolReply:
    return ToolReply(body, text, {LINE_COLORS: _serialize_line_colors(parts)} if LINE_COLORS in include else {})


GEOMETRY = "geometry"
MAX_CHARACTERS = 32_000
# The number of decimal places in coordinates; five are accurate to about a metre.
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
    """Encoded polylines of all legs, with their number of decimal places and their simplification tolerance."""

    precision: int
    toleranceMeters: int
    itineraries: list[DrawnItinerary]


def _encode_itineraries(itineraries: Sequence[Itinerary], find_line: Callable[[Leg], LegLine | None]) -> TripGeometry:
    """Encode the lines of all legs, simplified to fit in MAX_CHARACTERS in total; unknown lines are straight."""
    lines = [[find_line(leg) or _build_straight_line(leg) for leg in itinerary.legs] for itinerary in itineraries]
    for tolerance_m in _TOLERANCES_M:
        drawn = [[_encode_line(line, tolerance_m) for line in legs] for legs in lines]
        if sum(len(leg["legGeometry"]["points"]) for legs in drawn for leg in legs) <= MAX_CHARACTERS:
            break
    return {
        "precision": PRECISION,
        "toleranceMeters": tolerance_m,
        "itineraries": [
            {"fingerprint": compute_fingerprint(itinerary), "legs": legs}
            for itinerary, legs in zip(itineraries, drawn, strict=True)
        ],
    }


def _build_straight_line(leg: Leg) -> LegLine:
    return LegLine([leg.start.coordinate.point, leg.end.coordinate.point], LineSource.STRAIGHT)


def _encode_line(line: LegLine, tolerance_m: int) -> DrawnLeg:
    points = thin(line.points, tolerance_m)
    return {
        "legGeometry": {"points": polyline.encode(points, PRECISION), "length": len(points)},
        "source": line.source.value,
    }


BASEMAP = "basemap"

# Leave space around the trip, so that users can pan the map.
_MIN_ASPECT, _MIN_HEIGHT_RATIO = 2.6, 1.1
_MARGIN = 0.15
_MIN_M = 800.0


class WireMapLayer(WireDict):
    """Features of one kind, as encoded polylines; bodies of water and the islands in them are closed rings."""

    kind: Annotated[str, EnumValue(LayerKind)]
    lines: list[str]


class WireBasemap(WireDict):
    """Water, roads and railways around the trips, in drawing order; ``leftOut`` lists the layers that did not fit."""

    precision: int
    toleranceMeters: float
    layers: list[WireMapLayer]
    leftOut: list[Annotated[str, EnumValue(LayerKind)]]


def _serialize_basemap(basemap: Basemap | None) -> WireBasemap:
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


MAP_PARTS: Mapping[str, Shape] = {GEOMETRY: TripGeometry, LINE_COLORS: WireLineColors, BASEMAP: WireBasemap}


async def serialize_map_parts(
    network: Network, itineraries: Sequence[Itinerary], include: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    parts: dict[str, Mapping[str, Any]] = {}
    if GEOMETRY in include:
        parts[GEOMETRY] = _encode_itineraries(itineraries, network.find_line)
    if LINE_COLORS in include:
        parts[LINE_COLORS] = _serialize_line_colors(list_leg_paths(itineraries))
    if BASEMAP in include and (box := build_map_bounds(itineraries)) is not None:
        basemap = await network.find_basemap(box, itineraries[0].legs[0])
        parts[BASEMAP] = await compute(_serialize_basemap, basemap)
    return parts


def build_map_bounds(itineraries: Sequence[Itinerary]) -> Bounds | None:
    points = [end.coordinate for itinerary in itineraries for leg in itinerary.legs for end in (leg.start, leg.end)]
    if not points:
        return None
    lats, lons = [point.lat for point in points], [point.lon for point in points]
    centre = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    degree_m = METRES_PER_DEGREE * max(0.01, math.cos(math.radians(centre[0])))
    height_m = max(_MIN_M, (max(lats) - min(lats)) * METRES_PER_DEGREE)
    width_m = max(_MIN_M, (max(lons) - min(lons)) * degree_m)
    half_height_deg = max(height_m, width_m * _MIN_HEIGHT_RATIO) * (0.5 + _MARGIN) / METRES_PER_DEGREE
    half_width_deg = max(width_m, height_m * _MIN_ASPECT) * (0.5 + _MARGIN) / degree_m
    return Bounds(
        south=centre[0] - half_height_deg,
        west=centre[1] - half_width_deg,
        north=centre[0] + half_height_deg,
        east=centre[1] + half_width_deg,
    )
