"""The one SQLite file of all runs: its tables and their layouts.

A newer build brings an older file up to its layout when it opens it; an older build refuses a newer file.
A layout only ever adds to the one before, so that a process of an older build that has the file open goes on.
What changes the meaning of a run's record is no layout: it counts ``journal.PROTOCOL`` up.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

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
    """Opens the file; making it is left to the first who writes."""

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
        """Whether anybody has written yet."""
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
