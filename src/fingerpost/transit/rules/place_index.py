"""Find the places of one network by name or stop id (rules B10 and D2)."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from fingerpost.transit.model.place import DEFAULT_LANGUAGE, Coordinate, Place, PlaceMatch, choose_language, match_place
from fingerpost.transit.rules.inflection import list_base_forms
from fingerpost.transit.rules.name_matching import plain, sort_matches, strip_near
from fingerpost.transit.rules.name_search import NameSearch
from fingerpost.transit.rules.place_groups import (
    NamedStop,
    build_place,
    group_by_station,
    group_places,
    split_stop_name,
)


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
        self._places_by_spelling: dict[str, list[Place]] = {}
        for group in groups:
            for spelling in group.list_spellings():
                self._places_by_spelling.setdefault(spelling, []).append(group.place)
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
