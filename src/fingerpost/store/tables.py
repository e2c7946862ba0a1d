"""Define the database tables, and store them in a SQLite file, in memory, or in PostgreSQL (``postgres.py``).

Statements are in PostgreSQL's dialect; SQLite connections translate them. Each layout extends the previous one.
A newer program upgrades older tables when it opens them; an older program refuses to open newer tables.
"""

import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from fingerpost.store.sqlite import SqliteFile, connect_memory, use_write_ahead_log

Layout = Sequence[str]


def _read_layout(file: str) -> Layout:
    statements = Path(__file__).with_name(file).read_text(encoding="utf-8").split(";\n")
    return [statement for statement in statements if statement]


VARIABLES = _read_layout("variables.sql")
# The table is unlogged, because losing rate limits in a server crash is harmless.
LIMITS: Layout = (
    'CREATE UNLOGGED TABLE IF NOT EXISTS rate_limit (name text COLLATE "C" PRIMARY KEY, free_ms bigint NOT NULL)',
)
# Instants are ISO 8601 strings. Text from people and tools is stored as JSON, because it may contain a NUL.
# holder increases each time a process claims the run; a process with a lower number can no longer record anything.
RUNS = _read_layout("runs.sql")
# For DBOS: worker is the process that executes a run; takeovers counts consecutive processes that died.
WORKERS: Layout = (
    'ALTER TABLE plan_run ADD COLUMN worker text COLLATE "C"',
    "ALTER TABLE plan_run ADD COLUMN takeovers integer NOT NULL DEFAULT 0",
)


_R = TypeVar("_R")

# Checking a larger file would delay the first call; `doctor --deep` checks all files.
_SMALL_BYTES = 4_000_000

NOT_STORABLE = "The text cannot be stored: it contains a character that databases reject, such as NUL"

_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s")
# Tables with a composite key become WITHOUT ROWID tables.
_COMPOSITE_KEY = re.compile(r"(PRIMARY KEY \(\w+, \w+\)\s*\))")
_SQLITE_SYNTAX = {
    "%s": "?",
    ' COLLATE "C"': "",
    "CREATE UNLOGGED TABLE": "CREATE TABLE",
    "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY": "INTEGER PRIMARY KEY AUTOINCREMENT",
}


class Tables(Protocol):
    """Tables that several threads and processes share; methods may raise SettingsInvalid or StorageUnavailable."""

    def read(self, act: Callable[[Any], _R]) -> _R:
        """Run a read-only function and return its result."""

    def change(self, act: Callable[[Any], _R], *, lock: str = "") -> _R:
        """Run a function in a transaction and return its result; transactions with the same lock run one at a time."""


@cache
def translate_to_sqlite(statement: str) -> str:
    for postgres_syntax, sqlite_syntax in _SQLITE_SYNTAX.items():
        statement = statement.replace(postgres_syntax, sqlite_syntax)
    return _COMPOSITE_KEY.sub(r"\1 WITHOUT ROWID", _NAMED_PARAMETER.sub(r":\1", statement))


class SqliteCursor(sqlite3.Cursor):
    def executemany(self, statement: str, rows: Iterable[Any]) -> Self:
        return super().executemany(translate_to_sqlite(statement), rows)


class SqliteConnection(sqlite3.Connection):
    """A connection that accepts statements in PostgreSQL's dialect."""

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        return super().execute(translate_to_sqlite(statement), values)

    def cursor(self, factory: Any = SqliteCursor) -> Any:
        return super().cursor(factory)


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
    """Tables in a file. The first change creates the file, and every call opens it."""

    def __init__(self, file: SqliteFile, layouts: Sequence[Layout]) -> None:
        self.file = replace(file, factory=SqliteConnection)
        self._layouts = layouts
        self._is_checked = False

    def read(self, act: Callable[[Any], _R]) -> _R:
        if self.file.path.exists():
            with self.file.reading() as connection:
                # A writer that died before creating the tables leaves an empty file.
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
            return _run_transaction(connection, act)

    def connect(self) -> sqlite3.Connection:
        """Upgrade the tables and return a new connection in autocommit mode."""
        self.file.create_owner_only()
        with ExitStack() as on_error:
            connection = on_error.enter_context(closing(self.file.connect("rw")))
            self._upgrade(connection)
            connection.execute("PRAGMA foreign_keys = ON")
            on_error.pop_all()
        return connection

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        if not self.file.is_empty(connection) and self._count_layouts(connection) == len(self._layouts):
            self._check_once(connection)
            return
        # The advice for files without durability is to remove them. A log that another process has open would remain,
        # and new files would be unusable with it.
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
            raise self.file.unusable("was written by a newer fingerpost; update fingerpost")
        return count


class _OpenFile(NamedTuple):
    connection: sqlite3.Connection
    status: os.stat_result
    close: Callable[[], object]


class OpenSqliteTables(SqliteTables):
    """Tables in a file that stays open after a change, so that ``try_change`` can run on an event loop."""

    def __init__(self, file: SqliteFile, layouts: Sequence[Layout]) -> None:
        super().__init__(file, layouts)
        # Held only while the open file is used or replaced, never while waiting for another process.
        self._lock = threading.Lock()
        self._opened: _OpenFile | None = None

    def change(self, act: Callable[[Any], _R], *, lock: str = "") -> _R:  # noqa: ARG002  (one at a time anyway)
        with self.file.translating_sqlite_errors(), ExitStack() as on_error:
            self.file.create_owner_only()
            status = self.file.path.stat()
            connection = on_error.enter_context(closing(self.connect()))
            # Creating and removing the rollback journal would take as long as the rest of a transaction.
            connection.execute("PRAGMA journal_mode = PERSIST")
            result = _run_transaction(connection, act)
            connection.execute("PRAGMA busy_timeout = 0")
            on_error.pop_all()
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = _OpenFile(connection, status, weakref.finalize(self, connection.close))
        return result

    def try_change(self, act: Callable[[Any], _R]) -> _R | None:
        """Like ``change``, but return None if the file is in use or must be opened; reject newer tables as well."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            with suppress(sqlite3.Error, OSError):
                opened = self._opened
                status = self.file.path.stat()
                if opened is not None and os.path.samestat(opened.status, status):
                    opened.connection.execute("BEGIN IMMEDIATE")
                    with opened.connection:
                        # Check inside the transaction: outside, this would lock and unlock the file once more.
                        self._count_layouts(opened.connection)
                        return act(opened.connection)
            return None
        finally:
            self._lock.release()


def _run_transaction(connection: sqlite3.Connection, act: Callable[[Any], _R]) -> _R:
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        return act(connection)
