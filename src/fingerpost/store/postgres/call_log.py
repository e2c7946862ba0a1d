"""The calls of a tool within the last span of time, of all machines together."""

from typing import TYPE_CHECKING

from fingerpost.store.postgres.advisory import key_of
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg

# Whoever has the lock is the only one who counts or is counted.
_FORGET = """
    DELETE FROM tool_call WHERE tool = %(tool)s AND NOT (
        passed_ms > floor(extract(epoch FROM clock_timestamp()) * 1000) - %(span_ms)s
        AND passed_ms <= floor(extract(epoch FROM clock_timestamp()) * 1000)
    )
"""
_COUNT = """
    SELECT count(*), min(passed_ms), floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    FROM tool_call WHERE tool = %(tool)s
"""


class SharedCallLog:
    """Counts the calls of one tool; see ``store.call_log.SqliteCallLog``.

    Instants are the database's: a machine whose clock is wrong would otherwise miss the calls of the others.
    """

    def __init__(self, database: Database, tool: str) -> None:
        self._database = database
        self._tool = tool

    def pass_at(self, now_ms: int, most: int, span_ms: int) -> int | None:  # noqa: ARG002  (the database's clock counts)
        """Count a call; return None, or in how many milliseconds one may pass where ``most`` have within the span.

        One that may not pass does not count.

        Raises:
            SettingsInvalid: the database cannot be used.
            StorageUnavailable: it cannot be reached, or is busy.
        """
        values = {"tool": self._tool, "span_ms": span_ms}

        def count(connection: "psycopg.Connection") -> int | None:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (key_of("calls of", self._tool),))
            connection.execute(_FORGET, values)
            row = connection.execute(_COUNT, values).fetchone()
            counted, first_ms, at_ms = row if row else (0, None, 0)
            if counted >= most:
                return max(1, int(first_ms) + span_ms - int(at_ms))
            connection.execute("INSERT INTO tool_call (tool, passed_ms) VALUES (%s, %s)", (self._tool, at_ms))
            return None

        return self._database.change(count)
