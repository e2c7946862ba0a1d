"""Find places in a network: stops by id, name or position, the main stations of cities, and addresses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial

import numpy as np

from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.embedded.display_names import DisplayNames, describe_place
from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, escape
from fingerpost.transit.engine.timetable.timetable import STATION, STOP, Timetable
from fingerpost.transit.engine.timetable.walks import StraightLine
from fingerpost.transit.model.itinerary import Mode, NearbyStop
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch, PlaceTraits, distance_m, match_place
from fingerpost.transit.osm.addresses.address_text import strip_country
from fingerpost.transit.osm.addresses.index import UNCERTAIN, AddressIndex, City
from fingerpost.transit.rules.modes import to_mode
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, plain, sort_matches, strip_near
from fingerpost.transit.rules.name_search import list_base_forms
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex, in_language

_FEW_STOPS = 1_000


class TimetableStops:
    """The stops of a timetable, with lazily built indexes; thread-safe."""

    def __init__(self, timetable: Timetable, display_names: DisplayNames) -> None:
        self.timetable = timetable
        self._display_names = display_names
        self.straight = StraightLine(timetable.stop_lat, timetable.stop_lon)
        self._traits: dict[tuple[str, tuple[str, ...]], PlaceTraits] = {}

    def has(self, index: str) -> bool:
        """Whether a lazily built index exists; in a large network, building one takes nearly a second."""
        return index in self.__dict__

    def add_description(self, match: PlaceMatch) -> PlaceMatch:
        return match._replace(describe=partial(self._describe, match.place))

    def find_stop(self, stop_id: str, language: str | None, *, whole_place: bool) -> Place | None:
        row = self.find_row(stop_id)
        if row is None:
            return None
        find = self.places.find_place_of if whole_place else self.places.find_stop
        return find(self.timetable.stop_printed_id[row], language)

    def _describe(self, place: Place) -> PlaceTraits:
        # A platform and its place may have the same id.
        key = place.token, place.member_ids
        known = self._traits.get(key)
        if known is None:
            rows = self.list_rows(place.member_ids)
            # Addresses already show their city, so describe them by a nearby stop.
            bare_place = replace(place, locality=None) if place.id is None else place
            known = self._traits[key] = describe_place(self.timetable, self._display_names, bare_place, rows)
        return known

    def find_row(self, stop_id: str | None) -> int | None:
        return None if stop_id is None else self._rows.get(stop_id, self._rows.get(stop_id.upper()))

    def list_rows(self, stop_ids: Iterable[str]) -> list[int]:
        """Return the rows of stop ids; skip unknown ids."""
        return [row for stop_id in stop_ids if (row := self.find_row(stop_id)) is not None]

    def has_near(self, coordinate: Coordinate, radius_m: float) -> bool:
        rows, _ = self.straight.find_near(*coordinate.point, self.timetable.stop_kind == STOP, radius_m)
        return bool(len(rows))

    def list_near(self, coordinate: Coordinate, radius_m: float, language: str) -> list[NearbyStop]:
        display_names = self._display_names.in_language(language)
        rows, distances_m = self.straight.find_near(*coordinate.point, self.timetable.stop_kind == STOP, radius_m)
        near = [
            NearbyStop(stop=display_names.get_stop_point(row), distance_m=distance_m, modes=self._modes_by_stop[row])
            for row, distance_m in zip(rows.tolist(), distances_m.tolist(), strict=True)
        ]
        return sorted(near, key=lambda stop: (stop.distance_m, stop.stop.id or ""))

    @cached_property
    def places(self) -> PlaceIndex:
        table = self.timetable
        parents = table.stop_parent.tolist()
        kinds = table.stop_kind.tolist()
        ids = list(table.stop_printed_id)
        columns: dict[str, list[str]] = {language: list(column) for language, column in table.stop_names.items()}
        stops = []
        for row, kind in enumerate(kinds):
            if kind not in (STOP, STATION):
                continue
            names = {language: column[row] for language, column in columns.items() if column[row]}
            feed_language = table.feeds[int(table.stop_feed[row])].language
            name = self._display_names.get_stop_name(row)
            if feed_language:
                names.setdefault(feed_language, name)
            stops.append(
                NamedStop(
                    id=ids[row],
                    name=name,
                    names=names,
                    lat=float(table.stop_lat[row]),
                    lon=float(table.stop_lon[row]),
                    parent_id=ids[parents[row]] if parents[row] >= 0 else None,
                    is_station=kind == STATION,
                )
            )
        return PlaceIndex(stops)

    @cached_property
    def _rows(self) -> dict[str, int]:
        """Stop rows, keyed by printed id, FEED:ID and escaped FEED:ID, each also in upper case."""
        table = self.timetable
        feeds = table.stop_feed.tolist()
        exact: dict[str, int] = {}
        folded: dict[str, int] = {}
        for row, (printed, local) in enumerate(zip(table.stop_printed_id, table.stop_local_id, strict=True)):
            feed_name = table.feeds[feeds[row]].name
            for text in (printed, f"{feed_name}:{local}", f"{clean_feed_name(feed_name)}:{escape(local)}"):
                exact.setdefault(text, row)
                folded.setdefault(text.upper(), row)
        return {**folded, **exact}

    @cached_property
    def _modes_by_stop(self) -> list[tuple[Mode, ...]]:
        table = self.timetable
        trips = np.repeat(np.arange(len(table.trip_route)), np.diff(table.trip_first_stop_time))
        kinds = table.route_type[table.trip_route[trips]].astype(np.int64)
        pairs = np.unique(table.stop_time_stop.astype(np.int64) * 65536 + kinds)
        modes: list[set[Mode]] = [set() for _ in range(table.stop_count)]
        for stop, kind in zip((pairs // 65536).tolist(), (pairs % 65536).tolist(), strict=True):
            modes[stop].add(to_mode(kind))
        return [tuple(sorted(stop_modes)) for stop_modes in modes]


# Names of main stations, with or without the city.
_RAILWAY_NAMES = frozenset({
    "rautatieasema", "paarautatieasema", "railway station", "train station", "central station", "main station",
    "central railway station", "jarnvagsstation", "jarnvagsstationen", "centralstation", "centralstationen",
    "hauptbahnhof", "hbf",
})  # fmt: skip
_BUS_NAMES = frozenset({
    "linja autoasema", "bussiterminaali", "bus station", "coach station", "busstation", "busstationen", "busterminal",
})  # fmt: skip
# These words mean a main station only after the name of its city. Alone, they may mean any station, so address matches
# for them are uncertain.
_STATION_WORDS = frozenset({"asema", "station", "stationen", "bahnhof", "gare"})
# A city's stations may be this far from its addresses.
_CITY_MARGIN_M = 500.0


def _is_in_city(place: Place, city: City) -> bool:
    return distance_m(place.coordinate, city.coordinate) <= city.reach_m + _CITY_MARGIN_M


def _list_plain_names(place: Place) -> set[str]:
    return {plain(name) for name in (place.name, *place.names.values())}


def _list_kinds(words: str) -> list[frozenset[str]]:
    """Return the names of the kinds of stations that the words can mean; without words, of all kinds."""
    return [names for names in (_RAILWAY_NAMES, _BUS_NAMES) if not words or words in names | _STATION_WORDS]


def _is_main_station(name: str, city: City, kinds: frozenset[str]) -> bool:
    words = name.split()
    for count in range(1, len(words)):
        beginning, rest = " ".join(words[:count]), " ".join(words[count:])
        if rest in kinds | _STATION_WORDS and city.names.intersection([beginning, *list_base_forms(beginning)]):
            return True
    return name in kinds


# A street without a house number is vague, so it scores lower than a stop with the same name.
_STREET_FACTOR = 0.97
# A stop that matches only without the city's name scores lower; outside that city, it is uncertain.
_WITHOUT_CITY_FACTOR = 0.99


class NetworkPlaces:
    def __init__(self, stops: TimetableStops, addresses: AddressIndex | None) -> None:
        self._stops = stops
        self._addresses = addresses
        self._list_stations = lru_cache(maxsize=None)(self._find_stations)
        self._list_stations_of_kind = lru_cache(maxsize=None)(self._find_stations_of_kind)

    async def find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        if self._addresses is None and self._stops.has("places") and self._stops.timetable.stop_count <= _FEW_STOPS:
            return self._find(text, language, focus)
        return await compute(self._find, text, language, focus)

    def _find(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        addresses = self._addresses
        if addresses is not None and addresses.is_finnish:
            text = strip_country(text)
        stops = self._stops.places.list_matches(text, language, focus)
        by_token = {match.place.token: match for match in stops}

        def offer(match: PlaceMatch, score: float) -> None:
            # Different matches may share a token, such as a shop and its address; use the better one.
            known = by_token.get(match.place.token)
            if known is None or known.score < score:
                by_token[match.place.token] = match if score == match.score else match._replace(score=score)

        kind = strip_near(plain(text)).removeprefix("the ")
        for names in _list_kinds(kind)[:1] if kind else ():
            for station in self._list_stations_of_kind(names):
                by_token.setdefault(station.token, match_place(in_language(station, language), UNCERTAIN, focus))
        if addresses is None:
            return [self._stops.add_description(match) for match in sort_matches(by_token.values())]
        if split := addresses.split_city(text):
            short_text, city = split
            for match in self._stops.places.list_matches(short_text, language, focus):
                is_in_city = _is_in_city(match.place, city)
                score = round(match.score * _WITHOUT_CITY_FACTOR if is_in_city else min(match.score, UNCERTAIN), 4)
                offer(match, addresses.check_postcodes(match._replace(score=score), text).score)
        for station in self._list_main_stations(text, addresses):
            by_token[station.token] = match_place(in_language(station, language), 1.0, focus)
        places_by_name = group_by_key(
            (name, match.place) for match in by_token.values() for name in _list_plain_names(match.place)
        )
        for match in addresses.list_matches(text, language, focus):
            match_score = self._score_among_stops(match, places_by_name)
            if match_score is not None:
                offer(match, min(match_score, UNCERTAIN) if kind in _STATION_WORDS else match_score)
        return [self._stops.add_description(match) for match in sort_matches(by_token.values())]

    def _find_stations_of_kind(self, names: frozenset[str]) -> list[Place]:
        """Return the stations whose names are, or end with, one of the given names."""
        endings = tuple(f" {name}" for name in names)
        return [
            place
            for place in self._stops.places.list_places()
            if any(f" {name}".endswith(endings) for name in _list_plain_names(place))
        ]

    def _list_main_stations(self, text: str, addresses: AddressIndex) -> list[Place]:
        """Return a named city's stations of the named kind; by default, railway stations or, if none, bus stations."""
        words = plain(text).split()
        splits = [(words[:count], words[count:]) for count in range(1, len(words) + 1)]
        for name, kind in (*splits[-1:], *splits[:-1], *(split[::-1] for split in splits[:-1])):
            kinds = _list_kinds(" ".join(kind))
            if kinds and (city := addresses.find_city(" ".join(name))):
                return next(filter(None, (self._list_stations(city, names) for names in kinds)), [])
        return []

    def _find_stations(self, city: City, kinds: frozenset[str]) -> list[Place]:
        """Return the stations named only by their kind (Central Station), with or without the city's name."""
        places = (place for place in self._stops.places.list_places() if _is_in_city(place, city))
        return [
            place for place in places if any(_is_main_station(name, city, kinds) for name in _list_plain_names(place))
        ]

    def find_address(self, coordinate: Coordinate, language: str | None) -> Place | None:
        return None if self._addresses is None else self._addresses.find_address(coordinate, language)

    def _score_among_stops(self, match: PlaceMatch, stops_by_name: Mapping[str, Sequence[Place]]) -> float | None:
        """Return the score of an address match; None if a matching stop is the same place."""
        assert self._addresses is not None
        names = _list_plain_names(match.place)
        namesakes = {stop.token: stop for name in names for stop in stops_by_name.get(name, ())}
        for stop in namesakes.values():
            if self._addresses.is_street_at(match.place, stop.coordinate, RIVAL_DISTANCE_M):
                return round(match.score * _STREET_FACTOR, 4)
            if distance_m(stop.coordinate, match.place.coordinate) <= RIVAL_DISTANCE_M:
                return None
        return match.score
