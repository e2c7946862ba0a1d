"""Tables in a SQLite file, in memory, or on a PostgreSQL server (``postgres.py``), behind one port, and their layouts.

Statements are in PostgreSQL's dialect; SQLite's connections translate them. Each layout only adds to the one before.
A newer build upgrades a store when it opens it; an older build refuses a newer store.
"""

import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar

from fingerpost.store.sqlite import SqliteFile, connect_memory, use_write_ahead_log

Layout = Sequence[str]

VARIABLES: Layout = (
    """
    CREATE TABLE variable (
        user_name text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        type text NOT NULL,
        value text NOT NULL,
        created_us bigint NOT NULL,
        updated_us bigint NOT NULL,
        PRIMARY KEY (user_name, key)
    )
    """,
    "CREATE INDEX variable_by_change ON variable (updated_us)",
)
# Losing limits does no harm, so they are not logged; they start again after a crash of the server.
LIMITS: Layout = (
    'CREATE UNLOGGED TABLE IF NOT EXISTS rate_limit (name text COLLATE "C" PRIMARY KEY, free_ms bigint NOT NULL)',
)
# Instants are ISO 8601 texts, as answers print them. Texts of people and tools are JSON strings, which may hold a NUL.
# holder increases each time a process claims the run; a process that has an older number may record nothing more.
RUNS: Layout = (
    """
    CREATE TABLE plan_run (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        user_name text COLLATE "C",
        plan text NOT NULL,
        goal text NOT NULL,
        step_count integer NOT NULL,
        given text NOT NULL,
        state text NOT NULL,
        created_at text COLLATE "C" NOT NULL,
        ended_at text COLLATE "C",
        protocol integer NOT NULL,
        replans integer NOT NULL DEFAULT 0,
        holder bigint NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX plan_run_by_user ON plan_run (user_name, created_at, number)",
    "CREATE INDEX plan_run_by_end ON plan_run (ended_at) WHERE ended_at IS NOT NULL",
    """
    CREATE TABLE plan_step (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        step_id bigint NOT NULL,
        state text NOT NULL,
        output text,
        note text,
        attempts integer NOT NULL,
        at text NOT NULL,
        PRIMARY KEY (run_id, step_id)
    )
    """,
    """
    CREATE TABLE plan_event (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        seq bigint NOT NULL,
        at text NOT NULL,
        kind text NOT NULL,
        step_id bigint,
        data text,
        PRIMARY KEY (run_id, seq)
    )
    """,
    """
    CREATE TABLE plan_signal (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        verb text NOT NULL,
        step_id bigint,
        value text NOT NULL
    )
    """,
    "CREATE INDEX plan_signal_by_run ON plan_signal (run_id, seq)",
)
# For DBOS: worker is the process that executes a run; takeovers counts the processes in a row that died executing it.
WORKERS: Layout = (
    'ALTER TABLE plan_run ADD COLUMN worker text COLLATE "C"',
    "ALTER TABLE plan_run ADD COLUMN takeovers integer NOT NULL DEFAULT 0",
)


_R = TypeVar("_R")

# A check of a larger file would delay its first call; `doctor --deep` checks it.
_SMALL_BYTES = 4_000_000

NOT_STORABLE = "A text cannot be stored: it contains a character that databases refuse, such as NUL"

_NAMED = re.compile(r"%\((\w+)\)s")
# A table with a key of several columns is stored in the order of that key.
_SEVERAL_KEYS = re.compile(r"(PRIMARY KEY \(\w+, \w+\)\s*\))")
_IN_SQLITE = {
    "%s": "?",
    ' COLLATE "C"': "",
    "CREATE UNLOGGED TABLE": "CREATE TABLE",
    "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY": "INTEGER PRIMARY KEY AUTOINCREMENT",
}


class Tables(Protocol):
    """Tables that several threads and processes share; methods may raise SettingsInvalid or StorageUnavailable."""

    def read(self, act: Callable[[Any], _R]) -> _R:
        """Return the result of a function that changes nothing."""

    def change(self, act: Callable[[Any], _R], *, lock: str = "") -> _R:
        """Return the result of a function whose changes are one transaction; transactions under one lock take turns."""


@cache
def in_sqlite(statement: str) -> str:
    for theirs, ours in _IN_SQLITE.items():
        statement = statement.replace(theirs, ours)
    return _SEVERAL_KEYS.sub(r"\1 WITHOUT ROWID", _NAMED.sub(r":\1", statement))


class SqliteConnection(sqlite3.Connection):
    """A connection that takes statements in PostgreSQL's dialect."""

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        return super().execute(in_sqlite(statement), values)

    def executemany(self, statement: str, rows: Iterable[Any]) -> sqlite3.Cursor:
        return super().executemany(in_sqlite(statement), rows)


class MemoryTables:
    def __init__(self, layout: Layout) -> None:
        self._lock = threading.Lock()
        self._connection = connect_memory(SqliteConnection)
        for statement in layout:
            self._connection.execute(statement)
        weakref.finalize(self, self._connection.close)

    def read(self, act: Callable[[Any], _R]) -> _R:
        with self._lock:
            return act(self._connection)

    def change(self, act: Callable[[Any], _R], *, lock: str = "") -> _R:  # noqa: ARG002  (one at a time anyway)
        return self.read(act)


class SqliteTables:
    """Tables in a file. The first change creates the file; every call opens it."""

    def __init__(self, file: SqliteFile, layouts: Sequence[Layout]) -> None:
        self.file = replace(file, factory=SqliteConnection)
        self._layouts = layouts
        self._is_checked = False

    def read(self, act: Callable[[Any], _R]) -> _R:
        if self.file.path.exists():
            with self.file.reading() as connection:
                # A writer that died before it created the tables leaves an empty file.
                if not self.file.is_empty(connection):
                    self._count_layouts(connection)
                    self._check_once(connection)
                    return act(connection)
        return self.empty.read(act)

    @cached_property
    def empty(self) -> MemoryTables:
        return MemoryTables([statement for layout in self._layouts for statement in layout])

    def change(self, act: Callable[[Any], _R], *, lock: str = "") -> _R:  # noqa: ARG002  (one at a time anyway)
        with self.file.translating_sqlite_errors(), closing(self.connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            found = act(connection)
            connection.execute("COMMIT")
        return found

    def connect(self) -> sqlite3.Connection:
        """Return a new connection in autocommit mode to tables that are up to date."""
        self.file.create_owner_only()
        with ExitStack() as on_error:
            connection = on_error.enter_context(closing(self.file.connect("rw")))
            self._bring_up(connection)
            connection.execute("PRAGMA foreign_keys = ON")
            on_error.pop_all()
        return connection

    def _bring_up(self, connection: sqlite3.Connection) -> None:
        if not self.file.is_empty(connection) and self._count_layouts(connection) == len(self._layouts):
            self._check_once(connection)
            return
        # Data that may be lost needs no log.
        if self.file.synchronous != "OFF":
            use_write_ahead_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        for layout in self._layouts[self._count_layouts(connection) :]:
            for statement in layout:
                connection.execute(statement)
        if self.file.application_id is not None:
            connection.execute(f"PRAGMA application_id = {self.file.application_id}")
        connection.execute(f"PRAGMA user_version = {len(self._layouts)}")
        connection.execute("COMMIT")

    def _check_once(self, connection: sqlite3.Connection) -> None:
        """Check a small file for damage when this process first opens it."""
        if not self._is_checked and self.file.path.stat().st_size <= _SMALL_BYTES:
            self.file.check_structure(connection)
        self._is_checked = True

    def _count_layouts(self, connection: sqlite3.Connection) -> int:
        count = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if count > len(self._layouts):
            raise self.file.unusable("was written by a newer fingerpost; update this one")
        return count
