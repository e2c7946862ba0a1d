"""Merge the features of an OpenStreetMap extract, and write them to an SQLite index of addresses and places."""

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fingerpost.runtime.grouping import group_by_key, group_linked
from fingerpost.store.sqlite import SqliteFile
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.osm.addresses.extract import ExtractedAddresses, Feature, FeatureKind, FeatureNames, House
from fingerpost.transit.osm.extract_file import distance_m
from fingerpost.transit.rules.name_matching import find_most_common, plain

# Ways with the same name are one street if the gaps between them are at most this long.
MAX_STREET_GAP_M = 500.0
# The largest distance between a house and the street in its address.
HOUSE_TO_STREET_M = 1000.0
# Objects with the same name within this distance count as one place, such as a building and the museum in it.
SAME_PLACE_M = 150.0
_CITY_CELL_DEG = 0.01
_CITY_REACH_CELLS = 3
_MIN_ADDRESSES = 3


def to_features(found: ExtractedAddresses) -> list[Feature]:
    positions_with_city = _list_positions_with_city(found.houses, found.places)
    cities = group_by_key((_find_city_cell(position), city) for position, city in positions_with_city if city)
    streets = [
        _new_street([way.names for way in ways], ways[0].category, [point for way in ways for point in way.points])
        for ways in _link_ways(found.streets)
    ]
    places = list(_drop_duplicates(found.places))
    streets += _assign_houses([*streets, *places], found.houses)
    for feature in (*streets, *places):
        known = feature.city or find_most_common(house.city for house in feature.houses)
        feature.city = known or _find_city(find_middle(feature.points)[0], cities)
    return [*streets, *places, *_list_cities(found, places)]


def _new_street(names: Sequence[FeatureNames], category: str, points: list[Point]) -> Feature:
    return Feature(FeatureKind.STREET, merge_names(names), category, points)


def find_middle(points: Sequence[Point], *, is_first: bool = False) -> tuple[Point, float]:
    mean = (sum(lat for lat, _ in points) / len(points), sum(lon for _, lon in points) / len(points))
    middle = points[0] if is_first else min(points, key=lambda point: (distance_m(point, mean), point))
    return middle, max(distance_m(middle, point) for point in points)


def merge_names(names: Sequence[FeatureNames]) -> FeatureNames:
    name = find_most_common(each.name for each in names)
    languages = dict.fromkeys(language for each in names for language in each.by_language)
    chosen = {
        language: find_most_common(each.by_language[language] for each in names if language in each.by_language)
        for language in languages
    }
    best: dict[str, float] = {}
    for each in names:
        for text, weight in each.list_all():
            best[text] = max(weight, best.get(text, 0.0))
    for known in (name, *chosen.values()):
        best.pop(known, None)
    return FeatureNames(name, chosen, tuple(best.items()))


def _link_ways(ways: Iterable[Feature]) -> Iterator[list[Feature]]:
    by_name = group_by_key((plain(way.names.name), way) for way in ways)
    by_name.pop("", None)
    for namesakes in by_name.values():
        for group in _link([way.points for way in namesakes], MAX_STREET_GAP_M):
            yield [namesakes[row] for row in group]


def _link(lines: Sequence[Sequence[Point]], cell_m: float) -> Iterable[list[int]]:
    """Group the lines (rows) that have points in the same or adjacent cells of a grid of ``cell_m`` metres."""
    cells: dict[tuple[int, int], int] = {}
    links: list[tuple[int, int]] = []
    for row, line in enumerate(lines):
        for cell in {find_cell(point, cell_m) for point in line}:
            links += [(cells[other], row) for other in _list_nearby_cells(cell, 1) if other in cells]
            cells[cell] = row
    return group_linked(len(lines), links)


def find_cell(point: Point, width_m: float) -> tuple[int, int]:
    height_deg = width_m / METRES_PER_DEGREE
    row = math.floor(point[0] / height_deg)
    # All cells in a row are equally wide.
    width_deg = height_deg / max(0.01, math.cos(math.radians(row * height_deg)))
    return row, math.floor(point[1] / width_deg)


