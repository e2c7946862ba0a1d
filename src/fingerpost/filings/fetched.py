"""What EDGAR said of the files whose content is in the facts file, so that it is asked for news only."""

import sqlite3
from contextlib import closing
from pathlib import Path

from fingerpost.filings import schema
from fingerpost.net.response import Validators

_TABLE = """
    CREATE TABLE IF NOT EXISTS fetched (
        url TEXT PRIMARY KEY, etag TEXT, last_modified TEXT, retrieved_at TEXT NOT NULL
    ) WITHOUT ROWID
"""


class FetchedFiles:
    """The validators of what was fetched, in the facts file itself: they go where the facts go."""

    def __init__(self, path: Path) -> None:
        self._file = schema.facts_file(path)

    def find(self, url: str) -> tuple[Validators, str] | None:
        """Return the validators of a file and the instant of its retrieval, or None where it was not fetched."""
        if not self._file.path.exists():
            return None
        with self._file.opened("ro") as connection, closing(connection.cursor()) as cursor:
            try:
                row = cursor.execute(
                    "SELECT etag, last_modified, retrieved_at FROM fetched WHERE url = ?", (url,)
                ).fetchone()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return None
                raise
        return None if row is None else (Validators(etag=row[0], last_modified=row[1]), row[2])

    def put(self, url: str, validators: Validators, retrieved_at: str) -> None:
        """Keep what was said of a file, once its content is stored."""
        with self._file.opened() as connection:
            connection.execute(_TABLE)
            connection.execute(
                "INSERT OR REPLACE INTO fetched VALUES (?, ?, ?, ?)",
                (url, validators.etag, validators.last_modified, retrieved_at),
            )
