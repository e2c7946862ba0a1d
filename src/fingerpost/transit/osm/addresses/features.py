"""What of an OpenStreetMap object can be looked up: its kind, and its names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

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
        """Yield each name and how well it fits."""
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
    """Whether an object is the boundary of a municipality."""
    return tags.get("boundary") == "administrative" and tags.get("admin_level") == "8"


def find_names(tags: Tags) -> FeatureNames | None:
    """Return the names of an object, None where it has none."""
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
