"""Addresses and points of interest of an extract."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fingerpost.transit.model.geodesy import Point
from fingerpost.transit.osm.addresses.address_text import HouseNumber, read_house_number
from fingerpost.transit.osm.extract_file import Holds, ReadProgress, apart_m, read_objects

Tags = Mapping[str, str]

LANGUAGES = ("fi", "sv", "en")


class FeatureKind(IntEnum):
    """What is found under a name; the numbers stand in the index file."""

    STREET = 0
    PLACE = 1
    CITY = 2


# How well a name of each kind fits, where the text is exactly that name: what a place was called once is a weaker
# reading than what another is called now.
CURRENT, OTHER, FORMER = 1.0, 0.985, 0.95

_OTHER_NAMES = ("alt_name", "short_name", "official_name", "loc_name")
_FORMER_NAMES = ("old_name",)

# Of a place with several of these the first says what it is.
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
# Nobody goes to a district of a country, nor to a corner of the sea.
_NOT_PLACES = frozenset({"country", "state", "region", "province", "county", "continent", "ocean", "sea", "no", "yes"})
_STATIONS = frozenset({"station", "halt"})
_STATION_AMENITIES = frozenset({"bus_station", "ferry_terminal"})
# The timetable knows them better.
_STOP_POSITIONS = frozenset({"stop_position", "platform", "stop_area", "stop_area_group"})

STATION = "station"
"""The feature of a station of trains, buses or ships."""


@dataclass(frozen=True, slots=True)
class FeatureNames:
    """The names of a feature: as the source writes it, by language, and others with how well each fits (0..1)."""

    name: str
    by_language: Mapping[str, str]
    others: tuple[tuple[str, float], ...] = ()

    def list_all(self) -> Iterator[tuple[str, float]]:
        yield self.name, CURRENT
        for name in self.by_language.values():
            yield name, CURRENT
        yield from self.others


@dataclass(frozen=True, slots=True)
class MapFeature:
    """What can be looked up of an object; ``what`` is the value of its main tag, such as ``museum``."""

    kind: FeatureKind
    names: FeatureNames
    what: str


def find_feature(tags: Tags) -> MapFeature | None:
    """Return what can be looked up of an object by its tags, None for what nobody looks up here.

    Stops and platforms are left to the timetable; stations are kept, because a city's name means them.
    """
    names = find_names(tags)
    if names is None or tags.get("public_transport") in _STOP_POSITIONS or tags.get("type") in ("route", "network"):
        return None
    highway = tags.get("highway")
    if highway is not None:
        return None if highway in _NOT_STREETS else MapFeature(FeatureKind.STREET, names, highway)
    if tags.get("railway") in _STATIONS or tags.get("public_transport") == STATION:
        return MapFeature(FeatureKind.PLACE, names, STATION)
    if tags.get("amenity") in _STATION_AMENITIES:
        return MapFeature(FeatureKind.PLACE, names, STATION)
    if tags.get("place") in _CITIES or is_municipality(tags):
        return MapFeature(FeatureKind.CITY, names, tags.get("place", "city"))
    what = next((tags[key] for key in _PLACE_KEYS if key in tags and tags[key] not in ("no", "")), None)
    if what is None or tags.get("place") in _NOT_PLACES or "railway" in tags:
        return None
    return MapFeature(FeatureKind.PLACE, names, what)


def is_municipality(tags: Tags) -> bool:
    return tags.get("boundary") == "administrative" and tags.get("admin_level") == "8"


def find_names(tags: Tags) -> FeatureNames | None:
    by_language = {language: tags[f"name:{language}"] for language in LANGUAGES if tags.get(f"name:{language}")}
    name = tags.get("name") or next(iter(by_language.values()), "")
    if not name.strip():
        return None
    others = [(text, OTHER) for text in _list_values(tags, _OTHER_NAMES)]
    others += [(text, FORMER) for text in _list_values(tags, _FORMER_NAMES)]
    return FeatureNames(name, by_language, tuple(others))


def _list_values(tags: Tags, keys: tuple[str, ...]) -> Iterator[str]:
    """Yield the values of keys, of their numbered forms and of those with a language; several stand between ;."""
    for key, value in tags.items():
        if not key.startswith(keys):
            continue
        stem, _, tail = key.partition(":")
        if stem not in keys or not all(part.isdecimal() or part in LANGUAGES for part in tail.split(":") if tail):
            continue
        for text in value.split(";"):
            if text.strip():
                yield text.strip()


_KEYS = ("name", "name:fi", "name:sv", "name:en", "addr:housenumber")
READING = "reading addresses"

# A street is kept as points this far apart.
STREET_POINTS_M = 60.0


class NamedPoint(NamedTuple):
    """A feature that is no street, where it stands, and the city of its address, "" where that is not said."""

    feature: MapFeature
    at: Point
    city: str


class StreetWay(NamedTuple):
    """A stretch of a street: its points, ``STREET_POINTS_M`` apart."""

    feature: MapFeature
    points: list[Point]


class House(NamedTuple):
    """An address: ``street`` is the name in it, a street's or a place's; ``is_entrance``: it is nothing else."""

    street: str
    number: HouseNumber
    at: Point
    city: str
    is_entrance: bool


@dataclass(slots=True)
class ExtractedAddresses:
    """What an extract has to look up; of ``municipalities`` it may hold the boundary in part."""

    places: list[NamedPoint] = field(default_factory=list)
    ways: list[StreetWay] = field(default_factory=list)
    houses: list[House] = field(default_factory=list)
    municipalities: list[FeatureNames] = field(default_factory=list)


def read_addresses(
    path: Path, holds: Holds, scratch: Path, progress: ReadProgress = lambda _what, _done, _whole: None
) -> ExtractedAddresses:
    """Read what can be looked up in an area; see ``read_objects``."""
    reader = _ObjectReader(holds)
    for each in read_objects(path, _KEYS, _KEYS, scratch, READING, progress):
        reader.take(each)
    return reader.finish()


class _ObjectReader:
    """Takes osmium's objects one after the other: nodes, then ways, then relations and areas."""

    def __init__(self, holds: Holds) -> None:
        self._found = ExtractedAddresses()
        self._holds = holds
        self._streets: list[tuple[MapFeature, list[Point]]] = []
        # The name of the first street through a point, and the points that a street of another name has too.
        self._street_at: dict[Point, str] = {}
        self._corners: set[Point] = set()

    def finish(self) -> ExtractedAddresses:
        """Return what was found; of streets, points ``STREET_POINTS_M`` apart and those where they meet others."""
        for feature, points in self._streets:
            within = [point for point in thin_out(points, self._corners) if self._holds(*point)]
            if within:
                self._found.ways.append(StreetWay(feature, within))
        return self._found

    def take(self, each: Any) -> None:
        tags = {tag.k: tag.v for tag in each.tags}
        if each.is_node():
            self._take_point(tags, (each.lat, each.lon), is_node=True)
        elif each.is_way():
            self._take_way(each, tags)
        elif each.is_relation():
            names = find_names(tags) if is_municipality(tags) else None
            if names is not None:
                self._found.municipalities.append(names)
        elif each.is_area() and not each.from_way():
            corners = [point for ring in each.outer_rings() for point in _list_points(ring)]
            if corners:
                self._take_point(tags, _centre(corners))

    def _take_way(self, way: Any, tags: Tags) -> None:
        points = _list_points(way.nodes)
        if not points or not any(self._holds(*point) for point in points):
            return
        feature = find_feature(tags)
        if feature is not None and feature.kind is FeatureKind.STREET:
            self._streets.append((feature, points))
            name = feature.names.name
            self._corners.update(point for point in points if self._street_at.setdefault(point, name) != name)
        else:
            self._take_point(tags, _centre(points))

    def _take_point(self, tags: Tags, at: Point, *, is_node: bool = False) -> None:
        if not self._holds(*at):
            return
        city = tags.get("addr:city", "")
        feature = find_feature(tags)
        if feature is not None and feature.kind is FeatureKind.STREET:
            # Traffic signs and such; a square that is drawn as a relation is walked on, and has one middle.
            if is_node:
                return
            self._found.ways.append(StreetWay(feature, [at]))
        elif feature is not None:
            self._found.places.append(NamedPoint(feature, at, city))
        if "addr:housenumber" not in tags:
            return
        # In a place without street names, numbers belong to the place.
        street = tags.get("addr:street") or tags.get("addr:place")
        number = read_house_number(tags["addr:housenumber"])
        if street and number is not None:
            self._found.houses.append(House(street, number, at, city, feature is None))


def thin_out(points: list[Point], corners: Collection[Point] = ()) -> list[Point]:
    """Return points along a line about ``STREET_POINTS_M`` apart, its ends and its corners among them."""
    kept = [points[0]]
    for before, point in pairwise(points):
        steps = int(apart_m(before, point) // STREET_POINTS_M)
        kept += [
            (before[0] + (point[0] - before[0]) * i / (steps + 1), before[1] + (point[1] - before[1]) * i / (steps + 1))
            for i in range(1, steps + 1)
        ]
        if point in corners or apart_m(kept[-1], point) >= STREET_POINTS_M:
            kept.append(point)
    if kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def _list_points(nodes: Any) -> list[Point]:
    return [(node.lat, node.lon) for node in nodes if node.location.valid()]


def _centre(points: list[Point]) -> Point:
    # A closed ring has its first corner twice.
    corners = points[:-1] if len(points) > 1 and points[0] == points[-1] else points
    return sum(lat for lat, _ in corners) / len(corners), sum(lon for _, lon in corners) / len(corners)
