"""Reads what a map shows from an OpenStreetMap extract, where a network's riders are."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fingerpost.transit.model.map_layer import LayerKind
from fingerpost.transit.osm.extract_file import ReadProgress, read_objects

READING = "reading the map"
_KEYS = ("highway", "natural", "waterway", "railway")
_AREA_KEYS = ("natural", "waterway")
_HIGHWAYS = {
    **dict.fromkeys(("motorway", "trunk", "primary"), LayerKind.MAIN),
    **dict.fromkeys(("secondary", "tertiary"), LayerKind.SECONDARY),
    **dict.fromkeys(("residential", "unclassified", "living_street", "pedestrian"), LayerKind.MINOR),
}

Point = tuple[float, float]
Holds = Callable[[float, float], bool]


class DrawnLine(NamedTuple):
    """A line of some class, its points (latitude, longitude) in degrees; one of water is a closed ring."""

    kind: LayerKind
    points: list[Point]


def read_lines(path: Path, holds: Holds, scratch: Path, progress: ReadProgress) -> list[DrawnLine]:
    """Return what an extract has to draw at the positions that ``holds`` holds; see ``read_objects``."""
    found: list[DrawnLine] = []
    for each in read_objects(path, _KEYS, _AREA_KEYS, scratch, READING, progress):
        if each.is_way():
            kind = find_kind(dict(each.tags))
            if kind is not None:
                found.extend(DrawnLine(kind, run) for run in _list_runs(each.nodes, holds))
        elif each.is_area() and is_water(dict(each.tags)):
            found.extend(DrawnLine(LayerKind.WATER, ring) for ring in _list_rings(each, holds))
    return found


def find_kind(tags: Mapping[str, str]) -> LayerKind | None:
    if tags.get("natural") == "coastline":
        return LayerKind.COAST
    if tags.get("tunnel", "no") != "no" or tags.get("area") == "yes":
        return None
    if tags.get("waterway") in ("river", "canal"):
        return LayerKind.COAST
    if tags.get("railway") in ("rail", "light_rail", "subway"):
        return LayerKind.RAIL
    return _HIGHWAYS.get(tags.get("highway", "").removesuffix("_link"))


def is_water(tags: Mapping[str, str]) -> bool:
    return tags.get("natural") == "water" or tags.get("waterway") == "riverbank"


def _list_runs(nodes: Iterable[Any], holds: Holds) -> Iterator[list[Point]]:
    """Yield the stretches of a way that are held, of two points or more."""
    run: list[Point] = []
    for node in nodes:
        place = node.location
        if place.valid() and holds(place.lat, place.lon):
            run.append((place.lat, place.lon))
            continue
        if len(run) > 1:
            yield run
        run = []
    if len(run) > 1:
        yield run


def _list_rings(area: Any, holds: Holds) -> Iterator[list[Point]]:
    """Yield the outer rings of an area of which some point is held, and the rings of their islands."""
    for outer in area.outer_rings():
        rings = [
            [(node.location.lat, node.location.lon) for node in ring if node.location.valid()]
            for ring in (outer, *area.inner_rings(outer))
        ]
        if any(holds(*point) for point in rings[0]):
            yield from (ring for ring in rings if len(ring) > 3)
