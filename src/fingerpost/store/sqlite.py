"""Open SQLite files, and translate SQLite's errors for the caller or the operator."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fingerpost.errors import SettingsInvalid, StorageUnavailable, ToolError

Mode = Literal["ro", "ro&immutable=1", "rw", "rwc"]
"""Read-only; read-only without a log, if no process is writing; read and write; read, write and create."""

_OWNER_ONLY = 0o600
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_INACCESSIBLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY)
_CANNOT_OPEN = "cannot be opened; check the permissions of the file and its folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """One SQLite file: its path, its connection settings (autocommit) and the wording of its errors.

    Attributes:
        contents: a plural noun for the content in error messages, such as ``variables``.
        busy_timeout_s: the longest wait for another connection's lock.
        advice: what the operator can do if the file is unusable.
        unavailable: a contract's message for StorageUnavailable, with ``{error}``; it also replaces SettingsInvalid if
            the file cannot be opened.
    """

    path: Path
    contents: str
    application_id: int | None = None
    busy_timeout_s: float = 5.0
    synchronous: Literal["OFF", "NORMAL", "FULL"] | None = None
    factory: type[sqlite3.Connection] = sqlite3.Connection
    advice: str = "move it out of the way and try again"
    unavailable: str | None = None

    def connect(self, mode: Mode = "rwc") -> sqlite3.Connection:
        # Only a writable connection can roll back the transaction of a killed process.
        if mode == "ro" and self.path.with_name(f"{self.path.name}-journal").exists():
            mode = "rw"
        connection = sqlite3.connect(
            self.path if mode == "rwc" else f"{self.path.absolute().as_uri()}?mode={mode}",
            timeout=self.busy_timeout_s,
            isolation_level=None,
            uri=mode != "rwc",
            # Callers that share a connection between threads synchronize them.
            check_same_thread=False,
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
        with self.translating_sqlite_errors(), closing(self.connect(mode)) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for a block that only reads, even if this user may not write to the file or its folder."""
        # Readers need write access to a write-ahead log; without a log, the file can be opened as immutable.
        has_log = self.path.with_name(f"{self.path.name}-wal").exists()
        is_read_only = not has_log and not os.access(
            self.path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids
        )
        with self.opened("ro&immutable=1" if is_read_only else "ro") as connection:
            yield connection

    def create_owner_only(self) -> None:
        """Create the folder and an empty file with mode 600; SQLite's companion files inherit the mode."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            # Closing an existing file would release the locks that SQLite holds on it for this process.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
        if self.path.stat().st_mode & 0o077:
            self.path.chmod(_OWNER_ONLY)

    def is_empty(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has no tables; raise SettingsInvalid if another program or version wrote it."""
        # Count tables first, because a writer may commit the tables and the id between the two queries.
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return True
        result = connection.execute("PRAGMA application_id").fetchone()[0]
        if self.application_id is not None and result != self.application_id:
            # The last byte of our ids is the format version.
            owner = "another version of fingerpost" if result >> 8 == self.application_id >> 8 else "another program"
            raise self.unusable(f"belongs to {owner}; {self.advice}")
        return False

    def check_structure(self, connection: sqlite3.Connection) -> None:
        """Raise SettingsInvalid or sqlite3.DatabaseError if SQLite's ``quick_check`` finds damaged pages."""
        result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if result != "ok":
            raise self.unusable(f"is damaged ({result}); {self.advice}")

    @contextmanager
    def translating_sqlite_errors(self) -> Iterator[None]:
        """Translate errors: SettingsInvalid if the file is damaged or not accessible, else StorageUnavailable."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._translate(error) from error
        except OSError as error:
            raise self.unusable(_CANNOT_OPEN) from error

    def unusable(self, reason: str) -> SettingsInvalid:
        """Return the error for an unusable file; ``reason`` completes the sentence "The ... file NAME"."""
        return SettingsInvalid(f"The {self.contents} file {self.path.name} {reason}")

    def _translate(self, error: sqlite3.DatabaseError) -> ToolError:
        code = get_primary_code(error)
        if code in _DAMAGED:
            return self.unusable(f"is not a readable database; {self.advice}")
        if self.unavailable is not None:
            return StorageUnavailable(self.unavailable.format(error=error))
        if code in _INACCESSIBLE:
            return self.unusable(_CANNOT_OPEN)
        if code == sqlite3.SQLITE_ERROR:
            return StorageUnavailable(
                f"The {self.contents} file {self.path.name} could not be used: {error}", retryable=False
            )
        return StorageUnavailable(f"The {self.contents} file is busy or its disk is full; try again in a moment")


def connect_memory(factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Return a new in-memory database. Threads may share the connection if they synchronize access."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=factory)


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Another process is switching modes; a later connection will switch, and rollback journals are safe too.
        if get_primary_code(error) not in _BUSY:
            raise


def get_primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, which is the low byte of extended codes."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
