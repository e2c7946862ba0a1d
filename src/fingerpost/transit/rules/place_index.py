"""Group stops into places, and find the places of one network by name or stop id (rules B10, D2)."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.runtime.grouping import group_by_key, group_linked
from fingerpost.transit.model.geodesy import EARTH_RADIUS_M
from fingerpost.transit.model.place import (
    DEFAULT_LANGUAGE,
    Coordinate,
    Place,
    PlaceKind,
    PlaceMatch,
    choose_language,
    distance_m,
    find_centre,
    match_place,
)
from fingerpost.transit.rules.name_matching import WORDS, find_most_common, list_plain, plain, sort_matches, strip_near
from fingerpost.transit.rules.name_search import NameSearch, list_base_forms


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStop:
    """A stop or station; ``names`` holds translations keyed by language."""

    id: str
    name: str
    lat: float
    lon: float
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parent_id: str | None = None
    is_station: bool = False
    locality: str | None = None

    @property
    def coordinate(self) -> Coordinate:
        return Coordinate(self.lat, self.lon)


_MAX_NAME_CHARS = 200
_NAME = re.compile(
    rf"(?P<place>.+?)[\s,/(\[-]+(?:(?P<word>{'|'.join(WORDS['platform'])})\.?\s*)?"
    r"(?P<platform>[^\W\d_]|\d{1,3}[^\W\d_]?|[^\W\d_]\d{1,2})[)\]]?",
    re.IGNORECASE,
)


class StopNameParts(NamedTuple):
    """A place name and platform code; ``is_bare`` is set if no word such as "platform" precedes the code."""

    place: str
    platform: str = ""
    is_bare: bool = False


def split_stop_name(name: str) -> StopNameParts:
    """Split a stop's name into place and platform; a bare number, such as a house number, is part of the place."""
    found = _NAME.fullmatch(name.strip()) if len(name) <= _MAX_NAME_CHARS else None
    if found is None:
        return StopNameParts(name)
    place, platform = found["place"].rstrip(" ,/([-"), found["platform"]
    if found["word"]:
        return StopNameParts(place, platform) if place else StopNameParts(name)
    last_word = re.split(r"[\s,/.]+", place.rstrip("."))[-1].casefold()
    # A letter in brackets is a symbol, such as (M) for metro.
    is_letter = len(platform) == 1 and platform.isupper() and name.rstrip().endswith(platform)
    if not is_letter or last_word in WORDS["place"]:
        return StopNameParts(name)
    return StopNameParts(place, platform, is_bare=True)


# Stops with the same name within this distance of each other, directly or via other stops, form one place.
ONE_PLACE_M = 300.0

# The levels are boarding area, platform and station.
_MAX_STATION_DEPTH = 3


class PlaceGroup(NamedTuple):
    place: Place
    stops: Sequence[NamedStop]

    @property
    def has_platforms(self) -> bool:
        """Whether the stops' names differ, usually only by their platform codes."""
        return len({stop.name for stop in self.stops}) > 1

    def list_spellings(self) -> set[str]:
        return {spelling for stop in self.stops for spelling in _list_spellings(stop, with_place=self.has_platforms)}


def group_places(stops: Iterable[NamedStop], stops_by_station: Mapping[str, Sequence[NamedStop]]) -> list[PlaceGroup]:
    """Return the places of a network, sorted by id; ``stops_by_station`` is the result of ``group_by_station``.

    Stops with the same parent station form one place, the station. Other stops with the same name form a place with
    the id of the stop nearest to their centre, or of the station with that name.
    """
    ordered = sorted(stops, key=lambda stop: stop.id)
    by_id = {stop.id: stop for stop in ordered}
    station_id_by_stop = _find_stations(by_id)
    mixed_clusters: list[list[NamedStop]] = []
    clusters_by_station: dict[str, list[NamedStop]] = {}
    for cluster in _cluster_by_name(ordered):
        parents = {station_id_by_stop[stop.id] for stop in cluster}
        parent_id = parents.pop() if len(parents) == 1 else None
        if parent_id is None:
            mixed_clusters.append(cluster)
        else:
            clusters_by_station.setdefault(parent_id, []).extend(cluster)
    groups = []
    for cluster in mixed_clusters:
        shared = [stop for stop in cluster if stop.is_station and stop.id in clusters_by_station]
        station = by_id.get(station_id_by_stop[_find_nearest(cluster).id] or "") or next(
            (stop for stop in cluster if stop.is_station and stops_by_station.get(stop.id)), None
        )
        place = _build_mixed_place(cluster, stops_by_station, shared[0] if shared else station)
        if shared:
            place = replace(place, id=shared[0].id)
        station_stops = [stop for station in shared for stop in clusters_by_station.pop(station.id)]
        groups.append(PlaceGroup(place, [*cluster, *station_stops]))
    for station_id, cluster in clusters_by_station.items():
        place = build_place(by_id[station_id], stops_by_station.get(station_id, ()))
        groups.append(PlaceGroup(place, cluster))
    return sorted(groups, key=lambda group: group.place.id or "")


