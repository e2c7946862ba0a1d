"""Open SQLite files, and translate SQLite's errors for the caller or the operator."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fingerpost.errors import SettingsInvalid, StorageUnavailable, ToolError

Mode = Literal["ro", "ro&immutable=1", "rw", "rwc"]
"""Read only; read only without a log, if no process writes; read and write an existing file; create it if missing."""

_OWNER_ONLY = 0o600
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY)
_CANNOT_OPEN = "cannot be opened; check who may write to it and to its folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """One SQLite file: its path, its connection settings (autocommit) and the wording of its errors.

    Attributes:
        holds: its content in the plural, for error messages: ``variables``.
        busy_timeout_s: the longest wait for another connection's lock.
        any_thread: whether a connection may move between threads, which the caller must synchronize.
        remedy: the action of the operator for an unusable file.
        unavailable: a contract's message for StorageUnavailable, with ``{error}``; also for a file that cannot be
            opened, instead of SettingsInvalid.
    """

    path: Path
    holds: str
    application_id: int | None = None
    busy_timeout_s: float = 5.0
    synchronous: Literal["OFF", "NORMAL", "FULL"] | None = None
    any_thread: bool = False
    factory: type[sqlite3.Connection] = sqlite3.Connection
    remedy: str = "move it away and try again"
    unavailable: str | None = None

    def connect(self, mode: Mode = "rwc") -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path if mode == "rwc" else f"{self.path.absolute().as_uri()}?mode={mode}",
            timeout=self.busy_timeout_s,
            isolation_level=None,
            uri=mode != "rwc",
            check_same_thread=not self.any_thread,
            factory=self.factory,
        )
        if self.synchronous is not None:
            try:
                connection.execute(f"PRAGMA synchronous = {self.synchronous}")
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    @contextmanager
    def opened(self, mode: Mode = "rwc") -> Iterator[sqlite3.Connection]:
        """Open a connection for a block and translate its errors; an open transaction is rolled back."""
        with self.translating_sqlite_errors():
            connection = self.connect(mode)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for a block that only reads, even if this user may write neither file nor folder."""
        # Readers must write to a write-ahead log; if there is none, all data is in the file itself.
        has_log = self.path.with_name(f"{self.path.name}-wal").exists()
        is_closed = not has_log and not os.access(
            self.path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids
        )
        with self.opened("ro&immutable=1" if is_closed else "ro") as connection:
            yield connection

    def create_owner_only(self) -> None:
        """Create the folder and an empty file for its owner alone; SQLite's companion files get its mode."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
        if self.path.stat().st_mode & 0o077:
            self.path.chmod(_OWNER_ONLY)

    def is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has no tables yet; raise SettingsInvalid if they are another program's or format's."""
        # Tables first: a first writer may commit table and id between the two questions.
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return True
        found = connection.execute("PRAGMA application_id").fetchone()[0]
        if self.application_id is not None and found != self.application_id:
            # The last byte of our own numbers counts the formats that cannot be upgraded.
            is_ours = found >> 8 == self.application_id >> 8
            owner = "another version of fingerpost" if is_ours else "another program"
            raise self.unusable(f"belongs to {owner}; {self.remedy}")
        return False

    def check_structure(self, connection: sqlite3.Connection) -> None:
        """Raise SettingsInvalid or sqlite3.DatabaseError if SQLite's ``quick_check`` finds damaged pages."""
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise self.unusable(f"is damaged ({found}); {self.remedy}")

    @contextmanager
    def translating_sqlite_errors(self) -> Iterator[None]:
        """Translate errors: SettingsInvalid for a file that is damaged or closed to us, else StorageUnavailable."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._translated(error) from error
        except OSError as error:
            raise self.unusable(_CANNOT_OPEN) from error

    def unusable(self, reason: str) -> SettingsInvalid:
        """Return the operator's error; ``reason`` continues "The ... file NAME"."""
        return SettingsInvalid(f"The {self.holds} file {self.path.name} {reason}")

    def _translated(self, error: sqlite3.DatabaseError) -> ToolError:
        code = primary_code(error)
        if code in _DAMAGED:
            return self.unusable(f"is not a readable database; {self.remedy}")
        if self.unavailable is not None:
            return StorageUnavailable(self.unavailable.format(error=error))
        if code in _CLOSED:
            return self.unusable(_CANNOT_OPEN)
        if code == sqlite3.SQLITE_ERROR:
            return StorageUnavailable(
                f"The {self.holds} file {self.path.name} could not be used: {error}", retryable=False
            )
        return StorageUnavailable(f"The {self.holds} are busy or their disk is full; try again in a moment")


def connect_memory(factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Return a new database in memory, which any thread may use, one at a time."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=factory)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Two first writers meet: SQLite does not wait here. The next opener switches, and both are safe without.
        if primary_code(error) not in _BUSY:
            raise


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code: extended codes carry it in their low byte."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
