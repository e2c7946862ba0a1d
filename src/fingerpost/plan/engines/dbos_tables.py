"""The tables that DBOS has no place for: a user's runs, a plan that changes, its steps, events and signals."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from fingerpost.plan.engines.dbos_session import IS_HELD, PUT_EVENT_ONCE, DbosSession
from fingerpost.plan.engines.recording import RecordingJournal
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg

_R = TypeVar("_R")


class DbosTables(RecordingJournal):
    """The records of runs in the shared database; one connection for each event loop that writes."""

    put_event = PUT_EVENT_ONCE

    def __init__(self, database: Database, process: str) -> None:
        super().__init__()
        self._database = database
        self._process = process
        self._session: DbosSession | None = None

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        writer, session = self._writing(), self._session
        assert session is not None
        claiming = writer.do(lambda: session.claim(run_id))
        try:
            is_ours = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The claim succeeds all the same, a moment later.
            claiming.add_done_callback(lambda claimed: _is_true(claimed) and writer.do(lambda: session.release(run_id)))
            raise
        try:
            yield is_ours
        finally:
            if is_ours:
                try:
                    await writer.drained()
                finally:
                    await writer.do(lambda: session.release(run_id))

    async def is_held(self, run_id: str) -> bool:
        query = f"SELECT {IS_HELD} FROM plan_run WHERE id = %s"  # noqa: S608  (constants)
        return await self._ask(lambda connection: connection.execute(query, (run_id,)).fetchone() == (True,))

    async def _forget(self, at: str) -> list[str]:
        """Remove runs that ended before an instant, and return their ids."""
        rows = await self._ask(
            lambda connection: connection.execute(
                "DELETE FROM plan_run WHERE ended_at < %s RETURNING id", (at,)
            ).fetchall()
        )
        return [row[0] for row in rows]

    def _new_session(self) -> DbosSession:
        self._session = DbosSession(self._database, self._process)
        return self._session

    async def _ask(self, act: "Callable[[psycopg.Connection], _R]") -> _R:
        return await self._writing().ask(act)

    def _sql(self, query: str) -> str:
        return query

    def _writing_at_once(self, connection: "psycopg.Connection") -> AbstractContextManager[object]:
        return connection.transaction()

    def _reading_at_once(self, connection: "psycopg.Connection") -> AbstractContextManager[object]:
        return _snapshot(connection)

    def _write_text(self, text: str) -> str:
        """Return a text as JSON, which may hold what no database text may: a NUL, half a surrogate pair."""
        return json.dumps(text)

    def _read_text(self, stored: str) -> str:
        found: str = json.loads(stored)
        return found


@contextmanager
def _snapshot(connection: "psycopg.Connection") -> Iterator[None]:
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _is_true(answer: "asyncio.Future[bool]") -> bool:
    return not answer.cancelled() and answer.exception() is None and answer.result()
