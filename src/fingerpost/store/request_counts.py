"""Counts of requests of the last days by host, shared by all processes of a home folder.

They stand in the file of rate limits, because both may be lost without harm.
"""

import logging
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.store.sqlite import SqliteFile

_log = logging.getLogger(__name__)

KEPT_DAYS = 7

_TABLE = """
    CREATE TABLE IF NOT EXISTS requests (
        day TEXT NOT NULL,
        host TEXT NOT NULL,
        ending TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (day, host, ending)
    ) WITHOUT ROWID
"""
_ADD = """
    INSERT INTO requests (day, host, ending, count) VALUES (?, ?, ?, ?)
    ON CONFLICT (day, host, ending) DO UPDATE SET count = count + excluded.count
"""
_READ = "SELECT host, ending, sum(count) FROM requests WHERE day > ? GROUP BY host, ending ORDER BY host, ending"


class RequestCountFile:
    """The counts in the file of rate limits; see ``net.request_counts.CountStore``."""

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path=path, holds="limits", synchronous="OFF", remedy="remove it and try again")

    def add(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Add counts to those of today (UTC), and forget those of days long gone."""
        today = clock.now().date()
        rows = [(today.isoformat(), host, ending, count) for (host, ending), count in counts.items()]
        try:
            with self._file.translating_sqlite_errors():
                self._file.path.parent.mkdir(parents=True, exist_ok=True)
            with self._file.opened() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                connection.executemany(_ADD, rows)
                gone = today - timedelta(days=KEPT_DAYS)
                connection.execute("DELETE FROM requests WHERE day <= ?", (gone.isoformat(),))
                connection.execute("COMMIT")
        except ToolError as error:
            # No request fails for want of its count.
            _log.warning("%d requests were not counted: %s", sum(counts.values()), error.message)

    def read(self) -> dict[str, dict[str, int]]:
        """Return by host how many requests ended how over the last days; empty where nothing was asked yet.

        Raises:
            SettingsInvalid, StorageUnavailable: the file cannot be read.
        """
        if not self._file.path.exists():
            return {}
        since = clock.now().date() - timedelta(days=KEPT_DAYS)
        with self._file.opened() as connection:
            connection.execute(_TABLE)
            found: dict[str, dict[str, int]] = {}
            for host, ending, count in connection.execute(_READ, (since.isoformat(),)):
                found.setdefault(host, {})[ending] = count
        return found