def _list_nearby_cells(cell: tuple[int, int], steps: int) -> Iterator[tuple[int, int]]:
    for row in range(cell[0] - steps, cell[0] + steps + 1):
        for column in range(cell[1] - steps, cell[1] + steps + 1):
            yield row, column


def _drop_duplicates(places: Iterable[Feature]) -> Iterator[Feature]:
    positions_by_name: dict[tuple[str, FeatureKind], list[Point]] = {}
    for place in places:
        position = place.points[0]
        namesakes = positions_by_name.setdefault((plain(place.names.name), place.kind), [])
        if all(distance_m(other, position) > SAME_PLACE_M for other in namesakes):
            namesakes.append(position)
            yield place


def _assign_houses(features: Sequence[Feature], houses: Iterable[House]) -> list[Feature]:
    """Add each house to the nearest feature with the name in its address; return new streets for the other houses."""
    by_name = group_by_key(
        (name, feature) for feature in features for name in dict.fromkeys(map(plain, feature.names.list_current()))
    )
    without_street: dict[str, list[House]] = {}
    for house in houses:
        name = plain(house.street)
        near = [
            (metres, row)
            for row, feature in enumerate(by_name.get(name, ()))
            if (metres := min(distance_m(house.point, point) for point in feature.points)) <= HOUSE_TO_STREET_M
        ]
        if near:
            by_name[name][min(near)[1]].houses.append(house)
        elif name:
            without_street.setdefault(name, []).append(house)
    streets = []
    for namesakes in without_street.values():
        for rows in _link([[house.point] for house in namesakes], HOUSE_TO_STREET_M):
            group = [namesakes[row] for row in rows]
            names = [FeatureNames(house.street, {}) for house in group]
            street = _new_street(names, "address", [house.point for house in group])
            street.houses = group
            streets.append(street)
    return streets


def _list_positions_with_city(houses: Iterable[House], places: Iterable[Feature]) -> list[tuple[Point, str]]:
    return [(house.point, house.city) for house in houses] + [(place.points[0], place.city) for place in places]


def _find_city(position: Point, cities: Mapping[tuple[int, int], Sequence[str]]) -> str:
    for steps in range(_CITY_REACH_CELLS + 1):
        near: Counter[str] = Counter()
        for cell in _list_nearby_cells(_find_city_cell(position), steps):
            near.update(cities.get(cell, ()))
        if near:
            return min(near, key=lambda city: (-near[city], city))
    return ""


def _find_city_cell(position: Point) -> tuple[int, int]:
    return math.floor(position[0] / _CITY_CELL_DEG), math.floor(position[1] / _CITY_CELL_DEG)


def _list_cities(found: ExtractedAddresses, places: Sequence[Feature]) -> Iterator[Feature]:
    """Add address points to the mapped cities, and yield the other cities; a city's first point is its position."""
    cities = [place for place in places if place.kind is FeatureKind.CITY]
    mapped = {plain(text): city for city in cities for text, _ in city.names.list_all()}
    points_by_city: dict[str, list[Point]] = {}
    spellings: dict[str, Counter[str]] = {}
    for position, city in _list_positions_with_city(found.houses, places):
        if name := plain(city):
            spellings.setdefault(name, Counter())[city] += 1
            points_by_city.setdefault(name, []).append(position)
    names_by_city = {plain(names.name): names for names in found.municipalities}
    for city, points in points_by_city.items():
        if city in mapped:
            mapped[city].points += points
        # City names that occur in very few addresses are probably typos.
        if city not in mapped and len(points) >= _MIN_ADDRESSES and not city.isdecimal():
            names = names_by_city.get(city) or FeatureNames(find_most_common(spellings[city].elements()), {})
            yield Feature(FeatureKind.CITY, names, "city", [find_middle(points)[0], *points])


FILE_NAME = "addresses.sqlite"
# "fpad" in ASCII.
APPLICATION_ID = 0x66706164
NEAR_CELL_M = 250.0
_COLUMNS = 1 << 24


