"""Decide from the tags of OpenStreetMap which ways may be walked, and how.

The rules are those of OpenTripPlanner 2.9's default tag mapper, so that walks can be compared; else those of the wiki.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fingerpost.transit.osm.streets.graph import (
    BLOCKED,
    CROSSING,
    ENDS_ONLY,
    KERB,
    LIFT,
    LIGHTS,
    MOVING,
    NO_WHEELS,
    ONE_WAY,
    SLOPE,
    STEPS,
    UNDERGROUND,
    UNKNOWN_KERB,
)

_NOT_WAYS = frozenset({
    "proposed", "planned", "construction", "razed", "raceway", "abandoned", "historic", "no", "emergency_bay",
    "rest_area", "services", "bus_guideway", "escape",
})  # fmt: skip
# Only where ``foot`` says so.
_NOT_ON_FOOT = frozenset({"motorway", "motorway_link", "bridleway", "cycleway"})
_TRUNK = frozenset({"trunk", "trunk_link"})
_ALLOWED = frozenset({"yes", "1", "true", "designated", "official", "permissive", "unknown"})
_DENIED = frozenset({"no", "license", "dismount"})
_ENDS_ONLY = frozenset({"no", "destination", "private", "customers", "delivery"})
_WALLS = frozenset({"city_wall", "ditch", "hedge", "retaining_wall", "wall", "wedge", "fence"})
_LEVEL = frozenset({"0", "0%", "0°", "no"})
# Not below ground.
_NO_TUNNELS = frozenset({"no", "building_passage", "culvert"})
_YES = frozenset({"yes", "1", "true"})
_INDOOR = frozenset({"corridor", "area"})
_BOARDING_NODES = (
    ("highway", "bus_stop"), ("railway", "tram_stop"), ("highway", "platform"),
    ("public_transport", "platform"), ("railway", "platform"), ("public_transport", "stop_position"),
)  # fmt: skip
_STATION_NODES = (
    ("railway", "station"), ("railway", "halt"), ("amenity", "bus_station"), ("amenity", "ferry_terminal"),
)  # fmt: skip

_UNKNOWN_KERBS = frozenset({"yes", "regular", "unknown"})
# Doors that riders cannot use.
_NO_DOORS = frozenset({"no", "emergency", "service", "garage"})

METRO, RAILWAY, DOOR = "metro", "railway", "door"

# How many times as much a metre costs on a trunk road, on a discouraged way, and beside a signed footway.
TRUNK_AVOIDED, TRUNK_LANE, TRUNK_PAVEMENT = 7.47, 0.6, 0.25
DISCOURAGED, SIDEPATH = 3.0, 5.0

Tags = Mapping[str, str]


class WayRule(NamedTuple):
    """How a way is walked: flags as in ``StreetGraph``, how many times as much a metre costs, and the direction."""

    flags: int = 0
    avoided: float = 1.0
    is_backward: bool = False


def find_way_rule(tags: Tags) -> WayRule | None:
    highway = tags.get("highway")
    if highway in _NOT_WAYS or not (highway or is_platform(tags) or tags.get("indoor") in _INDOOR):
        return None
    if not _is_walkable(tags, highway):
        return None
    foot = tags.get("foot")
    is_steps = highway == "steps"
    conveying = tags.get("conveying", "no") if is_steps else "no"
    one_way = _one_way(tags, highway, conveying)
    is_slope = not is_steps and tags.get("incline", "0") not in _LEVEL
    return WayRule(
        ENDS_ONLY * ((tags.get("access") if foot is None else foot) in _ENDS_ONLY)
        | STEPS * is_steps
        | MOVING * (conveying != "no")
        | ONE_WAY * (one_way != 0)
        | NO_WHEELS * (tags.get("wheelchair") == "no")
        | SLOPE * is_slope
        | UNDERGROUND * (tags.get("tunnel", "no") not in _NO_TUNNELS or tags.get("layer", "").startswith("-")),
        _avoided(tags, highway),
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


def _avoided(tags: Tags, highway: str | None) -> float:
    avoided = 1.0
    if highway in _TRUNK:
        avoided = TRUNK_AVOIDED
        if tags.get("sidewalk") in ("yes", "left", "right", "both"):
            avoided *= TRUNK_PAVEMENT
        elif tags.get("sidewalk") == "lane":
            avoided *= TRUNK_LANE
    if tags.get("foot") == "discouraged":
        avoided *= DISCOURAGED
    if tags.get("foot") == "use_sidepath":
        avoided *= SIDEPATH
    return max(1.0, avoided)


def _one_way(tags: Tags, highway: str | None, conveying: str) -> int:
    """Return 1 if walkers go only in the way's direction, -1 only against it, else 0; ignores rules for vehicles."""
    if conveying in ("forward", "backward"):
        return 1 if conveying == "forward" else -1
    if highway in ("footway", "corridor") and tags.get("oneway") in _YES and tags.get("oneway:foot") != "no":
        return 1
    return 0


