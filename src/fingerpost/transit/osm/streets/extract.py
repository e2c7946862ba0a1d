"""Reads the walkable ways of an OpenStreetMap extract, only where a network's riders walk."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.extract_file import ReadProgress, read_objects
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


class RidersArea:
    """The cells of a grid, 0.01 degrees wide, within 3 km of some stops."""

    def __init__(self, lats: Float64, lons: Float64) -> None:
        steps = math.ceil(REACH_M / METRES_PER_DEGREE / _CELL_DEG)
        widest = math.cos(math.radians(min(85.0, float(np.abs(lats).max(initial=0.0)) + 0.1)))
        steps_lon = math.ceil(REACH_M / METRES_PER_DEGREE / widest / _CELL_DEG)
        of_stops = np.unique(np.floor(np.column_stack([lats, lons]) / _CELL_DEG).astype(np.int64), axis=0)
        around = [
            of_stops + np.array([dy, dx]) for dy in range(-steps, steps + 1) for dx in range(-steps_lon, steps_lon + 1)
        ]
        cells = np.unique(np.concatenate(around), axis=0)
        self._cells = frozenset((cells[:, 0] * _ROWS + cells[:, 1]).tolist())

    def holds(self, lat: float, lon: float) -> bool:
        return math.floor(lat / _CELL_DEG) * _ROWS + math.floor(lon / _CELL_DEG) in self._cells


_KEYS = ("highway", "public_transport", "railway", "indoor", "barrier", "crossing", "amenity", "kerb", "entrance")
_WAY_KEYS = ("highway", "public_transport", "railway", "indoor")
READING = "reading streets"


class Way(NamedTuple):
    rule: WayRule
    nodes: list[int]


class Square(NamedTuple):
    """A square or platform that may be walked across: the nodes of its rings, the outer one first; each is closed."""

    rule: WayRule
    rings: list[list[int]]


class OsmStop(NamedTuple):
    """A pole, platform or stop position as OpenStreetMap has it; ``ref`` is what stands on its sign."""

    ref: str
    lat: float
    lon: float


class OsmEntrance(NamedTuple):
    """An entrance of the metro or a railway, in degrees; ``has_steps`` if it is known to be unfit for wheels."""

    lat: float
    lon: float
    is_railway: bool = False
    is_exit: bool = False
    has_steps: bool = False


@dataclass(slots=True)
class ExtractedStreets:
    """The streets of an extract; nodes are OpenStreetMap's ids.

    ``uses`` counts how often a node occurs on a way of any kind: a junction occurs more than once. ``corners`` end a
    stretch of a way though no other way meets it there. ``walls`` are nodes of walls, fences and hedges, ``openings``
    nodes with a gate that is not shut, or a door. ``stops`` are those with a ``ref``.
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
    path: Path, area: RidersArea, scratch: Path, progress: ReadProgress = lambda _what, _done, _whole: None
) -> ExtractedStreets:
    reader = _ExtractReader(area)
    for each in read_objects(path, _KEYS, _WAY_KEYS, scratch, READING, progress):
        reader.take(each)
    return reader.streets


class _ExtractReader:
    def __init__(self, area: RidersArea) -> None:
        self.streets = ExtractedStreets()
        self._area = area
        # Doors by node, until it is known which of them are those of a metro station's building.
        self._doors: dict[int, OsmEntrance] = {}

    def take(self, each: Any) -> None:
        tags = dict(each.tags)
        if each.is_node():
            self._take_node(each, tags)
        elif each.is_way():
            self._take_way(each, tags)
        elif each.is_area():
            self._take_area(each, tags)

    def _take_node(self, node: Any, tags: Tags) -> None:
        streets = self.streets
        if not self._area.holds(node.lat, node.lon):
            return
        flags = find_node_flags(tags)
        if flags:
            streets.node_flags[node.id] = flags
        if is_opening(tags):
            streets.openings.add(node.id)
        if is_boarding_point(tags) and (ref := tags.get("ref")):
            streets.stops.append(OsmStop(ref, node.lat, node.lon))
        self._take_entrance(node, tags)
        if "barrier" in tags or "kerb" in tags or is_stop(tags) or flags & (LIGHTS | LIFT):
            streets.corners.add(node.id)

    def _take_entrance(self, node: Any, tags: Tags) -> None:
        kind = find_entrance_kind(tags)
        if kind is None:
            return
        entrance = OsmEntrance(
            node.lat,
            node.lon,
            is_railway=kind == RAILWAY,
            is_exit=tags.get("entrance") == "exit",
            has_steps=tags.get("wheelchair") == "no",
        )
        if kind == DOOR:
            self._doors[node.id] = entrance
        else:
            self.streets.entrances.append(entrance)

    def _take_way(self, way: Any, tags: Tags) -> None:
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
        """Put a lift in the middle of a way that is one: it waits and rides as one that is a node."""
        # OpenStreetMap's own ids are positive.
        lift, middle = -way, len(nodes) // 2
        around = [self.streets.positions[node] for node in (nodes[middle - 1], nodes[middle])]
        self.streets.positions[lift] = (sum(lat for lat, _ in around) / 2, sum(lon for _, lon in around) / 2)
        self.streets.node_flags[lift] = LIFT
        self.streets.corners.add(lift)
        nodes.insert(middle, lift)

    def _take_area(self, area: Any, tags: Tags) -> None:
        """Take a square or platform; its rings are ways too, unless they were read as such."""
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
        return place.valid() and self._area.holds(place.lat, place.lon)

    def _place(self, nodes: Iterable[Any]) -> Iterator[list[int]]:
        """Store the positions of nodes; yield the stretches of them that lie in the extract and in the area."""
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
