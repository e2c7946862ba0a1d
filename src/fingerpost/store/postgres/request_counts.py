"""Counts of requests of the last days by host, of all machines together."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.store.postgres.database import Database
from fingerpost.store.request_counts import KEPT_DAYS

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

_ADD = """
    INSERT INTO request_count (day, host, ending, count) VALUES (%s, %s, %s, %s)
    ON CONFLICT (day, host, ending) DO UPDATE SET count = request_count.count + excluded.count
"""
_READ = """
    SELECT host, ending, sum(count)::bigint FROM request_count WHERE day > %s
    GROUP BY host, ending ORDER BY host, ending
"""


class SharedRequestCounts:
    """The counts of all machines; see ``net.request_counts.CountStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Add counts to those of today (UTC), and forget those of days long gone."""
        today = clock.now().date()
        # In one order everywhere: machines that add at once would otherwise wait for each other for ever.
        rows = [(today, host, ending, count) for (host, ending), count in sorted(counts.items())]

        def write(connection: "psycopg.Connection") -> None:
            with connection.cursor() as cursor:
                cursor.executemany(_ADD, rows)
            connection.execute("DELETE FROM request_count WHERE day <= %s", (today - timedelta(days=KEPT_DAYS),))

        try:
            self._database.change(write)
        except ToolError as error:
            # No request fails for want of its count.
            _log.warning("%d requests were not counted: %s", sum(counts.values()), error.message)

    def read(self) -> dict[str, dict[str, int]]:
        """Return by host how many requests ended how over the last days.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be read.
        """
        since = clock.now().date() - timedelta(days=KEPT_DAYS)
        found: dict[str, dict[str, int]] = {}
        for host, ending, count in self._database.read(
            lambda connection: connection.execute(_READ, (since,)).fetchall()
        ):
            found.setdefault(host, {})[ending] = count
        return found
