"""User variables: places and preferences kept by name, each user's own.

The plan_trip and get_departures contracts, rule C4.

``VariableStore`` is one SQLite file; ``store/postgres/variables.py`` keeps them for many machines.
In the file every operation opens it, so that threads, processes and a file that went away need no care.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from fingerpost import clock
from fingerpost.errors import ParameterError
from fingerpost.store.sqlite import SqliteFile, use_write_ahead_log

MAX_VALUE_BYTES = 8_000
MAX_KEYS_PER_USER = 1_000

_APPLICATION_ID = 0x46505641
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TABLE = """
    CREATE TABLE IF NOT EXISTS variables (
        user TEXT NOT NULL,
        key TEXT NOT NULL,
        type TEXT NOT NULL,
        value TEXT NOT NULL,
        created_us INTEGER NOT NULL,
        updated_us INTEGER NOT NULL,
        PRIMARY KEY (user, key)
    ) WITHOUT ROWID
"""
_FIND = "SELECT key, type, value, created_us, updated_us FROM variables WHERE user = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One thing that a user keeps: ``value`` is any JSON value, the instants are in UTC."""

    key: str
    type: str
    value: Any
    created_at: datetime
    updated_at: datetime


class Variables(Protocol):
    """The port of the stores of user variables: a file of this machine's, or a database that many machines share.

    Every method may raise SettingsInvalid (the operator must act) or StorageUnavailable (try again).
    """

    def save(self, user: str, key: str, type: str, value: Any, now: datetime) -> tuple[Variable, Variable | None]:  # noqa: A002
        """Keep a value under a key and return it with what it replaced; ``created_at`` outlives a replacement.

        Raises:
            ParameterError: the value is not JSON or too large, or the user has too many keys.
        """

    def list_variables(self, user: str, *, now: datetime | None = None) -> list[Variable]:
        """Return all of a user's variables, by key."""

    def find(self, user: str, key: str, *, now: datetime | None = None) -> Variable | None:
        """Return a user's variable of exactly that key, case included, or None."""

    def delete(self, user: str, key: str | None = None, *, now: datetime | None = None) -> list[str]:
        """Forget one variable, or all of a user's where ``key`` is None; return the keys that were there, in order."""


