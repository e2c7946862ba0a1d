"""Look up addresses and points of interest by text or position."""

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from operator import ne
from pathlib import Path
from typing import NamedTuple

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch, choose_language, match_place
from fingerpost.transit.osm.addresses import address_text
from fingerpost.transit.osm.addresses.address_text import POSTCODE, AddressText, HouseNumber
from fingerpost.transit.osm.addresses.extract import FeatureKind
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, NEAR_CELL_M, list_cells_around, new_index_file
from fingerpost.transit.osm.extract_file import distance_m
from fingerpost.transit.rules.name_matching import FLOOR, plain, strip_near
from fingerpost.transit.rules.name_search import NameSearch, list_base_forms

# A position is accurate within this distance of a known house (rule D2: places further apart are different candidates).
CERTAIN_M = 300.0
# Addresses within the first radius are preferred over nearer places; features beyond the second radius are ignored.
_ADDRESS_RADIUS_M, _NAME_RADIUS_M = 60.0, 250.0
# A place without its own postcode may have the postcode of one of the nearest addresses within this distance.
_MAX_POSTCODES, _POSTCODE_RADIUS_M = 3, 500.0
_SAME_POINT_M = 1.0
GUESSED = 0.97
UNCERTAIN = 0.79


class FoundHouse(NamedTuple):
    """A known or interpolated house number ("" for the middle of its street), its position and score factor (0..1)."""

    number: str
    position: Point
    score_factor: float
    guess: str | None = None


def find_house(houses: Mapping[HouseNumber, Point], number: HouseNumber, middle: Point) -> FoundHouse:
    same = [house for house in houses if house.covers(number.first)]
    if same:
        wanted = number.last, number.letter, number.first
        differing = [(*map(ne, (h.last, h.letter, h.first), wanted), h.letter, h.last) for h in same]
        house = same[differing.index(min(differing))]
        return FoundHouse(house.text, houses[house], 1.0)
    # Try the numbers on the same side of the street first.
    for step in (2, 1):
        lower = [house for house in houses if house.last < number.first and (number.first - house.last) % step == 0]
        higher = [house for house in houses if house.first > number.first and (house.first - number.first) % step == 0]
        if lower and higher:
            low = min(lower, key=lambda candidate: (-candidate.last, candidate.letter))
            high = min(higher, key=lambda candidate: (candidate.first, candidate.letter))
            (low_lat, low_lon), (high_lat, high_lon) = houses[low], houses[high]
            fraction = (number.first - low.last) / (high.first - low.last)
            position = low_lat + (high_lat - low_lat) * fraction, low_lon + (high_lon - low_lon) * fraction
            is_certain = distance_m(houses[low], houses[high]) <= 2 * CERTAIN_M
            guess = f"the position of number {number.text} is interpolated between {low.text} and {high.text}"
            return FoundHouse(number.text, position, GUESSED if is_certain else UNCERTAIN, guess)
    return FoundHouse("", middle, UNCERTAIN, f"number {number.text} is unknown; this is the middle of the street")


_EXACT = "SELECT id, text FROM spelling WHERE text IN (SELECT value FROM json_each(?))"
# The limits are the numbers of spellings to compare.
_BY_WORDS = "SELECT rowid, text FROM words WHERE words MATCH ? ORDER BY rowid LIMIT 100"
# Common trigrams are skipped, because in a large city they are in most spellings: the three rarest are looked up, and
# more until they are in 1,000 spellings (``before``). The spellings with the most of these trigrams are compared.
_BY_TRIGRAMS = """
    WITH gram AS (
        SELECT term, row_number() OVER rarest AS number, sum(doc) OVER rarest - doc AS before
        FROM trigram_counts WHERE term IN (SELECT value FROM json_each(?)) WINDOW rarest AS (ORDER BY doc, term)),
    shared AS (
        SELECT trigrams.rowid AS id FROM gram CROSS JOIN trigrams ON trigrams MATCH '"' || term || '"'
        WHERE number <= 3 OR before < 1000 GROUP BY id ORDER BY count(*) DESC, id LIMIT 60)
    SELECT id, text FROM shared JOIN spelling USING (id)
"""
_NEAR = """
    SELECT lat, lon, thing, number, postcode FROM near
    WHERE cell IN (SELECT value FROM json_each(?)) AND abs(lat - ?) <= ? AND abs(lon - ?) <= ?
"""

