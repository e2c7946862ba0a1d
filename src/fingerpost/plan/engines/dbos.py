"""A journal for plan runs in PostgreSQL; DBOS distributes runs across processes and recovers them.

Each execution of a run is one workflow. Step outputs are recorded only in our own tables, because a run's plan may
change but the steps of a DBOS workflow may not (decision 0563). The workflows of a dead process are moved to a queue
that all servers share.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from fingerpost.errors import ToolError
from fingerpost.plan.engines.dbos_session import GRANTED_LOCKS, IS_LEASED, DbosSession, name_process
from fingerpost.plan.journal import Journal
from fingerpost.plan.records import RunState
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.runtime.extras import require_extra
from fingerpost.store.postgres import Database

if TYPE_CHECKING:
    from fingerpost.plan.engines.dbos_executor import DbosExecutor

_log = logging.getLogger(__name__)

DEAD_AFTER_S: Final = 10.0
"""A process that has not held its lock for this long is considered dead; before that, it is only disconnected."""

_CHECK_INTERVAL_S = 1.0

_LIST_DEAD = f"SELECT name FROM unnest(%s::text[]) name WHERE hashtextextended(name, 0) NOT IN ({GRANTED_LOCKS})"  # noqa: S608


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

    async def delete_ended_before(self, instant: str) -> list[str]:
        deleted = await super().delete_ended_before(instant)
        if deleted:
            executor = await self.launch()
            await run_in_thread(executor.delete_workflows, deleted)
        return deleted

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
