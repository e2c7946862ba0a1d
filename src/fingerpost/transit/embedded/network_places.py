"""Search a network for places by text: stops, stations, cities and addresses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fingerpost.runtime.concurrency import compute
from fingerpost.transit.embedded.stops import TimetableStops
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch, distance_m, match_place
from fingerpost.transit.osm.addresses.index import UNCERTAIN, AddressIndex, City
from fingerpost.transit.rules.inflection import list_base_forms
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, plain, sort_matches
from fingerpost.transit.rules.place_index import in_language

# Names of main stations, with or without the city.
_RAILWAY_NAMES = frozenset({
    "rautatieasema", "paarautatieasema", "railway station", "train station", "central station", "main station",
    "central railway station", "jarnvagsstation", "jarnvagsstationen", "centralstation", "centralstationen",
    "hauptbahnhof", "hbf",
})  # fmt: skip
_BUS_NAMES = frozenset({
    "linja autoasema", "bussiterminaali", "bus station", "coach station", "busstation", "busstationen", "busterminal",
})  # fmt: skip
# These names mean a main station only after the name of the city. Alone, they mean a kind of station, so a place that
# has one as an alternative name is only a candidate.
_STATION_WORDS = frozenset({"asema", "station", "stationen", "bahnhof", "gare"})
# A station may be this far from the addresses in its city.
_BEYOND_M = 500.0


def find_main_stations(city: City, places: Iterable[Place], kinds: frozenset[str]) -> list[Place]:
    """Return the stations in a city that are named after a kind of station, alone or after the city's name."""
    within = [place for place in places if _is_in(place, city)]
    return [place for place in within if any(_is_main_station(name, city, kinds) for name in _list_plain_names(place))]


def _is_in(place: Place, city: City) -> bool:
    return distance_m(place.coordinate, city.coordinate) <= city.reach_m + _BEYOND_M


def _list_plain_names(place: Place) -> set[str]:
    return {plain(name) for name in (place.name, *place.names.values())}


def _is_main_station(name: str, city: City, kinds: frozenset[str]) -> bool:
    words = name.split()
    for count in range(1, len(words)):
        beginning, rest = " ".join(words[:count]), " ".join(words[count:])
        if rest in kinds | _STATION_WORDS and city.names.intersection([beginning, *list_base_forms(beginning)]):
            return True
    return name in kinds


# A street without a house number is vague, so it scores less than a stop with the same name.
_STREET_FACTOR = 0.97
# A stop that matches only the text without the city scores less, and is uncertain if it is outside that city.
_WITHOUT_CITY_FACTOR = 0.99


class NetworkPlaces:
    def __init__(self, stops: TimetableStops, addresses: AddressIndex | None) -> None:
        self._stops = stops
        self._addresses = addresses
        self._stations_of_city: dict[tuple[str, frozenset[str]], list[Place]] = {}

    async def find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        if self._addresses is None and self._stops.is_fast:
            return self._find(text, language, focus)
        return await compute(self._find, text, language, focus)

    def _find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        addresses = self._addresses
        stops = self._stops.places.search(text, language=language, focus=focus)
        by_token = {match.place.token: match for match in stops}
        kind = plain(text)
        for station in self._list_stations_of_kind(kind):
            by_token.setdefault(station.token, match_place(in_language(station, language), UNCERTAIN, focus))
        if addresses is None:
            return [self._stops.add_description(match) for match in sort_matches(by_token.values())]
        if split := addresses.split_city(text):
            bare, its_city = split
            for match in self._stops.places.list_matches(bare, language, focus):
                is_there = _is_in(match.place, its_city)
                score = round(match.score * _WITHOUT_CITY_FACTOR if is_there else min(match.score, UNCERTAIN), 4)
                known = by_token.get(match.place.token)
                if known is None or known.score < score:
                    by_token[match.place.token] = replace(match, score=score)
        for station in self._list_main_stations(text, addresses):
            by_token[station.token] = match_place(in_language(station, language), 1.0, focus)
        places_of_name: dict[str, list[Place]] = {}
        for match in by_token.values():
            for name in _list_plain_names(match.place):
                places_of_name.setdefault(name, []).append(match.place)
        for match in addresses.list_matches(text, language, focus):
            fit = self._score_among_stops(match, places_of_name)
            if fit is not None and kind in _STATION_WORDS:
                fit = min(fit, UNCERTAIN)
            known = by_token.get(match.place.token)
            # Different matches may share a token, such as a shop and its address; use the better one.
            if fit is not None and (known is None or known.score < fit):
                by_token[match.place.token] = match if fit == match.score else replace(match, score=fit)
        return [self._stops.add_description(match) for match in sort_matches(by_token.values())]

    def _list_stations_of_kind(self, kind: str) -> list[Place]:
        """Return the stations whose name ends with a kind of station, in any language."""
        is_railway = kind in _RAILWAY_NAMES | _STATION_WORDS
        kinds = _RAILWAY_NAMES if is_railway else _BUS_NAMES if kind in _BUS_NAMES else frozenset()
        endings = tuple(f" {word}" for word in kinds)
        places = self._stops.places.list_places() if kinds else ()
        return [place for place in places if any(f" {name}".endswith(endings) for name in _list_plain_names(place))]

    def _list_main_stations(self, text: str, addresses: AddressIndex) -> list[Place]:
        """Return the main railway stations of the city named in the text or, if there are none, its bus stations."""
        city, kinds = addresses.find_city(text), [_RAILWAY_NAMES, _BUS_NAMES]
        words = plain(text).split()
        for count in range(1, len(words)):
            for name, kind in ((words[:count], words[count:]), (words[-count:], words[:-count])):
                named_kinds = [
                    known for known in (_RAILWAY_NAMES, _BUS_NAMES) if " ".join(kind) in known | _STATION_WORDS
                ]
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

    def _score_among_stops(self, match: PlaceMatch, stops_by_name: Mapping[str, Sequence[Place]]) -> float | None:
        """Return the score of an address match; None if a matching stop is the same place."""
        assert self._addresses is not None
        namesakes = {
            stop.token: stop for name in _list_plain_names(match.place) for stop in stops_by_name.get(name, ())
        }
        for stop in namesakes.values():
            if self._addresses.is_street_at(match.place, stop.coordinate, RIVAL_DISTANCE_M):
                return round(match.score * _STREET_FACTOR, 4)
            if distance_m(stop.coordinate, match.place.coordinate) <= RIVAL_DISTANCE_M:
                return None
        return match.score
