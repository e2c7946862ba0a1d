"""A journal for plan runs in PostgreSQL; DBOS distributes runs across processes and recovers them.

Each execution of a run is one workflow. Step outputs are recorded only in our own tables, because a run's plan may
change but the steps of a DBOS workflow may not (decision 0563). The workflows of a dead process are moved to a queue
that all servers share.

A process is considered alive while its connection holds a shared advisory lock on the process name. Each claim
increments the run's ``holder``, and records from an older holder are rejected.
"""

import asyncio
import logging
import os
import platform
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Final, TypeVar

import psycopg

from fingerpost.errors import ToolError
from fingerpost.plan.journal import Journal
from fingerpost.plan.records import RunState
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.runtime.extras import require_extra
from fingerpost.store.postgres import Database, DatabaseLost, is_lost, translate

if TYPE_CHECKING:
    from fingerpost.plan.engines.dbos_executor import DbosExecutor

_log = logging.getLogger(__name__)

_R = TypeVar("_R")

DEAD_AFTER_S: Final = 10.0
"""A process that has not held its lock for this long is considered dead; before that, it is only disconnected."""

_CHECK_INTERVAL_S = 1.0
_FIRST_BACKOFF_S = 0.05
_MAX_BACKOFF_S = 1.0
_MAX_READ_WAIT_S = 10.0
_MAX_WRITE_WAIT_S = 30.0

GRANTED_LOCKS = """
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_catalog.pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
"""
"""The granted locks; a process is alive if ``hashtextextended`` of its name is among them."""
IS_LEASED = f"(worker IS NOT NULL AND hashtextextended(worker, 0) IN ({GRANTED_LOCKS}))"
"""A condition on a row of ``plan_run``."""
_LIST_DEAD = f"SELECT name FROM unnest(%s::text[]) name WHERE hashtextextended(name, 0) NOT IN ({GRANTED_LOCKS})"  # noqa: S608

# A worker name left in the row belongs to a process that died during the run.
_CLAIM = f"""
    UPDATE plan_run SET holder = holder + 1, worker = %s, takeovers = takeovers + (worker IS NOT NULL)::integer
    WHERE id = %s AND NOT {IS_LEASED} RETURNING holder
"""  # noqa: S608  (constants)
_EXISTS = "SELECT 1 FROM plan_run WHERE id = %s"
_RELEASE = "UPDATE plan_run SET worker = NULL, takeovers = 0 WHERE id = %s AND holder = %s"


@cache
def name_process() -> str:
    """Return a unique name for this process."""
    return f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