class VariableStore:
    """The variables of all users in one file, which only its owner may read.

    ``retention_days`` counts from a variable's last change; None keeps for ever.
    Reading touches no disk where the file does not exist yet.
    Every method may raise SettingsInvalid (the file is not ours or cannot be used)
    or StorageUnavailable (it is busy or full).
    """

    def __init__(self, path: Path, *, retention_days: int | None = None) -> None:
        self._file = SqliteFile(
            path=Path(path), holds="variables", application_id=_APPLICATION_ID, remedy="move it away and call again"
        )
        self._retention_days = retention_days

    def save(self, user: str, key: str, type: str, value: Any, now: datetime) -> tuple[Variable, Variable | None]:  # noqa: A002
        text = encode_value(value)
        now_us = to_us(now)
        with self._writing() as connection:
            self._purge(connection, now)
            row = connection.execute(f"{_FIND} AND key = ?", (user, key)).fetchone()
            if row is None:
                held = connection.execute("SELECT count(*) FROM variables WHERE user = ?", (user,)).fetchone()[0]
                refuse_too_many(held)
            connection.execute(
                "INSERT INTO variables (user, key, type, value, created_us, updated_us)"
                " VALUES (:user, :key, :type, :value, :now, :now) ON CONFLICT (user, key)"
                " DO UPDATE SET type = :type, value = :value, updated_us = :now",
                {"user": user, "key": key, "type": type, "value": text, "now": now_us},
            )
        return saved_of(key, type, text, now_us, row)

    def list_variables(self, user: str, *, now: datetime | None = None) -> list[Variable]:
        with self._reading() as connection:
            if connection is None:
                return []
            kept = f"{_FIND} AND updated_us >= ? ORDER BY key"
            rows = connection.execute(kept, (user, oldest_kept_us(self._retention_days, now))).fetchall()
        return [variable_of(row) for row in rows]

    def find(self, user: str, key: str, *, now: datetime | None = None) -> Variable | None:
        if not is_unicode(key):
            return None
        with self._reading() as connection:
            if connection is None:
                return None
            kept = f"{_FIND} AND key = ? AND updated_us >= ?"
            row = connection.execute(kept, (user, key, oldest_kept_us(self._retention_days, now))).fetchone()
        return None if row is None else variable_of(row)

    def delete(self, user: str, key: str | None = None, *, now: datetime | None = None) -> list[str]:
        if not self._file.path.exists() or (key is not None and not is_unicode(key)):
            return []
        with self._writing() as connection:
            self._purge(connection, now)
            chosen = "FROM variables WHERE user = :user AND (:key IS NULL OR key = :key)"
            named = {"user": user, "key": key}
            rows = connection.execute(f"SELECT key {chosen} ORDER BY key", named).fetchall()
            connection.execute(f"DELETE {chosen}", named)
        return [row[0] for row in rows]

    def _purge(self, connection: sqlite3.Connection, now: datetime | None) -> None:
        if self._retention_days is not None:
            oldest_us = oldest_kept_us(self._retention_days, now)
            connection.execute("DELETE FROM variables WHERE updated_us < ?", (oldest_us,))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self._file.path.exists():
            yield None
            return
        # Only a writer may create the file, with the right mode.
        with self._file.opened("rw") as connection:
            yield None if self._file.is_empty(connection) else connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._file.translating_sqlite_errors():
            self._file.create_owner_only()
        with self._file.opened("rw") as connection:
            # Another program's file is refused before its journal mode is touched.
            self._file.is_empty(connection)
            use_write_ahead_log(connection)
            connection.execute("BEGIN IMMEDIATE")
            if self._file.is_empty(connection):
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            yield connection
            connection.execute("COMMIT")


def refuse_too_many(held: int) -> None:
    """Refuse one more variable of a user who has so many.

    Raises:
        ParameterError: there is no room for it.
    """
    if held >= MAX_KEYS_PER_USER:
        raise ParameterError(
            f"{held} variables are kept already, and no more than {MAX_KEYS_PER_USER} can be",
            {"field": "key"},
            hint="Delete one that is no longer needed",
        )


def is_unicode(text: str) -> bool:
    """Whether a text can be written at all: JSON may hold half of a surrogate pair, which no file does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encode_value(value: Any) -> str:
    """Return a value as JSON text.

    Raises:
        ParameterError: it is not JSON, or too large.
    """
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


def variable_of(row: tuple[str, str, str, int, int]) -> Variable:
    """Return the variable of a row: key, type, JSON text, and the instants of creation and change in microseconds."""
    key, kind, value, created_us, updated_us = row
    return Variable(
        key=key,
        type=kind,
        value=json.loads(value),
        created_at=_EPOCH + timedelta(microseconds=created_us),
        updated_at=_EPOCH + timedelta(microseconds=updated_us),
    )


def saved_of(
    key: str,
    kind: str,
    text: str,
    now_us: int,
    replaced: tuple[str, str, str, int, int] | None,
) -> tuple[Variable, Variable | None]:
    """Return the variable just saved, and the one that it replaced, whose creation it keeps."""
    created_us = now_us if replaced is None else replaced[3]
    saved = variable_of((key, kind, text, created_us, now_us))
    return saved, None if replaced is None else variable_of(replaced)


def oldest_kept_us(retention_days: int | None, now: datetime | None) -> int:
    """Return the last change, in microseconds since 1970, before which a variable is dropped."""
    if retention_days is None:
        return -(2**63)
    return to_us((now or clock.now()) - timedelta(days=retention_days))


def to_us(instant: datetime) -> int:
    """Return an instant as microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)