def group_by_station(stops: Iterable[NamedStop]) -> dict[str, list[NamedStop]]:
    by_id = {stop.id: stop for stop in stops}
    members = ((station_id, by_id[stop_id]) for stop_id, station_id in _find_stations(by_id).items() if station_id)
    return group_by_key((station_id, stop) for station_id, stop in members if not stop.is_station)


def build_place(stop: NamedStop, station_stops: Sequence[NamedStop] = ()) -> Place:
    return Place(
        id=stop.id,
        name=stop.name,
        names=stop.names,
        coordinate=stop.coordinate,
        kind=PlaceKind.STOP,
        member_ids=tuple(sorted(child.id for child in station_stops)) if stop.is_station else (stop.id,),
        locality=stop.locality,
    )


def _build_mixed_place(
    cluster: Sequence[NamedStop], stops_by_station: Mapping[str, Sequence[NamedStop]], station: NamedStop | None
) -> Place:
    boardable = [stop for stop in cluster if not stop.is_station]
    station_stops = [child for stop in cluster if stop.is_station for child in stops_by_station.get(stop.id, ())]
    nearest = _find_nearest(cluster)
    members = {stop.id for stop in (*boardable, *station_stops)}
    zero_walk_ids = {child.id for child in stops_by_station.get(station.id, ())} if station else set()
    has_platforms = len({stop.name for stop in cluster}) > 1
    # The first name in each language wins.
    names = {language: name for stop in reversed(cluster) for language, name in stop.names.items()}
    return Place(
        id=nearest.id,
        name=find_most_common(_format_place_name(stop.name, has_platforms) for stop in cluster),
        names={language: _format_place_name(name, has_platforms) for language, name in names.items()},
        coordinate=nearest.coordinate if station is None else station.coordinate,
        kind=PlaceKind.STOP,
        member_ids=tuple(sorted(members)),
        zero_walk_ids=tuple(sorted(members & zero_walk_ids)) or (nearest.id,),
        locality=find_most_common(stop.locality or "" for stop in cluster) or None,
    )


def _find_nearest(cluster: Sequence[NamedStop]) -> NamedStop:
    stops = [stop for stop in cluster if not stop.is_station] or cluster
    centre = find_centre([stop.coordinate for stop in stops])
    # Round, because two paired stops are equally far from their centre.
    return min(stops, key=lambda stop: (round(distance_m(stop.coordinate, centre), 1), stop.id))


def _format_place_name(name: str, has_platforms: bool) -> str:
    return split_stop_name(name).place if has_platforms else name


