"""The one SQLite file of all runs: its tables, how it is opened, what its troubles mean.

A newer build brings an older file up to its layout when it opens it; an older build refuses a newer file.
A layout only ever adds to the one before, so that a process of an older build that has the file open goes on.
What changes the meaning of a run's record is no layout: it counts ``journal.PROTOCOL`` up.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fingerpost.errors import SettingsInvalid, StorageUnavailable

_APPLICATION_ID = 0x46505052
_BUSY_TIMEOUT_S = 10.0
_OWNER_ONLY = 0o600
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY)

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
    """Opens the file; making it is left to the first who writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_ready = False

    def exists(self) -> bool:
        """Whether anybody has written yet."""
        return self._path.exists()

    def connect(self) -> sqlite3.Connection:
        """Return a connection of the caller's own, in autocommit mode.

        Raises:
            sqlite3.Error, SettingsInvalid: the file cannot be used.
        """
        if not self._is_ready:
            self._prepare()
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        # A record that was acknowledged outlives a power failure.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell the file's troubles in our words.

        Raises:
            SettingsInvalid: the operator must act.
            StorageUnavailable: the file is busy, or its disk is full.
        """
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Extended codes carry the plain one in their low byte.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in _DAMAGED:
                raise self._unusable("is not a database that can be read; move it away and try again") from error
            if code in _CLOSED:
                raise self._unusable("cannot be opened; check who may write to it and to its folder") from error
            raise StorageUnavailable("The runs are busy or their disk is full; try again in a moment") from error
        except OSError as error:
            raise self._unusable("cannot be opened; check who may write to it and to its folder") from error

    def _prepare(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite gives its companion files the mode of the database.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            has_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
            if has_tables and connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
                raise self._unusable("belongs to another program; move it away and try again")
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if layout > len(LAYOUTS):
                raise self._unusable("was written by a newer fingerpost; update this one")
            for added in LAYOUTS[layout:]:
                for statement in added:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(LAYOUTS)}")
            connection.execute("COMMIT")
            # Readers go on while one writes. Two first openers meet here at times: the other one has switched then.
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise
        finally:
            connection.close()
        self._is_ready = True

    def _unusable(self, reason: str) -> SettingsInvalid:
        return SettingsInvalid(f"The runs file {self._path.name} {reason}")