def new_index_file(path: Path) -> SqliteFile:
    return SqliteFile(
        path=path,
        contents="addresses",
        application_id=APPLICATION_ID,
        advice="run `fingerpost network refresh` for its network",
    )


def write_index(features: Sequence[Feature], path: Path) -> None:
    """Write an index into a folder that is not yet in use; the caller flushes it, or deletes it after a crash."""
    # If several houses share a number, only the first is stored, so entrances are sorted before shops.
    houses = (
        (row, house.number.first, house.number.last, house.number.letter, *house.point)
        for row, feature in enumerate(features)
        for house in sorted(feature.houses, key=lambda house: not house.is_address_only)
    )
    near = (
        (find_near_cell(point), *point, row, number, postcode)
        for row, feature in enumerate(features)
        if feature.kind is not FeatureKind.CITY
        for point, number, postcode in [
            *((point, "", "") for point in feature.points),
            *((house.point, house.number.text, house.postcode) for house in feature.houses),
        ]
    )
    languages = sorted({code for feature in features for code in feature.names.by_language})
    with new_index_file(path).opened() as connection:
        # An incomplete file is deleted, so no journal is needed.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.executescript(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
        connection.execute("BEGIN")
        connection.execute("INSERT INTO meta VALUES ('languages', ?)", (" ".join(languages),))
        connection.executemany("INSERT INTO thing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _list_things(features))
        _fill_spellings(connection, features)
        connection.executemany("INSERT OR IGNORE INTO house VALUES (?, ?, ?, ?, ?, ?)", houses)
        connection.executemany("INSERT INTO near VALUES (?, ?, ?, ?, ?, ?)", near)
        connection.execute("CREATE INDEX near_by_cell ON near (cell)")
        connection.execute("CREATE INDEX near_by_street ON near (thing) WHERE number = ''")
        for table in ("words", "trigrams"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608
        connection.execute("COMMIT")
        connection.execute("ANALYZE")


def _list_things(features: Sequence[Feature]) -> Iterator[tuple[object, ...]]:
    # Names without a language are assumed to be in the most frequent language.
    local = find_most_common(
        language
        for feature in features
        for language, name in feature.names.by_language.items()
        if name == feature.names.name
    )
    for row, feature in enumerate(features):
        names = feature.names
        by_language = dict(names.by_language)
        if local and names.name not in by_language.values():
            by_language.setdefault(local, names.name)
        middle, reach_m = find_middle(feature.points, is_first=feature.kind is FeatureKind.CITY)
        languages = json.dumps(by_language, ensure_ascii=False)
        yield row, int(feature.kind), names.name, languages, feature.category, *middle, reach_m, feature.city


def _fill_spellings(connection: sqlite3.Connection, features: Sequence[Feature]) -> None:
    fits: dict[str, dict[int, float]] = {}
    for row, feature in enumerate(features):
        for name, fit in feature.names.list_all():
            if spelling := plain(name):
                fit_by_row = fits.setdefault(spelling, {})
                fit_by_row[row] = max(fit, fit_by_row.get(row, 0.0))
    ordered = sorted(fits, key=lambda text: (len(text), text))
    connection.executemany("INSERT INTO spelling VALUES (?, ?)", enumerate(ordered))
    connection.executemany(
        "INSERT INTO spelling_of VALUES (?, ?, ?)",
        ((spelling_id, row, fit) for spelling_id, text in enumerate(ordered) for row, fit in fits[text].items()),
    )


def find_near_cell(point: Point) -> int:
    row, column = find_cell(point, NEAR_CELL_M)
    return row * _COLUMNS + column


def list_cells_around(point: Point, steps: int) -> Iterable[int]:
    """Return the cells around a point; the width of cells varies from row to row of the grid."""
    row, _ = find_cell(point, NEAR_CELL_M)
    for other in range(row - steps, row + steps + 1):
        lat = (other + 0.5) * NEAR_CELL_M / METRES_PER_DEGREE
        middle = find_near_cell((lat, point[1]))
        yield from range(middle - steps, middle + steps + 1)
