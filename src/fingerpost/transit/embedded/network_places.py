"""Resolve a text to places of a network: stops, stations, cities, addresses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fingerpost.runtime.concurrency import compute
from fingerpost.transit.embedded.stops import TimetableStops
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch, distance_m, match_place
from fingerpost.transit.osm.addresses.index import UNCERTAIN, AddressIndex, City
from fingerpost.transit.rules.inflection import base_forms
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, plain, sort_matches
from fingerpost.transit.rules.place_index import in_language

# Names of main stations, with or without the city before them.
_RAILWAY = frozenset({
    "rautatieasema", "paarautatieasema", "railway station", "train station", "central station", "main station",
    "central railway station", "jarnvagsstation", "jarnvagsstationen", "centralstation", "centralstationen",
    "hauptbahnhof", "hbf",
})  # fmt: skip
_BUS = frozenset({
    "linja autoasema", "bussiterminaali", "bus station", "coach station", "busstation", "busstationen", "busterminal",
})  # fmt: skip
# These are main stations only after the name of the city.
_WITH_CITY = frozenset({"asema", "station", "stationen", "bahnhof", "gare"})
# A station may lie this far outside the addresses of its city.
_BEYOND_M = 500.0


def find_main_stations(city: City, places: Iterable[Place], kinds: frozenset[str]) -> list[Place]:
    """Return the stations of a city that are called by a kind, or by it after the city's name."""
    within = [place for place in places if _is_in(place, city)]
    return [place for place in within if any(_is_main(name, city, kinds) for name in _plain_names(place))]


def _is_in(place: Place, city: City) -> bool:
    return distance_m(place.coordinate, city.coordinate) <= city.reach_m + _BEYOND_M


def _plain_names(place: Place) -> set[str]:
    return {plain(name) for name in (place.name, *place.names.values())}


def _is_main(name: str, city: City, kinds: frozenset[str]) -> bool:
    words = name.split()
    for count in range(1, len(words)):
        beginning, rest = " ".join(words[:count]), " ".join(words[count:])
        if rest in kinds | _WITH_CITY and city.names.intersection([beginning, *base_forms(beginning)]):
            return True
    return name in kinds


# A street scores less than the stop of its name on it, because without a number it is vague.
_STREET_OF_STOP = 0.97
# A stop scores less if only the text without its city matches, and is uncertain outside that city.
_CITY_LEFT = 0.99


class NetworkPlaces:
    def __init__(self, stops: TimetableStops, addresses: AddressIndex | None) -> None:
        self._stops = stops
        self._addresses = addresses
        self._stations_of_city: dict[tuple[str, frozenset[str]], list[Place]] = {}

    async def find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        if self._addresses is None and self._stops.is_quick:
            return self._find(text, language, focus)
        return await compute(self._find, text, language, focus)

    def _find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        addresses = self._addresses
        stops = self._stops.places.search(text, language=language, focus=focus)
        by_token = {match.place.token: match for match in stops}
        for station in self._list_stations_of_kind(plain(text)):
            by_token.setdefault(station.token, match_place(in_language(station, language), UNCERTAIN, focus))
        if addresses is None:
            return [self._stops.described(match) for match in sort_matches(by_token.values())]
        if split := addresses.split_city(text):
            bare, its_city = split
            for match in self._stops.places.list_matches(bare, language, focus):
                is_there = _is_in(match.place, its_city)
                score = round(match.score * _CITY_LEFT if is_there else min(match.score, UNCERTAIN), 4)
                known = by_token.get(match.place.token)
                if known is None or known.score < score:
                    by_token[match.place.token] = replace(match, score=score)
        for station in self._list_main_stations(text, addresses):
            by_token[station.token] = match_place(in_language(station, language), 1.0, focus)
        places_of_name: dict[str, list[Place]] = {}
        for match in by_token.values():
            for name in _plain_names(match.place):
                places_of_name.setdefault(name, []).append(match.place)
        for match in addresses.list_matches(text, language, focus):
            fit = self._score_among_stops(match, places_of_name)
            known = by_token.get(match.place.token)
            # A shop has the token of its address, a corner that of a street's middle; the better match remains.
            if fit is not None and (known is None or known.score < fit):
                by_token[match.place.token] = match if fit == match.score else replace(match, score=fit)
        return [self._stops.described(match) for match in sort_matches(by_token.values())]

    def _list_stations_of_kind(self, kind: str) -> list[Place]:
        """Return the stations whose name is a kind of station, or ends with it, in any of its languages."""
        kinds = next((known for known in (_RAILWAY, _BUS) if kind in known), frozenset())
        endings = tuple(f" {word}" for word in kinds)
        places = self._stops.places.list_places() if kinds else ()
        return [place for place in places if any(f" {name}".endswith(endings) for name in _plain_names(place))]

    def _list_main_stations(self, text: str, addresses: AddressIndex) -> list[Place]:
        """Return the stations of a city's name, alone or with a kind of station: railway, else bus stations."""
        city, kinds = addresses.find_city(text), [_RAILWAY, _BUS]
        words = plain(text).split()
        for count in range(1, len(words)):
            for name, kind in ((words[:count], words[count:]), (words[-count:], words[:-count])):
                named_kinds = [known for known in (_RAILWAY, _BUS) if " ".join(kind) in known | _WITH_CITY]
                if named_kinds and city is None and (city := addresses.find_city(" ".join(name))):
                    kinds = named_kinds
        return [] if city is None else next(filter(None, (self._list_stations(city, kind) for kind in kinds)), [])

    def _list_stations(self, city: City, kinds: frozenset[str]) -> list[Place]:
        key = (city.name, kinds)
        if key not in self._stations_of_city:
            self._stations_of_city[key] = find_main_stations(city, self._stops.places.list_places(), kinds)
        return self._stations_of_city[key]

    def find_address(self, coordinate: Coordinate, language: str | None) -> Place | None:
        return None if self._addresses is None else self._addresses.find_address(coordinate, language)

    def _score_among_stops(self, match: PlaceMatch, get_stops_by_id: Mapping[str, Sequence[Place]]) -> float | None:
        """Return the score of a place beside the matching stops, None if it is one of them."""
        assert self._addresses is not None
        namesakes = {stop.token: stop for name in _plain_names(match.place) for stop in get_stops_by_id.get(name, ())}
        for stop in namesakes.values():
            if self._addresses.is_street_at(match.place, stop.coordinate, RIVAL_DISTANCE_M):
                return round(match.score * _STREET_OF_STOP, 4)
            if distance_m(stop.coordinate, match.place.coordinate) <= RIVAL_DISTANCE_M:
                return None
        return match.score
