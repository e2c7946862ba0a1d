"""Places, positions and areas, and the distances between them.

Coordinates are in WGS84 degrees, distances in metres.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.transit.model.geodesy import EARTH_RADIUS_M, METRES_PER_DEGREE, find_west


class PlaceKind(StrEnum):
    STOP = "STOP"
    ADDRESS = "ADDRESS"


class LocationSource(StrEnum):
    INPUT = "input"
    USER_VARIABLE = "user-variable"
    GEOCODE = "geocode"


@dataclass(frozen=True, slots=True)
class Coordinate:
    lat: float
    lon: float

    @property
    def point(self) -> tuple[float, float]:
        return self.lat, self.lon


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stop, station, address or other place; ``id`` is None for an address.

    ``member_ids`` are the ids of all its stops (rule D2). ``zero_walk_ids`` are the ids of the stops reached without a
    walk (those of its station, or the nearest stop); None means all. ``guess`` explains an estimated position. Answers
    must show ``attribution``.
    """

    name: str
    coordinate: Coordinate
    kind: PlaceKind
    id: str | None = None
    member_ids: tuple[str, ...] = ()
    zero_walk_ids: tuple[str, ...] | None = None
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    language: str = "default"
    locality: str | None = None
    guess: str | None = None
    attribution: tuple[str, ...] = ()

    @property
    def token(self) -> str:
        return self.id or f"{self.coordinate.lat:.6f},{self.coordinate.lon:.6f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTraits:
    """Traits that distinguish a place from others with the same name (rule D2): lines, main destination, district."""

    lines: tuple[str, ...] = ()
    direction: str | None = None
    district: str | None = None


class PlaceMatch(NamedTuple):
    """A place and its score (0..1) as a match for a text.

    ``describe`` computes its traits, or is None if the source has none. ``network`` is "" until matches from several
    networks are combined. ``is_apart`` is True for a place in a different region from the rider or from a place with
    the same name (rule A13).
    """

    place: Place
    score: float
    distance_m: float | None = None
    describe: Callable[[], PlaceTraits] | None = None
    network: str = ""
    is_apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A resolved origin or destination; riders reach ``stop_ids`` without a walk."""

    coordinate: Coordinate
    source: LocationSource
    label: str | None = None
    name: str | None = None
    address: str | None = None
    stop_ids: tuple[str, ...] = ()
    attribution: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """A box; ``east`` exceeds 180 if the box crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float

    def covers(self, coordinate: Coordinate) -> bool:
        return self.south <= coordinate.lat <= self.north and (coordinate.lon - self.west) % 360 <= self.width

    def overlaps(self, other: "Bounds") -> bool:
        shares_latitude = self.south <= other.north and self.north >= other.south
        return shares_latitude and (
            (other.west - self.west) % 360 <= self.width or (self.west - other.west) % 360 <= other.width
        )

    def nearest(self, coordinate: Coordinate) -> Coordinate:
        lat, east_of_west = min(max(coordinate.lat, self.south), self.north), (coordinate.lon - self.west) % 360
        if east_of_west <= self.width:
            return Coordinate(lat, coordinate.lon)
        return Coordinate(lat, self.east if east_of_west < (self.width + 360) / 2 else self.west)

    @property
    def area(self) -> float:
        return (self.north - self.south) * self.width

    @property
    def width(self) -> float:
        return self.east - self.west


# An origin and a destination within this distance of each other are the same point (rule A6).
SAME_POINT_M = 1.0


def distance_m(a: Coordinate, b: Coordinate) -> float:
    phi_a, phi_b = math.radians(a.lat), math.radians(b.lat)
    half_lat = (phi_b - phi_a) / 2
    half_lon = math.radians(b.lon - a.lon) / 2
    root = math.sin(half_lat) ** 2 + math.cos(phi_a) * math.cos(phi_b) * math.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(math.sqrt(min(1.0, root)))


def match_place(place: Place, score: float, focus: Coordinate | None) -> PlaceMatch:
    focus_distance_m = None if focus is None else distance_m(focus, place.coordinate)
    return PlaceMatch(place=place, score=score, distance_m=focus_distance_m)


def is_same_point(a: Coordinate, b: Coordinate) -> bool:
    return distance_m(a, b) <= SAME_POINT_M


def find_centre(coordinates: Sequence[Coordinate]) -> Coordinate:
    count = len(coordinates)
    lat = sum(coordinate.lat for coordinate in coordinates) / count
    first = coordinates[0].lon
    east = sum((coordinate.lon - first + 180) % 360 - 180 for coordinate in coordinates) / count
    return Coordinate(lat, (first + east + 180) % 360 - 180)


# A network's bounds extend beyond its outermost stops by the length of the longest walk.
MARGIN_M = 3000.0


def box_of(positions: Sequence[Coordinate], margin_m: float = MARGIN_M) -> Bounds:
    lats, west = [position.lat for position in positions], find_west(position.lon for position in positions)
    east = max(position.lon + 360 * (position.lon < west) for position in positions)
    dy = margin_m / METRES_PER_DEGREE
    dx = dy / max(0.01, math.cos(math.radians(max(map(abs, lats)))))
    return Bounds(south=min(lats) - dy, west=west - dx, north=max(lats) + dy, east=east + dx)


def box_around(centre: Coordinate, radius_m: float) -> Bounds:
    dy = radius_m / METRES_PER_DEGREE * 1.001
    dx = dy / max(0.01, math.cos(math.radians(min(89.0, abs(centre.lat) + dy))))
    return Bounds(
        south=round(centre.lat - dy, 6),
        west=round(centre.lon - dx, 6),
        north=round(centre.lat + dy, 6),
        east=round(centre.lon + dx, 6),
    )


FALLBACK_LANGUAGES = ("fi", "en", "sv")
DEFAULT_LANGUAGE = "default"


def choose_language(requested: str | None, available: Collection[str]) -> str:
    """Return the requested language if available, or the first available fallback, or ``default``."""
    preferred = FALLBACK_LANGUAGES if requested is None else (requested, *FALLBACK_LANGUAGES)
    return next((language for language in preferred if language in available), DEFAULT_LANGUAGE)


def set_language(place: Place, language: str | None) -> Place:
    return place if language is None else replace(place, language=language, names={language: place.name})
