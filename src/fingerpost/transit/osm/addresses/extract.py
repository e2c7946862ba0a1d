"""Read the streets, places and addresses in an OpenStreetMap extract."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fingerpost.transit.model.geodesy import Point
from fingerpost.transit.osm.addresses.address_text import HouseNumber, read_house_number
from fingerpost.transit.osm.extract_file import IsInArea, ReadProgress, distance_m, ignore_progress, read_objects

Tags = Mapping[str, str]

LANGUAGES = ("fi", "sv", "en")


class FeatureKind(IntEnum):
    """Kinds of features; the numbers are stored in the index file."""

    STREET = 0
    PLACE = 1
    CITY = 2


# Scores for exact matches, by kind of name.
CURRENT, OTHER, FORMER = 1.0, 0.985, 0.95

_OTHER_NAMES = ((("alt_name", "short_name", "official_name", "loc_name"), OTHER), (("old_name",), FORMER))

# The first of these keys that an object has determines its category.
_PLACE_KEYS = (
    "amenity", "shop", "tourism", "leisure", "office", "historic", "craft", "healthcare", "club", "aeroway", "sport",
    "military", "emergency", "building", "place", "landuse", "natural", "waterway", "man_made", "bridge",
    "building:part",
)  # fmt: skip
_NOT_STREETS = frozenset({
    "bus_stop", "platform", "elevator", "proposed", "razed", "abandoned", "services", "rest_area", "no", "stop",
    "traffic_signals", "crossing", "street_lamp", "speed_camera", "motorway_junction", "toll_gantry",
})  # fmt: skip
_CITIES = frozenset({"city", "town", "municipality"})
# Areas that are too large to be destinations.
_NOT_PLACES = frozenset({"country", "state", "region", "province", "county", "continent", "ocean", "sea", "no", "yes"})
_STATIONS = frozenset({"station", "halt"})
_STATION_AMENITIES = frozenset({"bus_station", "ferry_terminal"})
# Stops are left out, because the timetable has more data about them.
_STOP_POSITIONS = frozenset({"stop_position", "platform", "stop_area", "stop_area_group"})

STATION = "station"
"""The category of a railway station, bus station or ferry terminal."""


@dataclass(frozen=True, slots=True)
class FeatureNames:
    name: str
    by_language: Mapping[str, str]
    others: tuple[tuple[str, float], ...] = ()

    def list_current(self) -> list[str]:
        return [self.name, *self.by_language.values()]

    def list_all(self) -> Iterator[tuple[str, float]]:
        """Yield every name with its score."""
        yield from ((name, CURRENT) for name in self.list_current())
        yield from self.others


@dataclass(slots=True)
class Feature:
    """A street, place or city to look up.

    ``category`` is the value of its main tag, such as ``museum``. The ``points`` of a street are about
    ``STREET_POINTS_M`` apart. ``city`` is the city in its address, or "" if unknown. ``houses`` are added later.
    """

    kind: FeatureKind
    names: FeatureNames
    category: str
    points: list[Point]
    city: str = ""
    houses: "list[House]" = field(default_factory=list)


def find_feature(tags: Tags, points: list[Point]) -> Feature | None:
    """Return an object's feature, or None if it has no name or is a stop (stops are in the timetable)."""
    names = find_names(tags)
    if names is None or tags.get("public_transport") in _STOP_POSITIONS or tags.get("type") in ("route", "network"):
        return None
    highway, city = tags.get("highway"), tags.get("addr:city", "")
    if highway is not None:
        return None if highway in _NOT_STREETS else Feature(FeatureKind.STREET, names, highway, points)
    if (
        tags.get("railway") in _STATIONS
        or tags.get("public_transport") == STATION
        or tags.get("amenity") in _STATION_AMENITIES
    ):
        return Feature(FeatureKind.PLACE, names, STATION, points, city)
    if tags.get("place") in _CITIES or is_municipality(tags):
        return Feature(FeatureKind.CITY, names, tags.get("place", "city"), points, city)
    category = next((tags[key] for key in _PLACE_KEYS if key in tags and tags[key] not in ("no", "")), None)
    if category is None or tags.get("place") in _NOT_PLACES or "railway" in tags:
        return None
    return Feature(FeatureKind.PLACE, names, category, points, city)


def is_municipality(tags: Tags) -> bool:
    return tags.get("boundary") == "administrative" and tags.get("admin_level") == "8"


def find_names(tags: Tags) -> FeatureNames | None:
    by_language = {language: tags[f"name:{language}"] for language in LANGUAGES if tags.get(f"name:{language}")}
    name = tags.get("name") or next(iter(by_language.values()), "")
    if not name.strip():
        return None
    others = tuple((text, score) for keys, score in _OTHER_NAMES for text in _list_values(tags, keys))
    return FeatureNames(name, by_language, others)