def is_routed(tags: Tags) -> bool:
    highway = tags.get("highway")
    is_street = highway is not None and highway not in _NOT_WAYS
    return is_street or is_platform(tags) or tags.get("indoor") in _INDOOR


def is_platform(tags: Tags) -> bool:
    platform = tags.get("public_transport") == "platform" or tags.get("railway") == "platform"
    return platform and tags.get("usage") != "tourism"


def is_area(tags: Tags) -> bool:
    """Whether a closed way is walked across, such as a square or platform, and not along."""
    if tags.get("area") == "no":
        return False
    is_floor = tags.get("highway") == "platform" or tags.get("indoor") == "area"
    return tags.get("area") == "yes" or is_floor or is_platform(tags)


def blocks_node(tags: Tags) -> bool:
    barrier, foot = tags.get("barrier"), tags.get("foot")
    if barrier is None or foot in _ALLOWED:
        return False
    return barrier in _WALLS or foot in _DENIED or tags.get("access") in _DENIED


def is_wall(tags: Tags) -> bool:
    return tags.get("barrier") in _WALLS


def is_opening(tags: Tags) -> bool:
    """Whether a node of a wall may be walked through: a gate that is not shut, or a door."""
    return ("barrier" in tags or "entrance" in tags) and not blocks_node(tags)


def find_node_flags(tags: Tags) -> int:
    kerb = tags.get("kerb", "yes" if tags.get("barrier") == "kerb" else "no")
    return (
        LIGHTS * (tags.get("crossing") == "traffic_signals")
        | LIFT * is_lift(tags)
        | BLOCKED * blocks_node(tags)
        | KERB * (kerb == "raised")
        | UNKNOWN_KERB * (kerb in _UNKNOWN_KERBS)
        | CROSSING * (tags.get("highway") == "crossing")
    )


def is_lift(tags: Tags) -> bool:
    return tags.get("highway") == "elevator"


def is_stop(tags: Tags) -> bool:
    return any(tags.get(key) == value for key, value in (*_BOARDING_NODES, *_STATION_NODES))


def is_boarding_point(tags: Tags) -> bool:
    return is_stop(tags) and not any(tags.get(key) == value for key, value in _STATION_NODES)


def find_entrance_kind(tags: Tags) -> str | None:
    """Return METRO or RAILWAY for an entrance of a station, DOOR for one of any building, else None."""
    if tags.get("entrance") in _NO_DOORS:
        return None
    railway = tags.get("railway")
    if railway == "subway_entrance":
        return METRO
    if railway == "train_station_entrance":
        return RAILWAY
    return DOOR if "entrance" in tags else None


def is_metro_station(tags: Tags) -> bool:
    is_station = tags.get("railway") == "station" or tags.get("public_transport") == "station"
    return is_station and (tags.get("station") == "subway" or tags.get("subway") == "yes")
