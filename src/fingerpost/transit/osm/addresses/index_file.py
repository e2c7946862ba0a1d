"""Write the index of addresses and places: one SQLite file, which is only read afterwards.

::

    meta              keys and values
    thing             streets, places and cities
    spelling          plain spellings, the shortest first
    spelling_of       the things of a spelling, and how well it fits them
    words, trigrams   full text over the spellings: by beginnings of words, and by three letters in a row
    house             numbers along a street
    near              things and houses by the cells of a grid
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fingerpost.store.sqlite import SqliteFile
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.osm.addresses.extract import Feature, FeatureKind
from fingerpost.transit.osm.addresses.gathering import cell_of, find_middle
from fingerpost.transit.rules.name_matching import find_most_common, plain

FILE_NAME = "addresses.sqlite"
# Raise it when a table, or the meaning of a column, changes.
FORMAT = 2
# "fpad"
APPLICATION_ID = 0x66706164
NEAR_CELL_M = 250.0
_COLUMNS = 1 << 24

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE thing (
    id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, names TEXT NOT NULL, what TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, reach_m REAL NOT NULL, city TEXT NOT NULL);
CREATE TABLE spelling (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE spelling_of (
    spelling INTEGER NOT NULL, thing INTEGER NOT NULL, written TEXT NOT NULL, fit REAL NOT NULL,
    PRIMARY KEY (spelling, thing)) WITHOUT ROWID;
CREATE TABLE house (
    street INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, letter TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL,
    PRIMARY KEY (street, first, last, letter)) WITHOUT ROWID;
CREATE TABLE near (
    cell INTEGER NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL, thing INTEGER NOT NULL, number TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'spelling', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0', prefix = '1 2 3');
CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = 'spelling', content_rowid = 'id', tokenize = 'trigram', detail = none);
CREATE VIRTUAL TABLE trigram_counts USING fts5vocab (trigrams, row);
"""


def file_in(path: Path) -> SqliteFile:
    return SqliteFile(
        path=path,
        holds="addresses",
        application_id=APPLICATION_ID,
        any_thread=True,
        remedy="run `fingerpost network refresh` for its network",
    )


def write_index(features: Sequence[Feature], path: Path) -> None:
    """Write an index into a folder that is not in use yet; its owner flushes it and deletes it after a crash."""
    with file_in(path).opened() as connection:
        _fill(connection, features)


def _fill(connection: sqlite3.Connection, features: Sequence[Feature]) -> None:
    # Half a file is thrown away, so nothing needs a journal.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.executescript(_TABLES)
    connection.execute("BEGIN")
    languages = sorted({code for feature in features for code in feature.names.by_language})
    connection.execute("INSERT INTO meta VALUES ('languages', ?)", (" ".join(languages),))
    connection.executemany("INSERT INTO thing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _list_things(features))
    _fill_spellings(connection, features)
    # Of two houses with one number the first stays, so entrances go before shops.
    houses = (
        (row, house.number.first, house.number.last, house.number.letter, *house.at)
        for row, feature in enumerate(features)
        for house in sorted(feature.houses, key=lambda house: not house.is_entrance)
    )
    connection.executemany("INSERT OR IGNORE INTO house VALUES (?, ?, ?, ?, ?, ?)", houses)
    near = (
        (near_cell(point), *point, row, number)
        for row, feature in enumerate(features)
        if feature.kind is not FeatureKind.CITY
        for point, number in _list_positions(feature)
    )
    connection.executemany("INSERT INTO near VALUES (?, ?, ?, ?, ?)", near)
    connection.execute("CREATE INDEX near_by_cell ON near (cell)")
    connection.execute("CREATE INDEX near_by_street ON near (thing) WHERE number = ''")
    for table in ("words", "trigrams"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608
    connection.execute("COMMIT")
    connection.execute("ANALYZE")


def _list_positions(feature: Feature) -> Iterator[tuple[Point, str]]:
    yield from ((point, "") for point in feature.points)
    yield from ((house.at, house.number.text) for house in feature.houses)


def _list_things(features: Sequence[Feature]) -> Iterator[tuple[object, ...]]:
    # Names whose language is not stated are in the language of most names that state theirs.
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
        at, reach_m = find_middle(feature.points)
        languages = json.dumps(by_language, ensure_ascii=False)
        yield row, int(feature.kind), names.name, languages, feature.what, *at, reach_m, feature.city


def _fill_spellings(connection: sqlite3.Connection, features: Sequence[Feature]) -> None:
    fits: dict[str, dict[int, tuple[str, float]]] = {}
    for row, feature in enumerate(features):
        for written, fit in feature.names.list_all():
            spelling = plain(written)
            if spelling:
                of_feature = fits.setdefault(spelling, {})
                # Of several ways of writing it the best fit counts, and of those the first.
                if row not in of_feature or fit > of_feature[row][1]:
                    of_feature[row] = (written, fit)
    ordered = sorted(fits, key=lambda text: (len(text), text))
    connection.executemany("INSERT INTO spelling VALUES (?, ?)", enumerate(ordered))
    connection.executemany(
        "INSERT INTO spelling_of VALUES (?, ?, ?, ?)",
        (
            (number, row, written, fit)
            for number, text in enumerate(ordered)
            for row, (written, fit) in fits[text].items()
        ),
    )


def near_cell(point: Point) -> int:
    row, column = cell_of(point, NEAR_CELL_M)
    return row * _COLUMNS + column


def cells_around(point: Point, steps: int = 1) -> Iterable[int]:
    """Return the cells around a point; rows of the grid have different widths."""
    row, _ = cell_of(point, NEAR_CELL_M)
    for other in range(row - steps, row + steps + 1):
        lat = (other + 0.5) * NEAR_CELL_M / METRES_PER_DEGREE
        middle = near_cell((lat, point[1]))
        yield from range(middle - steps, middle + steps + 1)
