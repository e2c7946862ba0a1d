"""Read the walkable ways, squares, stops and entrances of an OpenStreetMap extract near the stops of a network."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.extract_file import Holds, ReadProgress, read_objects
from fingerpost.transit.osm.streets.graph import LIFT, LIGHTS
from fingerpost.transit.osm.streets.way_rules import (
    DOOR,
    RAILWAY,
    Tags,
    WayRule,
    find_entrance_kind,
    find_node_flags,
    find_way_rule,
    is_area,
    is_boarding_point,
    is_lift,
    is_metro_station,
    is_opening,
    is_routed,
    is_stop,
    is_wall,
)

# As far as anyone may ask to walk.
REACH_M = 3000.0
_CELL_DEG = 0.01
_ROWS = 1 << 16


def find_area(lats: Float64, lons: Float64) -> Holds:
    """Return a test whether a position is in the cells of a grid within 3 km of some stops."""
    steps = math.ceil(REACH_M / METRES_PER_DEGREE / _CELL_DEG)
    widest = math.cos(math.radians(min(85.0, float(np.abs(lats).max(initial=0.0)) + 0.1)))
    steps_lon = math.ceil(REACH_M / METRES_PER_DEGREE / widest / _CELL_DEG)
    of_stops = np.unique(np.floor(np.column_stack([lats, lons]) / _CELL_DEG).astype(np.int64), axis=0)
    around = [
        of_stops + np.array([dy, dx]) for dy in range(-steps, steps + 1) for dx in range(-steps_lon, steps_lon + 1)
    ]
    cells = np.unique(np.concatenate(around), axis=0)
    held = frozenset((cells[:, 0] * _ROWS + cells[:, 1]).tolist())
    return lambda lat, lon: math.floor(lat / _CELL_DEG) * _ROWS + math.floor(lon / _CELL_DEG) in held


_KEYS = ("highway", "public_transport", "railway", "indoor", "barrier", "crossing", "amenity", "kerb", "entrance")
_WAY_KEYS = ("highway", "public_transport", "railway", "indoor")
READING = "reading streets"


class Way(NamedTuple):
    rule: WayRule
    nodes: list[int]


class Square(NamedTuple):
    """A square or platform that may be walked across: the nodes of its closed rings, the outer one first."""

    rule: WayRule
    rings: list[list[int]]


class OsmStop(NamedTuple):
    ref: str
    lat: float
    lon: float


class OsmEntrance(NamedTuple):
    """An entrance of the metro or a railway; ``has_steps`` if it is tagged as unfit for wheelchairs."""

    lat: float
    lon: float
    is_railway: bool = False
    is_exit: bool = False
    has_steps: bool = False


@dataclass(slots=True)
class ExtractedStreets:
    """The streets of an extract, by OpenStreetMap's ids of nodes.

    ``uses`` counts how often a node is on a way of any kind. ``corners`` end an edge without a junction. ``walls`` are
    nodes of walls, fences and hedges, ``openings`` nodes with a door or an open gate.
    """

    ways: list[Way] = field(default_factory=list)
    squares: list[Square] = field(default_factory=list)
    positions: dict[int, tuple[float, float]] = field(default_factory=dict)
    uses: Counter[int] = field(default_factory=Counter)
    corners: set[int] = field(default_factory=set)
    node_flags: dict[int, int] = field(default_factory=dict)
    walls: set[int] = field(default_factory=set)
    openings: set[int] = field(default_factory=set)
    stops: list[OsmStop] = field(default_factory=list)
    entrances: list[OsmEntrance] = field(default_factory=list)


def read_extract(
    path: Path, holds: Holds, scratch: Path, progress: ReadProgress = lambda _what, _done, _whole: None
) -> ExtractedStreets:
    reader = _ExtractReader(holds)
    for osm_object in read_objects(path, _KEYS, _WAY_KEYS, scratch, READING, progress):
        tags = dict(osm_object.tags)
        if osm_object.is_node():
            reader.read_node(osm_object, tags)
        elif osm_object.is_way():
            reader.read_way(osm_object, tags)
        elif osm_object.is_area():
            reader.read_area(osm_object, tags)
    return reader.streets


class _ExtractReader:
    def __init__(self, holds: Holds) -> None:
        self.streets = ExtractedStreets()
        self._holds = holds
        # Doors by node; ways tell which of them lead into a metro station.
        self._doors: dict[int, OsmEntrance] = {}

    def read_node(self, node: Any, tags: Tags) -> None:
        streets = self.streets
        if not self._holds(node.lat, node.lon):
            return
        flags = find_node_flags(tags)
        if flags:
            streets.node_flags[node.id] = flags
        if is_opening(tags):
            streets.openings.add(node.id)
        if is_boarding_point(tags) and (ref := tags.get("ref")):
            streets.stops.append(OsmStop(ref, node.lat, node.lon))
        if "barrier" in tags or "kerb" in tags or is_stop(tags) or flags & (LIGHTS | LIFT):
            streets.corners.add(node.id)
        kind = find_entrance_kind(tags)
        is_exit, has_steps = tags.get("entrance") == "exit", tags.get("wheelchair") == "no"
        entrance = OsmEntrance(node.lat, node.lon, is_railway=kind == RAILWAY, is_exit=is_exit, has_steps=has_steps)
        if kind == DOOR:
            self._doors[node.id] = entrance
        elif kind is not None:
            streets.entrances.append(entrance)

    def read_way(self, way: Any, tags: Tags) -> None:
        if self._doors and is_metro_station(tags):
            self.streets.entrances += [door for node in way.nodes if (door := self._doors.pop(node.ref, None))]
        if is_wall(tags):
            self.streets.walls.update(node.ref for node in way.nodes if self._is_within(node.location))
        if not is_routed(tags):
            return
        rule = find_way_rule(tags)
        for nodes in self._place(way.nodes):
            if is_lift(tags) and len(nodes) > 1 and nodes[0] != nodes[-1]:
                self._add_lift(way.id, nodes)
            self.streets.uses.update(nodes)
            if rule is not None and len(nodes) > 1:
                self.streets.ways.append(Way(rule, nodes))

    def _add_lift(self, way: int, nodes: list[int]) -> None:
        # OpenStreetMap's own ids are positive.
        lift, middle = -way, len(nodes) // 2
        around = [self.streets.positions[node] for node in (nodes[middle - 1], nodes[middle])]
        self.streets.positions[lift] = (sum(lat for lat, _ in around) / 2, sum(lon for _, lon in around) / 2)
        self.streets.node_flags[lift] = LIFT
        self.streets.corners.add(lift)
        nodes.insert(middle, lift)

    def read_area(self, area: Any, tags: Tags) -> None:
        """Read a square or platform; its rings are ways too, unless they were read as such."""
        if tags.get("area") == "no" or (area.from_way() and not is_area(tags)):
            return
        rule = find_way_rule(tags)
        if rule is None:
            return
        for outer in area.outer_rings():
            rings = [list(self._place(ring)) for ring in (outer, *area.inner_rings(outer))]
            if any(len(stretches) != 1 for stretches in rings):
                continue
            closed = [stretches[0] for stretches in rings]
            if not area.from_way():
                for nodes in closed:
                    self.streets.uses.update(nodes)
                    self.streets.ways.append(Way(rule, nodes))
            self.streets.squares.append(Square(rule, closed))

    def _is_within(self, place: Any) -> bool:
        return place.valid() and self._holds(place.lat, place.lon)

    def _place(self, nodes: Iterable[Any]) -> Iterator[list[int]]:
        """Store the positions of nodes; yield their stretches within the extract and the area."""
        positions, stretch = self.streets.positions, list[int]()
        for node in nodes:
            ref = node.ref
            if ref not in positions:
                place = node.location
                if not self._is_within(place):
                    if stretch:
                        yield stretch
                    stretch = []
                    continue
                positions[ref] = (place.lat, place.lon)
            if not stretch or stretch[-1] != ref:
                stretch.append(ref)
        if stretch:
            yield stretch
