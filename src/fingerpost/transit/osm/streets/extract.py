"""Read the walkable ways, squares, stops and entrances near a network's stops from an OpenStreetMap extract.

Tags decide which ways are walkable. The rules are those of OpenTripPlanner 2.9's default tag mapper, so that walks can
be compared with OpenTripPlanner's. Where OpenTripPlanner has no rule, the rules in OpenStreetMap's wiki apply.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.timetable import Float64
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.osm.extract_file import IsInArea, ReadProgress, ignore_progress, read_objects
from fingerpost.transit.osm.streets import graph

_NOT_WAYS = frozenset({
    "proposed", "planned", "construction", "razed", "raceway", "abandoned", "historic", "no", "emergency_bay",
    "rest_area", "services", "bus_guideway", "escape",
})  # fmt: skip
# These are walkable only if ``foot`` allows it.
_NOT_ON_FOOT = frozenset({"motorway", "motorway_link", "bridleway", "cycleway"})
_TRUNK = frozenset({"trunk", "trunk_link"})
_ALLOWED = frozenset({"yes", "1", "true", "designated", "official", "permissive", "unknown"})
_DENIED = frozenset({"no", "license", "dismount"})
_ENDS_ONLY = frozenset({"no", "destination", "private", "customers", "delivery"})
_WALLS = frozenset({"city_wall", "ditch", "hedge", "retaining_wall", "wall", "wedge", "fence"})
# Values of ``tunnel`` for ways above ground.
_ABOVE_GROUND = frozenset({"no", "building_passage", "culvert"})
_YES = frozenset({"yes", "1", "true"})
_INDOOR = frozenset({"corridor", "area"})
_BOARDING_NODES = (
    ("highway", "bus_stop"), ("railway", "tram_stop"), ("highway", "platform"),
    ("public_transport", "platform"), ("railway", "platform"), ("public_transport", "stop_position"),
)  # fmt: skip

_UNKNOWN_KERBS = frozenset({"yes", "regular", "unknown"})
# Doors that riders cannot use.
_NO_DOORS = frozenset({"no", "emergency", "service", "garage"})

# Cost factors for trunk roads, discouraged ways, and roads with a separate footway.
TRUNK_AVOIDED, TRUNK_LANE, TRUNK_PAVEMENT = 7.47, 0.6, 0.25
DISCOURAGED, SIDEPATH = 3.0, 5.0

Tags = Mapping[str, str]


class WayRule(NamedTuple):
    """How a way can be walked: flags as in ``StreetGraph``, the cost factor, and the direction."""

    flags: int = 0
    cost_factor: float = 1.0
    is_backward: bool = False


def find_way_rule(tags: Tags) -> WayRule | None:
    highway = tags.get("highway")
    if highway in _NOT_WAYS or not is_routed(tags) or not _is_walkable(tags, highway):
        return None
    foot = tags.get("foot")
    is_steps = highway == "steps"
    conveying = tags.get("conveying", "no") if is_steps else "no"
    one_way = _find_one_way(tags, highway, conveying)
    return WayRule(
        graph.ENDS_ONLY * ((tags.get("access") if foot is None else foot) in _ENDS_ONLY)
        | graph.STEPS * is_steps
        | graph.MOVING * (conveying != "no")
        | graph.ONE_WAY * (one_way != 0)
        | graph.NO_WHEELS * (tags.get("wheelchair") == "no")
        | graph.UNDERGROUND * (tags.get("tunnel", "no") not in _ABOVE_GROUND or tags.get("layer", "").startswith("-")),
        _find_cost_factor(tags, highway),
        one_way < 0,
    )


def _is_walkable(tags: Tags, highway: str | None) -> bool:
    foot = tags.get("foot")
    if tags.get("motorroad") == "yes" or tags.get("cycleway") == "construction" or foot in _DENIED:
        return False
    if foot in _ALLOWED:
        return True
    if tags.get("barrier") in _WALLS or tags.get("access") in _DENIED:
        return False
    trail = tags.get("mtb:scale")
    if highway == "cycleway" and trail in ("1", "2"):
        return True
    return highway not in _NOT_ON_FOOT and trail not in ("3", "4", "5", "6")


def _find_cost_factor(tags: Tags, highway: str | None) -> float:
    factor = 1.0
    if highway in _TRUNK:
        factor = TRUNK_AVOIDED
        if tags.get("sidewalk") in ("yes", "left", "right", "both"):
            factor *= TRUNK_PAVEMENT
        elif tags.get("sidewalk") == "lane":
            factor *= TRUNK_LANE
    if tags.get("foot") == "discouraged":
        factor *= DISCOURAGED
    if tags.get("foot") == "use_sidepath":
        factor *= SIDEPATH
    return max(1.0, factor)


def _find_one_way(tags: Tags, highway: str | None, conveying: str) -> int:
    """Return 1 if pedestrians may go only forward, -1 if only backward, otherwise 0; rules for vehicles are ignored."""
    if conveying in ("forward", "backward"):
        return 1 if conveying == "forward" else -1
    value = tags.get("oneway:foot", tags.get("oneway") if highway in ("footway", "corridor") else None)
    if value in _YES or tags.get("foot:backward") in _DENIED:
        return 1
    return -1 if value == "-1" or tags.get("foot:forward") in _DENIED else 0


def is_routed(tags: Tags) -> bool:
    highway = tags.get("highway")
    is_street = highway is not None and highway not in _NOT_WAYS
    return is_street or is_platform(tags) or tags.get("indoor") in _INDOOR


def is_platform(tags: Tags) -> bool:
    platform = tags.get("public_transport") == "platform" or tags.get("railway") == "platform"
    return platform and tags.get("usage") != "tourism"


def is_area(tags: Tags) -> bool:
    if tags.get("area") == "no":
        return False
    is_floor = tags.get("highway") == "platform" or tags.get("indoor") == "area"
    return tags.get("area") == "yes" or is_floor or is_platform(tags)


def blocks_node(tags: Tags) -> bool:
    barrier, foot = tags.get("barrier"), tags.get("foot")
    if barrier is None or foot in _ALLOWED:
        return False
    return barrier in _WALLS or foot in _DENIED or tags.get("access") in _DENIED


def find_node_flags(tags: Tags) -> int:
    kerb = tags.get("kerb", "yes" if tags.get("barrier") == "kerb" else "no")
    return (
        graph.LIGHTS * (tags.get("crossing") == "traffic_signals")
        | graph.LIFT * (tags.get("highway") == "elevator")
        | graph.BLOCKED * blocks_node(tags)
        | graph.KERB * (kerb == "raised")
        | graph.UNKNOWN_KERB * (kerb in _UNKNOWN_KERBS)
    )


def is_stop(tags: Tags) -> bool:
    is_station = tags.get("railway") in ("station", "halt")
    return not is_station and any(tags.get(key) == value for key, value in _BOARDING_NODES)


class OsmEntrance(NamedTuple):
    """An entrance to a metro or railway station; ``has_steps`` is true if the entrance is tagged wheelchair=no."""

    lat: float
    lon: float
    is_railway: bool = False
    is_exit: bool = False
    has_steps: bool = False


def find_entrance(tags: Tags, lat: float, lon: float) -> OsmEntrance | None:
    is_railway = tags.get("railway") == "train_station_entrance"
    if not (is_railway or tags.get("railway") == "subway_entrance") or tags.get("entrance") in _NO_DOORS:
        return None
    is_exit, has_steps = tags.get("entrance") == "exit", tags.get("wheelchair") == "no"
    return OsmEntrance(lat, lon, is_railway=is_railway, is_exit=is_exit, has_steps=has_steps)


# The maximum walking limit of a query.
REACH_M = 3000.0
_CELL_DEG = 0.01
_ROWS = 1 << 16


def find_area(lats: Float64, lons: Float64) -> IsInArea:
    """Return a function that tests whether a position is within 3 km of any stop, rounded to grid cells."""
    steps = math.ceil(REACH_M / METRES_PER_DEGREE / _CELL_DEG)
    lon_scale = math.cos(math.radians(min(85.0, float(np.abs(lats).max(initial=0.0)) + 0.1)))
    steps_lon = math.ceil(REACH_M / METRES_PER_DEGREE / lon_scale / _CELL_DEG)
    stop_cells = np.unique(np.floor(np.column_stack([lats, lons]) / _CELL_DEG).astype(np.int64), axis=0)
    nearby = [
        stop_cells + np.array([dy, dx]) for dy in range(-steps, steps + 1) for dx in range(-steps_lon, steps_lon + 1)
    ]
    cells = np.unique(np.concatenate(nearby), axis=0)
    area_cells = frozenset((cells[:, 0] * _ROWS + cells[:, 1]).tolist())
    return lambda lat, lon: math.floor(lat / _CELL_DEG) * _ROWS + math.floor(lon / _CELL_DEG) in area_cells


_KEYS = ("highway", "public_transport", "railway", "indoor", "barrier", "crossing", "kerb", "entrance")
_WAY_KEYS = ("highway", "public_transport", "railway", "indoor")
READING = "reading streets"


class Way(NamedTuple):
    rule: WayRule
    nodes: list[int]


class Square(NamedTuple):
    """A square or platform that pedestrians can cross: the nodes of its closed rings, outer ring first."""

    rule: WayRule
    rings: list[list[int]]


class OsmStop(NamedTuple):
    ref: str
    lat: float
    lon: float


OsmPlatform = tuple[frozenset[str], bool, list[tuple[float, float]]]
"""A platform's refs, whether it is underground, and its line or outline."""


