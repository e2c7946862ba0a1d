"""Store each user's variables: named places and preferences (rule C4)."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fingerpost import clock
from fingerpost.errors import ParameterError
from fingerpost.store.sqlite import SqliteFile
from fingerpost.store.tables import NOT_STORABLE, VARIABLES, SqliteTables, Tables

MAX_VALUE_BYTES = 8_000
MAX_KEYS_PER_USER = 1_000

_APPLICATION_ID = 0x46505642
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIST = """
    SELECT key, type, value, created_us, updated_us FROM variable
    WHERE user_name = %(user)s AND updated_us >= %(oldest_us)s
"""
_FIND = f"{_LIST} AND key = %(key)s"
_SAVE = """
    INSERT INTO variable (user_name, key, type, value, created_us, updated_us)
    VALUES (%(user)s, %(key)s, %(type)s, %(value)s, %(now_us)s, %(now_us)s) ON CONFLICT (user_name, key)
    DO UPDATE SET type = excluded.type, value = excluded.value, updated_us = excluded.updated_us
"""
_COUNT = "SELECT count(*) FROM variable WHERE user_name = %(user)s"
_DELETE = """
    DELETE FROM variable WHERE user_name = %(user)s AND (CAST(%(key)s AS text) IS NULL OR key = %(key)s) RETURNING key
"""


_Row = tuple[str, str, str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A stored variable; ``value`` is any JSON value, and the timestamps are in UTC."""

    key: str
    type: str
    value: Any
    created_at: datetime
    updated_at: datetime


class VariableStore:
    """Stores the variables of all users, in a file with mode 600 or in a shared database.

    ``retention_days`` counts from a variable's last change. Methods may raise SettingsInvalid or StorageUnavailable.
    """

    def __init__(self, storage: Path | Tables, *, retention_days: int | None = None) -> None:
        self._path = storage if isinstance(storage, Path) else None
        if isinstance(storage, Path):
            advice = "move it out of the way and call again"
            file = SqliteFile(path=storage, contents="variables", application_id=_APPLICATION_ID, advice=advice)
            storage = SqliteTables(file, [VARIABLES])
        self._tables = storage
        self._retention_days = retention_days

    def has_storage(self) -> bool:
        """Whether anything may be stored: false until the first variable creates the file."""
        return self._path is None or self._path.exists()

    def save(self, user: str, key: str, type: str, value: Any, now: datetime) -> tuple[Variable, Variable | None]:  # noqa: A002
        """Store a value; return the new variable, and the old one if it was replaced; ``created_at`` is preserved.

        Raise ParameterError if the value is too large or is not JSON, or if the user has too many keys.
        """
        if not (_is_storable(key) and _is_storable(user)):
            raise ParameterError(NOT_STORABLE)
        text = _encode(value)
        now_us, oldest_us = _to_us(now), self._oldest_us(now)
        fields = {"user": user, "key": key, "type": type, "value": text, "now_us": now_us, "oldest_us": oldest_us}

        def write(connection: Any) -> _Row | None:
            self._purge(connection, now)
            row: _Row | None = connection.execute(_FIND, fields).fetchone()
            if row is None:
                count = connection.execute(_COUNT, fields).fetchone()[0]
                if count >= MAX_KEYS_PER_USER:
                    raise ParameterError(
                        f"{count} variables are already stored; the limit is {MAX_KEYS_PER_USER}",
                        {"field": "key"},
                        hint="Delete one that is no longer needed",
                    )
            connection.execute(_SAVE, fields)
            return row

        replaced = self._tables.change(write, lock=f"variables of {user}")
        saved = _build_variable((key, type, text, now_us if replaced is None else replaced[3], now_us))
        return saved, None if replaced is None else _build_variable(replaced)

    def list_variables(self, user: str) -> list[Variable]:
        fields = {"user": user, "oldest_us": self._oldest_us(clock.now())}
        rows = self._tables.read(lambda connection: connection.execute(f"{_LIST} ORDER BY key", fields).fetchall())
        return [_build_variable(row) for row in rows]

    def find(self, user: str, key: str) -> Variable | None:
        """Return a user's variable with exactly this key (case-sensitive), or None."""
        if not _is_storable(key):
            return None
        fields = {"user": user, "key": key, "oldest_us": self._oldest_us(clock.now())}
        row = self._tables.read(lambda connection: connection.execute(_FIND, fields).fetchone())
        return None if row is None else _build_variable(row)

    def delete(self, user: str, key: str | None = None) -> list[str]:
        """Delete one variable, or all variables of a user if ``key`` is None, and return the deleted keys in order."""
        if (key is not None and not _is_storable(key)) or not self.list_variables(user):
            return []

        def write(connection: Any) -> list[tuple[str]]:
            self._purge(connection, clock.now())
            rows: list[tuple[str]] = connection.execute(_DELETE, {"user": user, "key": key}).fetchall()
            return rows

        return sorted(row[0] for row in self._tables.change(write))

    def _purge(self, connection: Any, now: datetime) -> None:
        if self._retention_days is not None:
            connection.execute("DELETE FROM variable WHERE updated_us < %s", (self._oldest_us(now),))

    def _oldest_us(self, now: datetime) -> int:
        return -(2**63) if self._retention_days is None else _to_us(now - timedelta(days=self._retention_days))


def _is_storable(text: str) -> bool:
    """Whether a database can store a string, which must not contain a NUL or a lone surrogate."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _encode(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError("value must be a JSON value", {"field": "value"}) from error
    if size > MAX_VALUE_BYTES:
        raise ParameterError(
            f"value must be at most {MAX_VALUE_BYTES} bytes of JSON; you sent {size}", {"field": "value"}
        )
    return text


def _build_variable(row: _Row) -> Variable:
    key, kind, value, created_us, updated_us = row
    return Variable(
        key=key,
        type=kind,
        value=json.loads(value),
        created_at=_EPOCH + timedelta(microseconds=created_us),
        updated_at=_EPOCH + timedelta(microseconds=updated_us),
    )


def _to_us(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)