ATTRIBUTION = "Addresses: © OpenStreetMap contributors, ODbL 1.0"
"""Answers from the index must show this credit (Open Database License)."""

# If a match has at least this score, the unparsed text is not searched by trigrams.
_GOOD_SCORE = 0.90
# A house number is looked up in this many streets, and in all others whose score is nearly the best.
_MAX_NUMBERED = 10
_SCORE_MARGIN = 0.05
# The maximum score of a place without house numbers if the text contains a house number.
_UNUSED_NUMBER_SCORE = 0.70
# Factor for a name in a city other than the one in the text.
_OTHER_CITY_FACTOR = 0.85
# Maximum number of candidates of one kind; a large extract has thousands.
MAX_PLACES_OF_KIND = 500


def find_addresses(folder: Path) -> "AddressIndex | None":
    path = folder / FILE_NAME
    return AddressIndex(path) if path.exists() else None


@dataclass(frozen=True, slots=True)
class City:
    name: str
    names: frozenset[str]
    coordinate: Coordinate
    reach_m: float


@dataclass(frozen=True, slots=True)
class _Feature:
    row: int
    kind: FeatureKind
    name: str
    names: dict[str, str]
    position: Point
    reach_m: float
    city: str


class _Near(NamedTuple):
    """A point of a feature, or one of its houses, and the distance to it."""

    metres: float
    row: int
    number: str
    postcode: str