@dataclass(slots=True)
class ExtractedStreets:
    """The streets in an extract, by OpenStreetMap node id.

    ``uses`` counts each node's occurrences on streets, platforms and indoor ways, walkable or not. Edges end at
    junctions and ``corners``. ``walls`` are the nodes of walls, fences and hedges; ``openings`` are nodes with a door
    or an open gate.
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
    platforms: list[OsmPlatform] = field(default_factory=list)
    is_in_area: IsInArea = lambda _lat, _lon: True

    def add_node(self, node: Any, tags: Tags) -> None:
        if not self.is_in_area(node.lat, node.lon):
            return
        flags = find_node_flags(tags)
        if flags:
            self.node_flags[node.id] = flags
        if ("barrier" in tags or "entrance" in tags) and not flags & graph.BLOCKED:
            self.openings.add(node.id)
        if is_stop(tags) and (ref := tags.get("ref")):
            self.stops.append(OsmStop(ref, node.lat, node.lon))
        if "barrier" in tags or "kerb" in tags or is_stop(tags) or flags & (graph.LIGHTS | graph.LIFT):
            self.corners.add(node.id)
        if entrance := find_entrance(tags, node.lat, node.lon):
            self.entrances.append(entrance)

    def add_way(self, way: Any, tags: Tags) -> None:
        if tags.get("barrier") in _WALLS:
            self.walls.update(*self._store_positions(way.nodes))
        if not is_routed(tags):
            return
        rule = find_way_rule(tags)
        for nodes in self._store_positions(way.nodes):
            if tags.get("highway") == "elevator" and len(nodes) > 1 and nodes[0] != nodes[-1]:
                self._add_lift(way.id, nodes)
            self.uses.update(nodes)
            if rule is not None and len(nodes) > 1:
                self._append_way(rule, nodes, tags)

    def _append_way(self, rule: WayRule, nodes: list[int], tags: Tags) -> None:
        self.ways.append(Way(rule, nodes))
        if is_platform(tags):
            refs = frozenset(tags.get("ref", "").casefold().split(";"))
            self.platforms.append((refs, rule.flags & graph.UNDERGROUND != 0, [self.positions[node] for node in nodes]))

    def _add_lift(self, way: int, nodes: list[int]) -> None:
        # Negative ids are free, because OpenStreetMap's ids are positive.
        lift, middle = -way, len(nodes) // 2
        nearby = [self.positions[node] for node in (nodes[middle - 1], nodes[middle])]
        self.positions[lift] = (sum(lat for lat, _ in nearby) / 2, sum(lon for _, lon in nearby) / 2)
        self.node_flags[lift] = graph.LIFT
        self.corners.add(lift)
        nodes.insert(middle, lift)

    def add_area(self, area: Any, tags: Tags) -> None:
        """Add a square or platform; also add its rings as ways unless they are ways already."""
        if tags.get("area") == "no" or (area.from_way() and not is_area(tags)):
            return
        rule = find_way_rule(tags)
        if rule is None:
            return
        for outer in area.outer_rings():
            rings = [list(self._store_positions(ring)) for ring in (outer, *area.inner_rings(outer))]
            if any(len(runs) != 1 for runs in rings):
                continue
            closed = [runs[0] for runs in rings]
            if not area.from_way():
                for nodes in closed:
                    self.uses.update(nodes)
                    self._append_way(rule, nodes, tags)
            self.squares.append(Square(rule, closed))

    def _store_positions(self, nodes: Iterable[Any]) -> Iterator[list[int]]:
        """Store the positions of nodes; yield each run of consecutive nodes that are in the extract and in the area."""
        positions, run = self.positions, list[int]()
        for node in nodes:
            ref = node.ref
            if ref not in positions:
                location = node.location
                if not (location.valid() and self.is_in_area(location.lat, location.lon)):
                    if run:
                        yield run
                    run = []
                    continue
                positions[ref] = (location.lat, location.lon)
            if not run or run[-1] != ref:
                run.append(ref)
        if run:
            yield run


def read_extract(path: Path, is_in_area: IsInArea, progress: ReadProgress = ignore_progress) -> ExtractedStreets:
    streets = ExtractedStreets(is_in_area=is_in_area)
    for osm_object in read_objects(path, _KEYS, _WAY_KEYS, READING, progress):
        tags = dict(osm_object.tags)
        if osm_object.is_node():
            streets.add_node(osm_object, tags)
        elif osm_object.is_way():
            streets.add_way(osm_object, tags)
        elif osm_object.is_area():
            streets.add_area(osm_object, tags)
    return streets
