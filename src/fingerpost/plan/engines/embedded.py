"""The embedded journal: all runs in one SQLite file (WAL), shared by many processes without a server."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from fingerpost.plan.engines.recording import PUT_EVENT, PUT_STATE, PUT_STEP, RecordingJournal
from fingerpost.plan.engines.run_lock import RunLocks
from fingerpost.plan.engines.runs_file import FileSession, RunsFile

_R = TypeVar("_R")

_LOOK_S = 0.01

_IN_SQLITE = {
    "plan_run": "run",
    "plan_step": "step",
    "plan_event": "event",
    "plan_signal": "signal",
    "user_name": "user",
    "number": "rowid",
    "%s": "?",
}
_TRANSLATED = re.compile("|".join(_IN_SQLITE))


class EmbeddedJournal(RecordingJournal):
    """A journal in a folder: ``runs.sqlite``, and one lock file per run that is being executed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = RunsFile(Path(folder) / "runs.sqlite")
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

    async def forget_before(self, at: str) -> int:
        def write(connection: sqlite3.Connection) -> int:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                old = connection.execute("SELECT id FROM run WHERE ended_at < ?", (at,)).fetchall()
                for statement in (
                    "DELETE FROM step WHERE run_id = ?",
                    "DELETE FROM event WHERE run_id = ?",
                    "DELETE FROM signal WHERE run_id = ?",
                    "DELETE FROM run WHERE id = ?",
                ):
                    connection.executemany(statement, old)
            return len(old)

        return await self._read(write, 0)

    def _new_session(self) -> FileSession:
        return FileSession(self._file.connect, (_in_sqlite(PUT_STEP), _in_sqlite(PUT_EVENT), _in_sqlite(PUT_STATE)))

    async def _ask(self, act: Callable[[sqlite3.Connection], _R]) -> _R:
        with self._file.translating_sqlite_errors():
            return await self._writing().ask(act)

    async def _read(self, read: Callable[[sqlite3.Connection], _R], absent: _R) -> _R:
        return await self._ask(read) if self._file.exists() else absent

    def _sql(self, query: str) -> str:
        return _in_sqlite(query)

    def _writing_at_once(self, connection: sqlite3.Connection) -> AbstractContextManager[object]:
        return _transaction(connection, "BEGIN IMMEDIATE")

    def _reading_at_once(self, connection: sqlite3.Connection) -> AbstractContextManager[object]:
        return _transaction(connection, "BEGIN")

    def _write_text(self, text: str) -> str:
        """Return a text with lone surrogates, which UTF-8 cannot encode, replaced by ``?``."""
        return text.encode("utf-8", "replace").decode()


@cache
def _in_sqlite(query: str) -> str:
    return _TRANSLATED.sub(lambda found: _IN_SQLITE[found[0]], query)


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Commit at the end; the session rolls back what an error left open."""
    connection.execute(begin)
    yield
    connection.execute("COMMIT")