class AddressIndex:
    def __init__(self, path: Path) -> None:
        file = new_index_file(path)
        with file.translating_sqlite_errors():
            self._connection = file.connect("ro")
            self._connection.execute("CREATE VIRTUAL TABLE temp.trigram_counts USING fts5vocab (main, trigrams, row)")
            languages = dict(self._connection.execute("SELECT key, value FROM meta"))["languages"].split()
        self._file = file
        self._lock = threading.Lock()
        self._city_by_spelling = self._list_cities()
        self.is_finnish = "fi" in languages

    def close(self) -> None:
        self._connection.close()

    def list_matches(self, text: str, language: str | None, focus: Coordinate | None) -> list[PlaceMatch]:
        with self._lock, self._file.translating_sqlite_errors():
            found = [*self._find(text, language, focus), *self._find_corners(text, language)]
        return [self.check_postcodes(match_place(place, round(score, 4), focus), text) for score, place in found]

    def check_postcodes(self, match: PlaceMatch, text: str) -> PlaceMatch:
        """Return the match, with a lower score if the text has a postcode that is not known at the place."""
        place, point = match.place, match.place.coordinate.point
        postcodes = set(POSTCODE.findall(text)).difference(place.name.split())
        if not postcodes or match.score <= UNCERTAIN:
            return match
        with self._lock, self._file.translating_sqlite_errors():
            near = sorted(found for found in self._list_near(point, _POSTCODE_RADIUS_M) if found.postcode)
        reach_m = _SAME_POINT_M if near and near[0].metres <= _SAME_POINT_M else _POSTCODE_RADIUS_M
        known = " ".join(found.postcode for found in near[:_MAX_POSTCODES] if found.metres <= reach_m)
        return match if postcodes.issubset(POSTCODE.findall(known)) else match._replace(score=UNCERTAIN)

    def find_address(self, coordinate: Coordinate, language: str | None = None) -> Place | None:
        """Name a position after the place there or, if there is none, the nearest address, place or street."""
        with self._lock, self._file.translating_sqlite_errors():
            near = self._list_near(coordinate.point, _NAME_RADIUS_M)
            if not near:
                return None
            here = self._read_features([found.row for found in near if found.metres <= _SAME_POINT_M])
            places = [row for row, feature in here.items() if feature.kind is FeatureKind.PLACE]
            best = min(near, key=lambda found: (found.metres > _ADDRESS_RADIUS_M or not found.number, found))
            row, number = (places[0], "") if places else (best.row, best.number)
            feature = self._read_features([row])[row]
        return self._to_place(feature, language, number=number, position=coordinate.point)

    def find_city(self, text: str) -> "City | None":
        spelling = address_text.find_city(plain(text), self._city_by_spelling)
        return None if spelling is None else self._city_by_spelling[spelling]

    def is_street_at(self, place: Place, coordinate: Coordinate, radius_m: float) -> bool:
        """Whether a place is a street (without a house number) that passes within ``radius_m`` of a position."""
        point, middle = coordinate.point, place.coordinate.point
        with self._lock, self._file.translating_sqlite_errors():
            near = {found.row for found in self._list_near(point, radius_m) if not found.number}
            streets = self._read_features(near).values()
        return any(feature.kind is FeatureKind.STREET and feature.position == middle for feature in streets)

    def split_city(self, text: str) -> tuple[str, City] | None:
        """Return the normalized words before the city in a text, and the city; None if the text names no city."""
        parsed = address_text.read_address_text(text, self._city_by_spelling)
        if parsed.city is None:
            return None
        words = parsed.words if parsed.number is None else f"{parsed.words} {parsed.number.text}"
        return words, self._city_by_spelling[parsed.city]

    def _find(self, text: str, language: str | None, focus: Coordinate | None) -> Iterator[tuple[float, Place]]:
        unparsed = AddressText(plain(text))
        parsed = address_text.read_address_text(text, self._city_by_spelling)
        best: dict[int, tuple[float, Place]] = {}
        for score, feature in _select_likeliest(list(self._score(parsed)), parsed):
            best[feature.row] = self._add_number(feature, parsed, score, language)
        if parsed != unparsed:
            is_found = any(score >= _GOOD_SCORE for score, _ in best.values())
            for score, feature in self._score(unparsed, with_trigrams=not is_found):
                # A street that was found with its number is not also offered without it.
                if feature.row not in best or (score > best[feature.row][0] and feature.kind is not FeatureKind.STREET):
                    best[feature.row] = self._add_number(feature, unparsed, score, language)
        for feature in self._list_places_of_kind(strip_near(unparsed.words).removeprefix("the "), focus):
            # A post office named Posti is not preferred over the other post offices.
            if feature.row not in best or best[feature.row][0] < 1.0:
                best[feature.row] = UNCERTAIN, self._to_place(feature, language)
        yield from (match for match in best.values() if match[0] >= FLOOR)

    def _score(self, parsed: AddressText, *, with_trigrams: bool = True) -> Iterator[tuple[float, _Feature]]:
        scores = self._score_spellings(parsed.words, with_trigrams=with_trigrams) if parsed.words else {}
        for words in address_text.expand_abbreviations(parsed.words):
            for spelling, score in self._score_spellings(words, with_trigrams=False).items():
                scores[spelling] = max(score, scores.get(spelling, 0.0))
        if not scores:
            return
        query = "SELECT spelling, thing, fit FROM spelling_of WHERE spelling IN (SELECT value FROM json_each(?))"
        rows = self._connection.execute(query, (json.dumps(list(scores)),))
        score_by_row: dict[int, float] = {}
        for spelling, row, fit in rows:
            score_by_row[row] = max(scores[spelling] * fit, score_by_row.get(row, 0.0))
        for row, feature in self._read_features(list(score_by_row)).items():
            city = self._city_by_spelling[parsed.city] if parsed.city and feature.city else None
            is_elsewhere = city is not None and plain(feature.city) not in city.names
            score = score_by_row[row]
            yield min(score * _OTHER_CITY_FACTOR, UNCERTAIN) if is_elsewhere else score, feature

    def _score_spellings(self, words: str, *, with_trigrams: bool) -> dict[int, float]:
        """Return {spelling id: score} for the spellings similar to normalized words (see ``NameSearch``)."""
        rows = self._find_spellings(_BY_WORDS, " ".join(f'"{word}"' for word in words.split()) + "*")
        is_known = words in rows
        if self.is_finnish and not is_known:
            inflected = self._find_spellings(_EXACT, json.dumps(list_base_forms(words)))
            is_known = bool(inflected)
            rows |= inflected
        if with_trigrams and not is_known:
            grams = [words[start : start + 3] for start in range(len(words) - 2)]
            rows |= self._find_spellings(_BY_TRIGRAMS, json.dumps(grams))
        if not rows:
            return {}
        texts = list(rows)
        scores = NameSearch(texts, self._city_by_spelling, is_finnish=self.is_finnish).score(words)
        return {rows[texts[index]]: score for index, score in scores.items()}

    def _find_spellings(self, query: str, parameter: str) -> dict[str, int]:
        return {text: row for row, text in self._connection.execute(query, (parameter,))}

    def _find_corners(self, text: str, language: str | None) -> Iterator[tuple[float, Place]]:
        streets = [
            [
                (score, feature)
                for score, feature in self._score(parsed)
                if feature.kind is FeatureKind.STREET and score >= _GOOD_SCORE and parsed.number is None
            ]
            for name in address_text.split_corner(text) or ()
            for parsed in [address_text.read_address_text(name, self._city_by_spelling)]
        ]
        query = "SELECT lat, lon FROM near WHERE thing = ? AND number = ''"
        points = {
            feature.row: self._connection.execute(query, (feature.row,)).fetchall()
            for matches in streets
            for _, feature in matches
        }
        for (score, first), (second_score, second) in product(*streets) if streets else ():
            for position in _list_corners(points[first.row], points[second.row]) if first != second else ():
                names = {
                    code: f"{first.names[code]} / {second.names[code]}" for code in first.names.keys() & second.names
                }
                corner = replace(first, name=f"{first.name} / {second.name}", names=names)
                yield min(score, second_score), self._to_place(corner, language, position=position)

    def _list_places_of_kind(self, words: str, focus: Coordinate | None) -> list[_Feature]:
        if words not in address_text.KIND_BY_WORD:
            return []
        lat, lon = (None, None) if focus is None else (focus.lat, focus.lon)
        lon_scale = math.cos(math.radians(lat or 0.0)) ** 2
        query = (
            "SELECT id FROM thing WHERE kind = ?1 AND what = ?2"
            " ORDER BY (lat - ?3) * (lat - ?3) + (lon - ?4) * (lon - ?4) * ?5, name, id LIMIT ?6"
        )
        parameters = (int(FeatureKind.PLACE), address_text.KIND_BY_WORD[words], lat, lon, lon_scale, MAX_PLACES_OF_KIND)
        rows = self._connection.execute(query, parameters).fetchall()
        return list(self._read_features([row for (row,) in rows]).values())

    def _add_number(
        self, feature: _Feature, parsed: AddressText, score: float, language: str | None
    ) -> tuple[float, Place]:
        if feature.kind is FeatureKind.CITY:
            guess = f"the middle of the addresses in {feature.name}"
            return score * UNCERTAIN, self._to_place(feature, language, guess=guess)
        if parsed.number is None:
            return score, self._to_place(feature, language, guess=_describe_middle(feature))
        rows = self._connection.execute(
            "SELECT first, last, letter, lat, lon FROM house WHERE street = ?", (feature.row,)
        )
        houses = {HouseNumber(*numbers): (lat, lon) for *numbers, lat, lon in rows}
        if feature.kind is not FeatureKind.STREET and not houses:
            return min(score, _UNUSED_NUMBER_SCORE), self._to_place(feature, language)
        house = find_house(houses, parsed.number, feature.position)
        place = self._to_place(feature, language, number=house.number, position=house.position, guess=house.guess)
        return score * house.score_factor, place

    def _to_place(
        self,
        feature: _Feature,
        language: str | None,
        *,
        number: str = "",
        position: Point | None = None,
        guess: str | None = None,
    ) -> Place:
        chosen = choose_language(language, feature.names)
        name = feature.names.get(chosen, feature.name)
        tail = f" {number}" if number else ""
        return Place(
            name=f"{name}{tail}",
            names={code: f"{other}{tail}" for code, other in feature.names.items()},
            language=chosen,
            coordinate=Coordinate(*(position or feature.position)),
            kind=PlaceKind.ADDRESS,
            locality=feature.city or None,
            guess=guess,
            attribution=(ATTRIBUTION,),
        )

    def _list_cities(self) -> "dict[str, City]":
        rows = self._connection.execute(
            "SELECT spelling.text, thing.id, name, lat, lon, reach_m FROM thing JOIN spelling_of ON thing = thing.id"
            " JOIN spelling ON spelling.id = spelling WHERE kind = ?",
            (int(FeatureKind.CITY),),
        ).fetchall()
        spellings: dict[int, set[str]] = {}
        for text, row, *_ in rows:
            spellings.setdefault(row, set()).add(text)
        row_by_text = {text: row for text, row, *_ in rows}
        for finnish, swedish in address_text.SWEDISH_NAMES.items():
            if finnish in row_by_text and swedish not in row_by_text:
                row_by_text[swedish] = row_by_text[finnish]
                spellings[row_by_text[finnish]].add(swedish)
        cities = {
            row: City(name, frozenset(spellings[row]), Coordinate(lat, lon), reach_m)
            for _, row, name, lat, lon, reach_m in rows
        }
        return {text: cities[row] for text, row in row_by_text.items()}

    def _list_near(self, point: Point, radius_m: float) -> list[_Near]:
        cells = json.dumps([*list_cells_around(point, math.ceil(radius_m / NEAR_CELL_M))])
        margin = 1.001 * radius_m / METRES_PER_DEGREE
        box = point[0], margin, point[1], margin / math.cos(math.radians(point[0]))
        rows = self._connection.execute(_NEAR, (cells, *box))
        near = (_Near(distance_m(point, (lat, lon)), *fields) for lat, lon, *fields in rows)
        return [found for found in near if found.metres <= radius_m]

    def _read_features(self, rows: Iterable[int]) -> dict[int, _Feature]:
        query = (
            "SELECT id, kind, name, names, lat, lon, reach_m, city FROM thing"
            " WHERE id IN (SELECT value FROM json_each(?))"
        )
        found = self._connection.execute(query, (json.dumps([*rows]),))
        return {
            row: _Feature(row, FeatureKind(kind), name, json.loads(names), (lat, lon), reach_m, city)
            for row, kind, name, names, lat, lon, reach_m, city in found
        }


def _select_likeliest(scored: list[tuple[float, _Feature]], parsed: AddressText) -> list[tuple[float, _Feature]]:
    if parsed.number is None or len(scored) <= _MAX_NUMBERED:
        return scored
    ordered = sorted(scored, key=lambda match: (-match[0], match[1].row))
    min_score = min(ordered[0][0] - _SCORE_MARGIN, ordered[_MAX_NUMBERED - 1][0])
    return [match for match in ordered if match[0] >= min_score]


def _list_corners(points: list[Point], others: list[Point]) -> list[Point]:
    """Return the points that two streets share, one for each group of nearby points."""
    shared = set(others)
    corners: list[Point] = []
    for point in points:
        if point in shared and all(distance_m(point, corner) > CERTAIN_M for corner in corners):
            corners.append(point)
    return corners


def _describe_middle(feature: _Feature) -> str | None:
    if feature.kind is not FeatureKind.STREET or feature.reach_m <= CERTAIN_M:
        return None
    return f"the middle of {feature.name}, which extends {feature.reach_m:.0f} m from there; no house number was given"
