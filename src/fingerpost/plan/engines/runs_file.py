"""The SQLite file of all runs: its tables, the migrations between its layouts, and the writer's connection.

A newer build brings an older file up to its layout when it opens it; an older build refuses a newer file.
A layout only ever adds to the one before, so that a process of an older build that has the file open goes on.
A change of what a record means is no layout: it counts ``journal.PROTOCOL`` up.
"""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from fingerpost.plan.engines.group_commit import Row
from fingerpost.store.sqlite import SqliteFile, use_write_ahead_log

_APPLICATION_ID = 0x46505052
_BUSY_TIMEOUT_S = 10.0

_FIRST_LAYOUT = (
    """
    CREATE TABLE IF NOT EXISTS run (
        id TEXT PRIMARY KEY,
        user TEXT,
        plan TEXT NOT NULL,
        goal TEXT NOT NULL,
        step_count INTEGER NOT NULL,
        given TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at TEXT NOT NULL,
        ended_at TEXT,
        protocol INTEGER NOT NULL,
        replans INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX IF NOT EXISTS run_by_user ON run (user, created_at)",
    """
    CREATE TABLE IF NOT EXISTS step (
        run_id TEXT NOT NULL,
        step_id INTEGER NOT NULL,
        state TEXT NOT NULL,
        output TEXT,
        note TEXT,
        attempts INTEGER NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (run_id, step_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS event (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        step_id INTEGER,
        data TEXT,
        PRIMARY KEY (run_id, seq)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS signal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id TEXT NOT NULL,
        verb TEXT NOT NULL,
        step_id INTEGER,
        value TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS signal_by_run ON signal (run_id, seq)",
)
LAYOUTS: tuple[Sequence[str], ...] = (_FIRST_LAYOUT,)
"""What each layout adds to the one before; the file's ``user_version`` says how many of them it has."""


class RunsFile:
    """The SQLite file of runs; it is created by the first write."""

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(
            path=path,
            holds="runs",
            application_id=_APPLICATION_ID,
            busy_timeout_s=_BUSY_TIMEOUT_S,
            # A record that was acknowledged outlives a power failure.
            synchronous="FULL",
            any_thread=True,
        )
        self._is_ready = False

    def exists(self) -> bool:
        return self._file.path.exists()

    def connect(self) -> sqlite3.Connection:
        """Return a connection of the caller's own, in autocommit mode.

        Raises:
            sqlite3.Error, OSError, SettingsInvalid: the file cannot be used.
        """
        if not self._is_ready:
            self._prepare()
        return self._file.connect()

    def translating_sqlite_errors(self) -> AbstractContextManager[None]:
        """Turn the file's errors into SettingsInvalid (the operator must act) or StorageUnavailable (try again)."""
        return self._file.translating_sqlite_errors()

    def _prepare(self) -> None:
        self._file.create_owner_only()
        connection = self._file.connect()
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._file.is_empty(connection)
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if layout > len(LAYOUTS):
                raise self._file.unusable("was written by a newer fingerpost; update this one")
            for added in LAYOUTS[layout:]:
                for statement in added:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(LAYOUTS)}")
            connection.execute("COMMIT")
            use_write_ahead_log(connection)
        finally:
            connection.close()
        self._is_ready = True


_R = TypeVar("_R")


class FileSession:
    """One connection to the file of runs, opened when it is first needed; see ``group_commit.JournalSession``.

    ``statements`` write a step, an event and a run's state.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], statements: tuple[str, str, str]) -> None:
        self._connect = connect
        self._statements = statements
        self._connection: sqlite3.Connection | None = None

    def ask(self, act: Callable[[sqlite3.Connection], _R]) -> _R:
        connection = self._opened()
        try:
            return act(connection)
        finally:
            _roll_back(connection)

    def commit(self, steps: Sequence[Row], events: Sequence[Row], states: Sequence[Row]) -> Collection[str]:
        """Write rows in one transaction; a run's lock ends with its process alone, so none is refused."""
        connection = self._opened()
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement, rows in zip(self._statements, (steps, events, states), strict=True):
                if rows:
                    connection.executemany(statement, rows)
            connection.execute("COMMIT")
        finally:
            _roll_back(connection)
        return ()

    def give_up(self) -> None:
        """Do nothing: SQLite waits for a busy file, and no longer than it was told to."""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