def _list_values(tags: Tags, keys: tuple[str, ...]) -> Iterator[str]:
    for key, value in tags.items():
        stem, _, tail = key.partition(":")
        if stem in keys and all(part.isdecimal() or part in LANGUAGES for part in tail.split(":") if tail):
            yield from filter(None, map(str.strip, value.split(";")))


_KEYS = ("name", "name:fi", "name:sv", "name:en", "addr:housenumber")
READING = "reading addresses"

# The approximate distance between the points of a street.
STREET_POINTS_M = 60.0


class House(NamedTuple):
    """An address on a street or at a place; ``is_address_only`` is true if the object has no other purpose."""

    street: str
    number: HouseNumber
    point: Point
    city: str
    is_address_only: bool
    postcode: str = ""


@dataclass(slots=True)
class ExtractedAddresses:
    is_in_area: IsInArea
    places: list[Feature] = field(default_factory=list)
    streets: list[Feature] = field(default_factory=list)
    houses: list[House] = field(default_factory=list)
    municipalities: list[FeatureNames] = field(default_factory=list)
    # The OSM ways of streets, the first street name at each point, and the points shared by differently named streets.
    _street_ways: list[Feature] = field(default_factory=list)
    _street_by_point: dict[Point, str] = field(default_factory=dict)
    _corners: set[Point] = field(default_factory=set)

    def add(self, osm_object: Any) -> None:
        tags = {tag.k: tag.v for tag in osm_object.tags}
        if osm_object.is_node():
            self._add_point(tags, (osm_object.lat, osm_object.lon), is_node=True)
        elif osm_object.is_way():
            self._add_line(tags, _list_points(osm_object.nodes))
        elif osm_object.is_relation():
            if is_municipality(tags) and (names := find_names(tags)):
                self.municipalities.append(names)
        elif osm_object.is_area() and not osm_object.from_way():
            corners = [point for ring in osm_object.outer_rings() for point in _list_points(ring)]
            if corners:
                self._add_point(tags, _find_centre(corners))

    def _add_line(self, tags: Tags, points: list[Point]) -> None:
        if not any(self.is_in_area(*point) for point in points):
            return
        feature = find_feature(tags, points)
        if feature is None or feature.kind is not FeatureKind.STREET:
            self._add_point(tags, _find_centre(points))
            return
        self._street_ways.append(feature)
        name = feature.names.name
        self._corners.update(point for point in points if self._street_by_point.setdefault(point, name) != name)

    def _add_point(self, tags: Tags, position: Point, *, is_node: bool = False) -> None:
        if not self.is_in_area(*position):
            return
        feature = find_feature(tags, [position])
        if feature is not None and feature.kind is FeatureKind.STREET:
            # Nodes are traffic signs and the like. Relations are squares, which become streets with one point.
            if is_node:
                return
            self.streets.append(feature)
        elif feature is not None:
            self.places.append(feature)
        # In a place without street names, house numbers belong to the place.
        street = tags.get("addr:street") or tags.get("addr:place")
        number = read_house_number(tags.get("addr:housenumber", ""))
        if street and number is not None:
            city, postcode = tags.get("addr:city", ""), tags.get("addr:postcode", "")
            self.houses.append(House(street, number, position, city, feature is None, postcode))

    def add_street_ways(self) -> None:
        """Add the street ways; their corners are known only after all objects have been read."""
        for street in self._street_ways:
            street.points = [point for point in thin_out(street.points, self._corners) if self.is_in_area(*point)]
            if street.points:
                self.streets.append(street)


def read_addresses(path: Path, is_in_area: IsInArea, progress: ReadProgress = ignore_progress) -> ExtractedAddresses:
    found = ExtractedAddresses(is_in_area)
    for osm_object in read_objects(path, _KEYS, _KEYS, READING, progress):
        found.add(osm_object)
    found.add_street_ways()
    return found


def thin_out(points: list[Point], corners: Collection[Point]) -> list[Point]:
    """Return points about ``STREET_POINTS_M`` apart along a line, including its ends and corners."""
    thinned = [points[0]]
    for last, point in pairwise(points):
        steps = int(distance_m(last, point) // STREET_POINTS_M)
        thinned += [
            (last[0] + (point[0] - last[0]) * i / (steps + 1), last[1] + (point[1] - last[1]) * i / (steps + 1))
            for i in range(1, steps + 1)
        ]
        if point in corners or distance_m(thinned[-1], point) >= STREET_POINTS_M:
            thinned.append(point)
    if thinned[-1] != points[-1]:
        thinned.append(points[-1])
    return thinned


def _list_points(nodes: Any) -> list[Point]:
    return [(node.lat, node.lon) for node in nodes if node.location.valid()]


def _find_centre(points: list[Point]) -> Point:
    # A closed ring repeats its first corner.
    corners = points[:-1] if len(points) > 1 and points[0] == points[-1] else points
    return sum(lat for lat, _ in corners) / len(corners), sum(lon for _, lon in corners) / len(corners)
