"""Writes the index of addresses and places: one SQLite file, which is only read afterwards.

::

    meta              what the file says of itself: a key and its value
    thing             streets, places and cities: names, position, how far a street reaches, its city
    spelling          every plain spelling, the shortest first, so that the first rows found cover most of a text
    spelling_of       whose spelling it is, as the source writes it, and how well it fits
    words, trigrams   full text over the spellings: by the beginnings of words, and by three letters in a row
    house             numbers along a street, and where they are
    near              what lies in each cell of a grid, for looking up what is around a position
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fingerpost.errors import SettingsInvalid
from fingerpost.store.atomic_file import flush_file, flush_folder
from fingerpost.store.sqlite import SqliteFile
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point
from fingerpost.transit.osm.addresses.extract import FeatureKind
from fingerpost.transit.osm.addresses.gathering import Gathered, cell_of
from fingerpost.transit.rules.name_matching import plain

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


def write_index(things: Sequence[Gathered], path: Path) -> None:
    """Write an index; killed at any instant, it leaves no file, the one before, or the whole one."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.unlink(missing_ok=True)
        connection = file_in(draft).connect()
        try:
            _fill(connection, things)
        finally:
            connection.close()
        flush_file(draft)
        draft.replace(path)
        flush_folder(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise SettingsInvalid(f"The index of addresses {path} cannot be written ({error})") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, things: Sequence[Gathered]) -> None:
    # Half a file is thrown away, so nothing needs a journal.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.executescript(_TABLES)
    connection.execute("BEGIN")
    languages = sorted({code for thing in things for code in thing.feature.names.by_language})
    connection.execute("INSERT INTO meta VALUES ('languages', ?)", (" ".join(languages),))
    connection.executemany("INSERT INTO thing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _thing_rows(things))
    _fill_spellings(connection, things)
    connection.executemany("INSERT OR IGNORE INTO house VALUES (?, ?, ?, ?, ?, ?)", _house_rows(things))
    connection.executemany("INSERT INTO near VALUES (?, ?, ?, ?, ?)", _near_rows(things))
    connection.execute("CREATE INDEX near_by_cell ON near (cell)")
    connection.execute("CREATE INDEX near_by_street ON near (thing) WHERE number = ''")
    for table in ("words", "trigrams"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608
    connection.execute("COMMIT")
    connection.execute("ANALYZE")


def _thing_rows(things: Sequence[Gathered]) -> Iterator[tuple[object, ...]]:
    local = _find_local_language(things)
    for row, each in enumerate(things):
        names = each.feature.names
        by_language = dict(names.by_language)
        if local is not None and names.name not in by_language.values():
            by_language.setdefault(local, names.name)
        languages = json.dumps(by_language, ensure_ascii=False)
        yield (
            row, int(each.feature.kind), names.name, languages, each.feature.what,
            each.at[0], each.at[1], each.reach_m, each.city,
        )  # fmt: skip


def _find_local_language(things: Sequence[Gathered]) -> str | None:
    """Return the language in which names stand where theirs is not said: that of most names that say it."""
    counts = Counter(
        language
        for thing in things
        for language, name in thing.feature.names.by_language.items()
        if name == thing.feature.names.name
    )
    return min(counts, key=lambda language: (-counts[language], language)) if counts else None


def _fill_spellings(connection: sqlite3.Connection, things: Sequence[Gathered]) -> None:
    fits: dict[str, dict[int, tuple[str, float]]] = {}
    for row, each in enumerate(things):
        for written, fit in each.feature.names.list_all():
            spelling = plain(written)
            if spelling:
                of_thing = fits.setdefault(spelling, {})
                # Of several ways of writing it the best fit counts, and of those the first.
                if row not in of_thing or fit > of_thing[row][1]:
                    of_thing[row] = (written, fit)
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


def _house_rows(things: Sequence[Gathered]) -> Iterator[tuple[object, ...]]:
    for row, each in enumerate(things):
        # Entrances before shops of that address.
        for house in sorted(each.houses, key=lambda house: not house.is_entrance):
            number = house.number
            yield row, number.first, number.last, number.letter, *house.at


def _near_rows(things: Sequence[Gathered]) -> Iterator[tuple[object, ...]]:
    for row, each in enumerate(things):
        if each.feature.kind is FeatureKind.CITY:
            continue
        for point in each.points:
            yield near_cell(point), *point, row, ""
        for house in each.houses:
            yield near_cell(house.at), *house.at, row, house.number.text


def near_cell(point: Point) -> int:
    row, column = cell_of(point, NEAR_CELL_M)
    return row * _COLUMNS + column


def cells_around(point: Point, steps: int = 1) -> Iterable[int]:
    """Return the numbers of the cell of a point and of those around it, on rows of other widths too."""
    row, _ = cell_of(point, NEAR_CELL_M)
    for other in range(row - steps, row + steps + 1):
        lat = (other + 0.5) * NEAR_CELL_M / METRES_PER_DEGREE
        middle = near_cell((lat, point[1]))
        yield from range(middle - steps, middle + steps + 1)
