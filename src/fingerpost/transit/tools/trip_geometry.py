"""Where the legs of a plan run, for those who ask: encoded polylines, beside the answer (rule A10)."""

from collections.abc import Sequence
from typing import Annotated

import polyline
from pydantic import Field

from fingerpost.contract.wire import WireDict, WordOf
from fingerpost.transit.model.itinerary import Itinerary, Leg
from fingerpost.transit.model.leg_line import LegLine, LineSource
from fingerpost.transit.model.line_simplification import thin
from fingerpost.transit.port import DrawLeg
from fingerpost.transit.rules.ranking import fingerprint

GEOMETRY = "geometry"
# All lines of an answer together have no more characters, as far as thinning goes.
MOST_CHARACTERS = 32_000
# Decimal places of a degree: a metre.
PRECISION = 5
# Tried one after the other until the lines are short enough.
_TOLERANCES_M = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class LegGeometry(WireDict):
    """An encoded polyline and how many points it has."""

    points: str
    length: int


class DrawnLeg(WireDict):
    """One leg, in the order of the itinerary's legs.

    ``source`` says what the line is drawn after: the feed's shape, straight lines from call to call, or one straight
    line between the leg's ends.
    """

    legGeometry: LegGeometry
    source: Annotated[str, WordOf(LineSource)]


class DrawnItinerary(WireDict):
    """The legs of the itinerary that bears the fingerprint."""

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


def draw_itineraries(drawings: Sequence[tuple[Itinerary, DrawLeg | None]]) -> TripGeometry:
    """Return the lines of all legs, thinned as little as keeps them within ``MOST_CHARACTERS``.

    Each itinerary comes with what draws its legs, None where its source knows no lines.
    """
    lines = [
        [_draw_straight(leg) if draw is None else draw(leg) for leg in itinerary.legs] for itinerary, draw in drawings
    ]
    for tolerance_m in _TOLERANCES_M:
        drawn = [[_encoded(line, tolerance_m) for line in legs] for legs in lines]
        if sum(len(leg["legGeometry"]["points"]) for legs in drawn for leg in legs) <= MOST_CHARACTERS:
            break
    return {
        "precision": PRECISION,
        "toleranceMeters": tolerance_m,
        "itineraries": [
            {"fingerprint": fingerprint(itinerary), "legs": legs}
            for (itinerary, _), legs in zip(drawings, drawn, strict=True)
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
