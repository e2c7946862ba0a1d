"""User variables: places and preferences kept by name, each user's own (contracts 000 and 001, ruling C4).

One SQLite file; every operation opens it, so that threads, processes and a file that went away need no care.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid, StorageUnavailable

MAX_VALUE_BYTES = 8_000
MAX_KEYS_PER_USER = 1_000

_BUSY_TIMEOUT_S = 5.0
_OWNER_ONLY = 0o600
_APPLICATION_ID = 0x46505641
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY)
_CANNOT_OPEN = "cannot be opened; check who may write to it and to its folder"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One thing that a user keeps: ``value`` is any JSON value, the instants are in UTC."""

    key: str
    type: str
    value: Any
    created_at: datetime
    updated_at: datetime


class VariableStore:
    """The variables of all users in one file, which only its owner may read.

    ``retention_days`` counts from a variable's last change; None keeps for ever.
    Reading touches no disk where the file does not exist yet.
    Every method may raise SettingsInvalid (the file is not ours or cannot be used)
    or StorageUnavailable (it is busy or full).
    """

    def __init__(self, path: Path, *, retention_days: int | None = None) -> None:
        self._path = Path(path)
        self._retention = None if retention_days is None else timedelta(days=retention_days)

    def save(self, user: str, key: str, type: str, value: Any, now: datetime) -> tuple[Variable, Variable | None]:  # noqa: A002
        """Keep a value under a key and return it with what it replaced; ``created_at`` outlives a replacement.

        Raises:
            ParameterError: the value is not JSON or too large, or the user has too many keys.
        """
        text = _encode(value)
        now_us = _to_us(now)
        with self._writing() as connection:
            self._purge(connection, now)
            row = connection.execute(
                "SELECT key, type, value, created_us, updated_us FROM variables WHERE user = ? AND key = ?", (user, key)
            ).fetchone()
            previous = None if row is None else _variable(row)
            if previous is None:
                _refuse_too_many(connection, user)
            connection.execute(
                "INSERT INTO variables VALUES (:user, :key, :type, :value, :now, :now) ON CONFLICT (user, key)"
                " DO UPDATE SET type = :type, value = :value, updated_us = :now",
                {"user": user, "key": key, "type": type, "value": text, "now": now_us},
            )
        created_us = now_us if row is None else row[3]
        return _variable((key, type, text, created_us, now_us)), previous

    def list_variables(self, user: str, *, now: datetime | None = None) -> list[Variable]:
        """Return all of a user's variables, by key."""
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT key, type, value, created_us, updated_us FROM variables"
                " WHERE user = ? AND updated_us >= ? ORDER BY key",
                (user, self._oldest_kept_us(now)),
            ).fetchall()
        return [_variable(row) for row in rows]

    def find(self, user: str, key: str, *, now: datetime | None = None) -> Variable | None:
        """Return a user's variable of exactly that key, case included, or None."""
        with self._reading() as connection:
            if connection is None:
                return None
            row = connection.execute(
                "SELECT key, type, value, created_us, updated_us FROM variables"
                " WHERE user = ? AND key = ? AND updated_us >= ?",
                (user, key, self._oldest_kept_us(now)),
            ).fetchone()
        return None if row is None else _variable(row)

    def delete(self, user: str, key: str | None = None, *, now: datetime | None = None) -> list[str]:
        """Forget one variable, or all of a user's where ``key`` is None; return the keys that were there, in order."""
        if not self._path.exists():
            return []
        with self._writing() as connection:
            self._purge(connection, now)
            chosen = "FROM variables WHERE user = :user AND (:key IS NULL OR key = :key)"
            named = {"user": user, "key": key}
            rows = connection.execute(f"SELECT key {chosen} ORDER BY key", named).fetchall()
            connection.execute(f"DELETE {chosen}", named)
        return [row[0] for row in rows]

    def _oldest_kept_us(self, now: datetime | None) -> int:
        if self._retention is None:
            return -(2**63)
        return _to_us((now or clock.now()) - self._retention)

    def _purge(self, connection: sqlite3.Connection, now: datetime | None) -> None:
        if self._retention is not None:
            connection.execute("DELETE FROM variables WHERE updated_us < ?", (self._oldest_kept_us(now),))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self._path.exists():
            yield None
            return
        with self._open() as connection:
            yield connection if self._is_ours(connection) else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._told():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its companion files the mode of the database.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
            if self._path.stat().st_mode & 0o077:
                self._path.chmod(_OWNER_ONLY)
        with self._open() as connection:
            self._is_ours(connection)
            _use_write_ahead_log(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_ours(connection):
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            # Closing without a commit rolls back.
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._told():
            # Only a writer may create the file, with the right mode.
            place = f"{self._path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(place, timeout=_BUSY_TIMEOUT_S, isolation_level=None, uri=True)
            try:
                yield connection
            finally:
                connection.close()

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file holds our table; an empty one does not yet.

        Raises:
            SettingsInvalid: somebody else's database.
        """
        # Tables first: a first writer may commit table and id between the two questions.
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise self._unusable("belongs to another program; move it away and call again")
        return True

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite and the file system say into what the operator or the caller can do."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Extended codes carry the plain one in their low byte.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in _DAMAGED:
                raise self._unusable("is not a database that can be read; move it away and call again") from error
            if code in _CLOSED:
                raise self._unusable(_CANNOT_OPEN) from error
            raise StorageUnavailable("The variables are busy or their disk is full; try again in a moment") from error
        except OSError as error:
            raise self._unusable(_CANNOT_OPEN) from error

    def _unusable(self, reason: str) -> SettingsInvalid:
        return SettingsInvalid(f"The variables file {self._path.name} {reason}")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers go on while one writes; the file remembers it."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Two first writers meet: SQLite does not wait here. The next opener switches, and both are safe without.
        if error.sqlite_errorcode & 0xFF not in _BUSY:
            raise


def _refuse_too_many(connection: sqlite3.Connection, user: str) -> None:
    held = connection.execute("SELECT count(*) FROM variables WHERE user = ?", (user,)).fetchone()[0]
    if held >= MAX_KEYS_PER_USER:
        raise ParameterError(
            f"{held} variables are kept already, and no more than {MAX_KEYS_PER_USER} can be",
            {"field": "key"},
            hint="Delete one that is no longer needed",
        )


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


def _variable(row: tuple[str, str, str, int, int]) -> Variable:
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
