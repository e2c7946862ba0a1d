"""Finds the stops of a timetable among those of an OpenStreetMap extract, by what stands on their signs."""

import math
import string
from collections.abc import Iterable
from typing import NamedTuple

from fingerpost.transit.engine.timetable.timetable import STOP, Float64
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.streets.extract import OsmStop

# A stop of the same ref further away than this is another one.
MATCHED_M = 100.0
# Shorter numbers are platforms, of which there are many of one number.
_SHORTEST_NUMBER = 3


class StopPlaces(NamedTuple):
    """Where the stops of a timetable (rows) meet the streets, in degrees, and how many of them the map knows."""

    lats: Float64
    lons: Float64
    matched: int


def find_stop_places(stops: WalkedStops, mapped: Iterable[OsmStop]) -> StopPlaces:
    """Return the place of each stop: of the nearest on the map whose ``ref`` is its code or id, else its own.

    A feed's position may lie on the wrong side of a road or in its middle; mappers place the pole.
    """
    by_ref: dict[str, list[OsmStop]] = {}
    for each in mapped:
        by_ref.setdefault(each.ref.casefold(), []).append(each)
    lats, lons, matched = stops.lats.copy(), stops.lons.copy(), 0
    for row, names in enumerate(zip(stops.local_ids, stops.codes, strict=True)):
        if stops.kinds[row] != STOP:
            continue
        alike = [each for name in _list_refs(*names) for each in by_ref.get(name, ())]
        here = float(stops.lats[row]), float(stops.lons[row])
        nearest = min(alike, key=lambda each: _apart_m(here, each), default=None)
        if nearest is not None and _apart_m(here, nearest) <= MATCHED_M:
            lats[row], lons[row] = nearest.lat, nearest.lon
            matched += 1
    return StopPlaces(lats, lons, matched)


def _list_refs(local_id: str, code: str) -> set[str]:
    """Return what a map may call a stop: its id, its code, and the number in a code such as H0249."""
    number = code.lstrip(string.ascii_letters)
    numbers = {number} if len(number) >= _SHORTEST_NUMBER and number.isdecimal() else set()
    return {name.casefold() for name in (local_id, code) if name} | numbers


def _apart_m(here: tuple[float, float], stop: OsmStop) -> float:
    east = (stop.lon - here[1]) * math.cos(math.radians(here[0]))
    return math.hypot(stop.lat - here[0], east) * METRES_PER_DEGREE