def _find_stations(by_id: Mapping[str, NamedStop]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for stop in by_id.values():
        current: NamedStop | None = stop
        for _ in range(_MAX_STATION_DEPTH):
            if current is None or current.is_station:
                break
            current = by_id.get(current.parent_id or "")
        found[stop.id] = current.id if current is not None and current.is_station else None
    return found


def _list_spellings(stop: NamedStop, *, with_place: bool) -> Iterator[str]:
    names = [stop.name, *stop.names.values()]
    for name in (*names, *(split_stop_name(name).place for name in names)) if with_place else names:
        for spelling in list_plain(name):
            yield spelling
            if stop.locality:
                yield f"{spelling} {plain(stop.locality)}".rstrip()


def _cluster_by_name(stops: Sequence[NamedStop]) -> Iterator[list[NamedStop]]:
    for cluster in _link_namesakes(stops, [plain(split_stop_name(stop.name).place) for stop in stops]):
        names = [stop.name for stop in cluster]
        letters = [part.platform for part in map(split_stop_name, names) if part.is_bare]
        # Most platforms of one place have different letters, unlike stops on Avenue A.
        if 2 * len(set(letters)) > len(letters) or len(set(names)) == 1:
            yield cluster
        else:
            yield from _link_namesakes(cluster, [plain(stop.name) for stop in cluster])


def _link_namesakes(stops: Sequence[NamedStop], spellings: Sequence[str]) -> Iterator[list[NamedStop]]:
    by_spelling = group_by_key(zip(spellings, stops, strict=True))
    by_spelling.pop("", None)
    for namesakes in by_spelling.values():
        yield from _link_nearby(namesakes) if len(namesakes) > 1 else [namesakes]


def _link_nearby(namesakes: Sequence[NamedStop]) -> Iterator[list[NamedStop]]:
    """Yield clusters of stops with the same name, linked by distances of up to ``ONE_PLACE_M`` (latitude sweep)."""
    reach_lat = math.degrees(ONE_PLACE_M / EARTH_RADIUS_M) * 1.001
    rows_by_lat = sorted(range(len(namesakes)), key=lambda row: namesakes[row].lat)

    def list_links() -> Iterator[tuple[int, int]]:
        for index, row in enumerate(rows_by_lat):
            for other in rows_by_lat[index + 1 :]:
                if namesakes[other].lat - namesakes[row].lat > reach_lat:
                    break
                if distance_m(namesakes[row].coordinate, namesakes[other].coordinate) <= ONE_PLACE_M:
                    yield row, other

    for rows in group_linked(len(namesakes), list_links()):
        yield [namesakes[row] for row in rows]


class PlaceIndex:
    def __init__(self, stops: Iterable[NamedStop]) -> None:
        rows = list(stops)
        self._stop_by_id = {stop.id: stop for stop in rows}
        self._stop_by_folded_id = {stop.id.casefold(): stop for stop in reversed(rows)}
        self._stops_by_station = group_by_station(rows)
        groups = group_places(rows, self._stops_by_station)
        self._place_by_id = {group.place.id: group.place for group in groups}
        self._place_by_member_id = {stop.id: group.place for group in groups for stop in group.stops}
        self._platform_code_by_id = {
            stop.id: platform
            for group in groups
            for stop in (group.stops if group.has_platforms else ())
            if (platform := split_stop_name(stop.name).platform)
        }
        self._platform_by_name = self._index_platforms(rows)
        self._places_by_spelling = group_by_key(
            (spelling, group.place) for group in groups for spelling in group.list_spellings()
        )
        self._spellings = sorted(self._places_by_spelling)
        self._names = NameSearch(self._spellings, is_finnish=any("fi" in stop.names for stop in rows))
        self._localize = lru_cache(maxsize=None)(
            lambda place_id, language: in_language(self._place_by_id[place_id], language)
        )
        self.find_stop = lru_cache(maxsize=10_000)(self._find_stop)

    def search(self, text: str, language: str | None = None, focus: Coordinate | None = None) -> list[PlaceMatch]:
        return sort_matches(self.list_matches(text, language, focus))

    def list_matches(self, text: str, language: str | None, focus: Coordinate | None) -> list[PlaceMatch]:
        place_name, platform_code, is_bare = split_stop_name(text)
        if not is_bare and plain(f"{place_name} {platform_code}") in self._platform_by_name:
            # "Market platform B" is the platform whose name is "Market B".
            text = f"{place_name} {platform_code}"
        scores: dict[str | None, float] = {}
        for row, score in self._names.score(text).items():
            for place in self._places_by_spelling[self._spellings[row]]:
                scores[place.id] = max(score, scores.get(place.id, 0.0))
        words = strip_near(plain(text))
        forms = (plain(text), words, *list_base_forms(words))
        platform = next(filter(None, map(self._platform_by_name.get, forms)), None)
        place_of_platform = None if platform is None else self._place_by_member_id[platform.id].id
        matches = []
        for place_id, score in scores.items():
            place = self._localize(place_id, language)
            if platform is not None and place_id == place_of_platform:
                # The name of a platform resolves to the platform (rule D2).
                place = in_language(build_place(platform), language)
            matches.append(match_place(place, score, focus))
        return matches

    def _index_platforms(self, stops: Iterable[NamedStop]) -> dict[str, NamedStop]:
        platforms_by_name: dict[str, list[NamedStop]] = {}
        for stop in stops:
            if stop.id in self._platform_code_by_id:
                for spelling in {plain(name) for name in (stop.name, *stop.names.values())}:
                    platforms_by_name.setdefault(spelling, []).append(stop)
        return {name: platforms[0] for name, platforms in platforms_by_name.items() if len(platforms) == 1}

    def find(self, stop_id: str) -> NamedStop | None:
        return self._stop_by_id.get(stop_id) or self._stop_by_folded_id.get(stop_id.casefold())

    def _find_stop(self, stop_id: str, language: str | None = None) -> Place | None:
        stop = self.find(stop_id)
        if stop is None:
            return None
        return in_language(build_place(stop, self._stops_by_station.get(stop.id, ())), language)

    def find_place_of(self, stop_id: str, language: str | None = None) -> Place | None:
        """Return the place that contains this stop or station."""
        stop = self.find(stop_id)
        if stop is None:
            return None
        place = self._place_by_id.get(stop.id) or self._place_by_member_id.get(stop.id)
        return self.find_stop(stop.id, language) if place is None else in_language(place, language)

    def find_platform_code(self, stop_id: str) -> str | None:
        return self._platform_code_by_id.get(stop_id)

    def list_places(self) -> list[Place]:
        return list(self._place_by_id.values())


def in_language(place: Place, language: str | None) -> Place:
    chosen = choose_language(language, place.names)
    return place if chosen == DEFAULT_LANGUAGE else replace(place, name=place.names[chosen], language=chosen)