class DbosSession:
    """A process's connection to the shared database; see ``journal.JournalSession``."""

    def __init__(self, database: Database, process: str) -> None:
        self._database = database
        self._process = process
        self._connection: psycopg.Connection | None = None
        self._holders: dict[str, int] = {}
        self._released: dict[str, int] = {}
        self._is_stopped = threading.Event()

    def transact(self, act: Callable[[psycopg.Connection], _R], *, is_write: bool = False) -> _R:
        max_wait_s = _MAX_WRITE_WAIT_S if is_write else _MAX_READ_WAIT_S
        return self._retry_while_lost(lambda: self._transact_once(act), max_wait_s)

    def find_lost_runs(self, connection: psycopg.Connection, run_ids: Collection[str]) -> Collection[str]:
        """Lock the runs' rows in order, to avoid deadlocks; return runs that were deleted or claimed elsewhere."""
        rows = connection.execute(
            "SELECT id, holder FROM plan_run WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (sorted(run_ids),)
        ).fetchall()
        current: dict[str, int] = dict(rows)
        return {
            run_id
            for run_id in run_ids
            if run_id not in current or self._holders.get(run_id, current[run_id]) != current[run_id]
        }

    def claim(self, run_id: str) -> bool:
        """Claim a run; return False if a living process is executing it. A run that is not stored can be claimed."""
        holder: int | None = None

        def write_claim(connection: psycopg.Connection) -> bool:
            nonlocal holder
            row = connection.execute(_CLAIM, (self._process, run_id)).fetchone()
            holder = None if row is None else row[0]
            return row is not None or not connection.execute(_EXISTS, (run_id,)).fetchone()

        def attempt() -> bool:
            try:
                return self._transact_once(write_claim)
            except DatabaseLost:
                if holder is not None:
                    # The claim may be committed although the reply was lost, so release it.
                    self._released[run_id] = holder
                raise

        is_claimed = self._retry_while_lost(attempt, _MAX_READ_WAIT_S)
        if holder is not None:
            self._holders[run_id] = holder
        return is_claimed

    def release(self, run_id: str) -> None:
        """End a claim. If the database cannot be reached, the claim is released before the next transaction."""
        if (holder := self._holders.pop(run_id, None)) is not None:
            self._released[run_id] = holder
        self.transact(lambda _connection: None)

    def stop_waiting(self) -> None:
        self._is_stopped.set()

    def _retry_while_lost(self, act: Callable[[], _R], max_wait_s: float) -> _R:
        """Retry a function while the database cannot be reached: immediately, then with exponential backoff."""
        deadline = time.monotonic() + max_wait_s
        wait_s = 0.0
        while True:
            try:
                return act()
            except DatabaseLost as error:
                if self._is_stopped.is_set() or time.monotonic() + wait_s > deadline:
                    raise
                _log.warning("the journal lost its connection: %s", error.message)
                self._is_stopped.wait(wait_s)
                wait_s = min(max(2 * wait_s, _FIRST_BACKOFF_S), _MAX_BACKOFF_S)

    def _transact_once(self, act: Callable[[psycopg.Connection], _R]) -> _R:
        connection = self._connect()
        try:
            while self._released:
                run_id, holder = next(iter(self._released.items()))
                connection.execute(_RELEASE, (run_id, holder))
                del self._released[run_id]
            with connection.transaction():
                result = act(connection)
        except psycopg.Error as error:
            if is_lost(error, connection):
                self._disconnect()
                raise DatabaseLost from error
            raise translate(error, connection) from error
        if connection.closed:
            # psycopg raises no error if the connection is lost at the end of a transaction.
            raise DatabaseLost
        return result

    def _connect(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            connection = self._database.connect()
            try:
                connection.execute("SELECT pg_advisory_lock_shared(hashtextextended(%s, 0))", (self._process,))
            except psycopg.Error as error:
                connection.close()
                raise translate(error, connection) from error
            self._connection = connection
        return self._connection

    def close(self) -> None:
        """Release all claims and disconnect. Otherwise another journal of this process would keep the claims alive."""
        self._released |= self._holders
        self._holders.clear()
        if self._connection is not None:
            with suppress(ToolError):
                self._transact_once(lambda _connection: None)
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class DbosJournal(Journal):
    """A journal in the shared database; the first run launches DBOS, whose tables are in ``schema``."""

    def __init__(self, database: Database, *, schema: str | None = None, dead_after_s: float = DEAD_AFTER_S) -> None:
        super().__init__()
        self._database = database
        self._process = name_process()
        self._session: DbosSession | None = None
        self._schema = schema or f"{database.schema}_dbos"
        self._dead_after_s = dead_after_s
        self._executor: DbosExecutor | None = None
        self._is_recovering = False

    @asynccontextmanager
    async def lease(self, run_id: str) -> AsyncIterator[bool]:
        writer, session = self._get_writer(), self._session
        assert session is not None
        release = partial(session.release, run_id)
        claim = writer.submit(partial(session.claim, run_id))

        def release_late_claim(late: "asyncio.Future[bool]") -> None:
            if not (late.cancelled() or late.exception() or writer.is_closed) and late.result():
                writer.submit(release)

        try:
            is_claimed = await asyncio.shield(claim)
        except asyncio.CancelledError:
            # If the claim still succeeds, release it. Closing the writer also releases all claims.
            claim.add_done_callback(release_late_claim)
            raise
        try:
            yield is_claimed
        finally:
            if is_claimed:
                try:
                    await writer.drain()
                finally:
                    await asyncio.shield(writer.submit(release))

    async def is_leased(self, run_id: str) -> bool:
        return await self._select(f"SELECT {IS_LEASED} FROM plan_run WHERE id = %s", run_id) == [(True,)]  # noqa: S608

    async def execute_run(self, run_id: str) -> RunState:
        return await (await self.launch()).execute_run(run_id)

    async def launch(self) -> "DbosExecutor":
        """Start DBOS unless it is already running; starting it takes several seconds."""
        if self._executor is not None:
            return self._executor
        # Connect first, so that database errors get our own messages.
        await self._transact(lambda connection: connection.execute("SELECT 1"))
        reason = "FINGERPOST_DATABASE_URL is set, but DBOS is not installed"
        await run_in_thread(require_extra, "scale", reason, "dbos")
        # Import DBOS only to execute runs, because the import takes 2 s.
        from fingerpost.plan.engines.dbos_executor import DbosExecutor

        if self._executor is None:
            executor = DbosExecutor(self._database.url, self._schema, super().execute_run)
            executor.enter(is_recovering=self._is_recovering)
            self._executor = executor
        return self._executor

    @asynccontextmanager
    async def recovering(self) -> AsyncIterator[None]:
        """During the block, recover the runs of dead processes, and let other processes recover this process's runs."""
        self._is_recovering = True
        task = asyncio.create_task(self._recover(), name="recovery of plan runs")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    def close(self) -> None:
        super().close()
        if self._executor is not None:
            self._executor.leave()
            self._executor = None

    def _new_session(self) -> DbosSession:
        self._session = DbosSession(self._database, self._process)
        return self._session

    async def _recover(self) -> None:
        absent_since: dict[str, float] = {}
        while True:
            now_s = asyncio.get_running_loop().time()
            try:
                executor = await self.launch()
                dead = await self._list_dead(executor)
                absent_since = {name: absent_since.get(name, now_s) for name in dead}
                due = [name for name, start_s in absent_since.items() if now_s - start_s >= self._dead_after_s]
                if due:
                    requeue = partial(executor.requeue, executors=due)
                    await run_in_thread(self._database.change, requeue, lock="recover plan runs")
            except ToolError as error:
                # All processes may have lost the database at once, so restart the absence timers.
                absent_since.clear()
                _log.warning("dead processes cannot be detected: %s", error.message)
            await asyncio.sleep(_CHECK_INTERVAL_S)

    async def _list_dead(self, executor: "DbosExecutor") -> list[str]:
        processes = sorted(await run_in_thread(executor.list_busy_servers) - {self._process})
        return [row[0] for row in await self._select(_LIST_DEAD, processes)]
