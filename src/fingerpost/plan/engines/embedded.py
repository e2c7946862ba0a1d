"""The embedded journal: all runs in one SQLite file (WAL), shared by many processes without a server.

A change of what a record means is no layout: it counts ``records.PROTOCOL`` up.
"""

import asyncio
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from filelock import lock_descriptor

from fingerpost.errors import SettingsInvalid
from fingerpost.plan.engines.group_commit import Row
from fingerpost.plan.journal import Journal, write_rows
from fingerpost.store.sqlite import SqliteFile
from fingerpost.store.tables import RUNS, Layout, SqliteTables

_R = TypeVar("_R")

LAYOUTS: tuple[Layout, ...] = (RUNS,)

_APPLICATION_ID = 0x46505053
_BUSY_TIMEOUT_S = 10.0
_LOOK_S = 0.01
_IS_THERE = "SELECT 1 FROM plan_run WHERE id = %s"
_OWNER_ONLY = 0o600


class RunLocks:
    """The locks of the runs in one folder.

    Only the lock itself is filelock's: its FileLock objects cost a short run a quarter of its time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, run_id: str) -> Iterator[bool]:
        """Lock a run for a block; False where another process or task holds it.

        Raises:
            SettingsInvalid: the folder cannot be written.
        """
        handle = self._take(run_id)
        try:
            yield handle is not None
        finally:
            if handle is not None:
                self._let_go(run_id, handle)

    def is_held(self, run_id: str) -> bool:
        try:
            handle = os.open(self._path(run_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not lock_descriptor(handle, blocking=False)
        finally:
            os.close(handle)

    def _take(self, run_id: str) -> int | None:
        path = self._path(run_id)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:
                handle = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
                is_ours = False
                try:
                    if not lock_descriptor(handle, blocking=False):
                        return None
                    is_ours = _is_still_there(path, handle)
                finally:
                    if not is_ours:
                        os.close(handle)
                if is_ours:
                    return handle
        except OSError as error:
            raise SettingsInvalid(f"The folder {self._folder.name} cannot be written: {error.strerror}") from error

    def _let_go(self, run_id: str, handle: int) -> None:
        path = self._path(run_id)
        if sys.platform == "win32":
            # Windows removes no file that is open: where somebody has opened it meanwhile, it stays for them.
            os.close(handle)
            with suppress(PermissionError):
                path.unlink(missing_ok=True)
        else:
            # Removed while it is still locked: whoever opened it meanwhile sees that it is gone, and opens anew.
            path.unlink(missing_ok=True)
            os.close(handle)

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.lock"


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


class EmbeddedJournal(Journal):
    """A journal in a folder: ``runs.sqlite``, and one lock file per run that is being executed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        file = SqliteFile(
            path=Path(folder) / "runs.sqlite",
            holds="runs",
            application_id=_APPLICATION_ID,
            busy_timeout_s=_BUSY_TIMEOUT_S,
            # A record that was acknowledged outlives a power failure.
            synchronous="FULL",
            any_thread=True,
        )
        self._tables = SqliteTables(file, LAYOUTS)
        self._locks = RunLocks(Path(folder) / "runs.locks")

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        for is_last in (False, False, False, True):
            with self._locks.hold(run_id) as is_ours:
                if is_ours or is_last:
                    try:
                        yield is_ours
                    finally:
                        if is_ours and self._writer is not None:
                            await self._writer.drained()
                    return
            # Whoever only looks whether a run is held, holds it for an instant.
            await asyncio.sleep(_LOOK_S)

    async def is_held(self, run_id: str) -> bool:
        return self._locks.is_held(run_id)

    def _new_session(self) -> "FileSession":
        return FileSession(self._tables.connect)

    async def _ask(self, act: Callable[[sqlite3.Connection], _R]) -> _R:
        with self._tables.file.translating_sqlite_errors():
            return await self._writing().ask(act)

    async def _read(self, read: Callable[[sqlite3.Connection], _R]) -> _R:
        # The file is created by the first write.
        return await self._ask(read) if self._tables.file.path.exists() else self._tables.empty.read(read)

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, *, writes: bool) -> Iterator[None]:
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        # The session rolls back what an error leaves open.
        yield
        connection.execute("COMMIT")


class FileSession:
    """One connection to the file of runs, opened when it is first needed; see ``group_commit.JournalSession``."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None

    def ask(self, act: Callable[[sqlite3.Connection], _R]) -> _R:
        connection = self._opened()
        try:
            return act(connection)
        finally:
            _roll_back(connection)

    def commit(self, steps: Sequence[Row], events: Sequence[Row], states: Sequence[Row]) -> Collection[str]:
        """Write rows in one transaction, and return the runs that have been removed since: their rows are skipped."""
        connection = self._opened()
        run_ids = {row[0] for row in (*steps, *events)}
        try:
            connection.execute("BEGIN IMMEDIATE")
            removed = {run_id for run_id in run_ids if connection.execute(_IS_THERE, (run_id,)).fetchone() is None}
            write_rows(connection, steps, events, states, removed)
            connection.execute("COMMIT")
        finally:
            _roll_back(connection)
        return removed

    def give_up(self) -> None:
        """Do nothing: SQLite limits its own wait for a busy file."""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
