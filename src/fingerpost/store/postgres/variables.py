"""User variables in the shared database (the plan_trip and get_departures contracts, rule C4)."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from fingerpost.store.postgres.database import Database
from fingerpost.store.postgres.layouts import key_of
from fingerpost.store.variables import (
    Variable,
    encode_value,
    is_unicode,
    oldest_kept_us,
    refuse_too_many,
    saved_of,
    to_us,
    variable_of,
)

if TYPE_CHECKING:
    import psycopg

_FIND = "SELECT key, type, value, created_us, updated_us FROM variable WHERE user_name = %s AND key = %s"
_FIND_KEPT = f"{_FIND} AND updated_us >= %s"
_LIST = """
    SELECT key, type, value, created_us, updated_us FROM variable WHERE user_name = %s AND updated_us >= %s ORDER BY key
"""


class SharedVariables:
    """The variables of all users of all machines; see ``store.variables.Variables``.

    ``retention_days`` counts from a variable's last change; None keeps for ever.
    """

    def __init__(self, database: Database, *, retention_days: int | None = None) -> None:
        self._database = database
        self._retention_days = retention_days

    def save(self, user: str, key: str, type: str, value: Any, now: datetime) -> tuple[Variable, Variable | None]:  # noqa: A002
        text = encode_value(value)
        now_us = to_us(now)

        def write(connection: "psycopg.Connection") -> tuple[Variable, Variable | None]:
            # Two machines that save for one user at once must count each other's keys.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (key_of("variables of", user),))
            self._purge(connection, now)
            row = connection.execute(_FIND, (user, key)).fetchone()
            if row is None:
                counted = connection.execute("SELECT count(*) FROM variable WHERE user_name = %s", (user,)).fetchone()
                refuse_too_many(counted[0] if counted else 0)
            connection.execute(
                "INSERT INTO variable (user_name, key, type, value, created_us, updated_us)"
                " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (user_name, key)"
                " DO UPDATE SET type = excluded.type, value = excluded.value, updated_us = excluded.updated_us",
                (user, key, type, text, now_us, now_us),
            )
            return saved_of(key, type, text, now_us, row)

        return self._database.change(write)

    def list_variables(self, user: str, *, now: datetime | None = None) -> list[Variable]:
        since_us = oldest_kept_us(self._retention_days, now)
        rows = self._database.read(lambda connection: connection.execute(_LIST, (user, since_us)).fetchall())
        return [variable_of(row) for row in rows]

    def find(self, user: str, key: str, *, now: datetime | None = None) -> Variable | None:
        if "\0" in key or not is_unicode(key):
            return None
        since_us = oldest_kept_us(self._retention_days, now)
        row = self._database.read(lambda connection: connection.execute(_FIND_KEPT, (user, key, since_us)).fetchone())
        return None if row is None else variable_of(row)

    def delete(self, user: str, key: str | None = None, *, now: datetime | None = None) -> list[str]:
        if key is not None and ("\0" in key or not is_unicode(key)):
            return []

        def write(connection: "psycopg.Connection") -> list[str]:
            self._purge(connection, now)
            rows = connection.execute(
                "DELETE FROM variable WHERE user_name = %s AND (%s::text IS NULL OR key = %s) RETURNING key",
                (user, key, key),
            ).fetchall()
            return sorted(row[0] for row in rows)

        return self._database.change(write)

    def _purge(self, connection: "psycopg.Connection", now: datetime | None) -> None:
        if self._retention_days is not None:
            oldest_us = oldest_kept_us(self._retention_days, now)
            connection.execute("DELETE FROM variable WHERE updated_us < %s", (oldest_us,))
