"""The embedded journal: store all runs in one SQLite file (WAL) that processes share without a server."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from filelock import lock_descriptor

from fingerpost.errors import new_unwritable_error
from fingerpost.plan.journal import Journal
from fingerpost.store.sqlite import SqliteFile
from fingerpost.store.tables import RUNS, Layout, SqliteTables

_R = TypeVar("_R")

LAYOUTS: tuple[Layout, ...] = (RUNS,)

_APPLICATION_ID = 0x46505053
_BUSY_TIMEOUT_S = 10.0
_LOCK_ATTEMPTS = 4
_RETRY_DELAY_S = 0.01
_EXISTS = "SELECT 1 FROM plan_run WHERE id = %s"
_OWNER_ONLY = 0o600


def _lock(path: Path) -> int | None:
    """Lock a file and return its handle, or None if another process or task holds the lock."""
    # FileLock objects are too slow: they would account for a quarter of a short run's time.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
        if lock_descriptor(handle, blocking=False):
            return handle
        os.close(handle)
    except OSError as error:
        raise new_unwritable_error(path.parent, error) from error
    return None


class EmbeddedJournal(Journal):
    """A journal in a folder: ``runs.sqlite``, and one empty lock file per run."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        file = SqliteFile(
            path=Path(folder) / "runs.sqlite",
            contents="runs",
            application_id=_APPLICATION_ID,
            busy_timeout_s=_BUSY_TIMEOUT_S,
            # Acknowledged records survive a power failure.
            synchronous="FULL",
        )
        self._tables = SqliteTables(file, LAYOUTS)
        self._locks = Path(folder) / "runs.locks"

    @asynccontextmanager
    async def lease(self, run_id: str) -> AsyncIterator[bool]:
        path = self._locks / f"{run_id}.lock"
        # Retry, because ``is_leased`` in another process locks the file briefly.
        for _ in range(_LOCK_ATTEMPTS):
            if (handle := _lock(path)) is not None:
                break
            await asyncio.sleep(_RETRY_DELAY_S)
        try:
            yield handle is not None
        finally:
            if handle is not None:
                try:
                    if self._writer is not None:
                        await self._writer.drain()
                finally:
                    os.close(handle)

    async def is_leased(self, run_id: str) -> bool:
        try:
            handle = os.open(self._locks / f"{run_id}.lock", os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not lock_descriptor(handle, blocking=False)
        finally:
            os.close(handle)

    def _new_session(self) -> "FileSession":
        return FileSession(self._tables)

    async def _read(self, read: Callable[[sqlite3.Connection], _R]) -> _R:
        # The file is created by the first write.
        return await self._transact(read) if self._tables.file.path.exists() else self._tables.empty.read(read)


class FileSession:
    """A lazily opened connection to the runs file (a ``journal.JournalSession``)."""

    def __init__(self, tables: SqliteTables) -> None:
        self._tables = tables
        self._connection: sqlite3.Connection | None = None

    def transact(self, act: Callable[[sqlite3.Connection], _R], *, is_write: bool = False) -> _R:
        with self._tables.file.translating_sqlite_errors():
            if self._connection is None:
                self._connection = self._tables.connect()
            self._connection.execute("BEGIN IMMEDIATE" if is_write else "BEGIN")
            with self._connection as connection:
                return act(connection)

    def find_lost_runs(self, connection: sqlite3.Connection, run_ids: Collection[str]) -> Collection[str]:
        return {run_id for run_id in run_ids if not connection.execute(_EXISTS, (run_id,)).fetchone()}

    def stop_waiting(self) -> None:
        """Do nothing: SQLite's busy timeout limits the wait."""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
