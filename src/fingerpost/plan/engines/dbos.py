"""Plan runs on DBOS over PostgreSQL: DBOS executes them, spreads them over processes and recovers them.

Each execution of a run is one workflow. What its steps return is recorded once, in our own tables, because a plan may
change while DBOS's steps may not (decision 0563). The workflows of a dead process go to a queue that all servers share.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from fingerpost.errors import ToolError
from fingerpost.plan.engines.dbos_session import IS_HELD, LIVING, DbosSession, name_process
from fingerpost.plan.journal import Journal
from fingerpost.plan.records import RunState
from fingerpost.runtime.extras import require_extra
from fingerpost.store.postgres import Database

if TYPE_CHECKING:
    from fingerpost.plan.engines.dbos_executor import DbosExecutor

_log = logging.getLogger(__name__)

DEAD_AFTER_S: Final = 10.0
"""A process whose lock is gone for so long is dead; a shorter absence is a connection that was cut."""

_LOOK_S = 1.0

_FIND_DEAD = f"SELECT name FROM unnest(%s::text[]) name WHERE hashtextextended(name, 0) NOT IN ({LIVING})"  # noqa: S608


class DbosJournal(Journal):
    """A journal in the shared database; DBOS, with its tables in ``schema``, is launched with the first run."""

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
        writer, session = self._writing(), self._session
        assert session is not None
        release = partial(session.release, run_id)
        claiming = writer.submit(partial(session.claim, run_id))
        try:
            is_ours = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The claim may still succeed a moment later, and nobody would release it then.
            claiming.add_done_callback(lambda claimed: _is_true(claimed) and writer.submit(release))
            raise
        try:
            yield is_ours
        finally:
            if is_ours:
                try:
                    await writer.drained()
                finally:
                    await asyncio.shield(writer.submit(release))

    async def is_leased(self, run_id: str) -> bool:
        query = f"SELECT {IS_HELD} FROM plan_run WHERE id = %s"  # noqa: S608  (constants)
        return await self._transact(lambda connection: connection.execute(query, (run_id,)).fetchone() == (True,))

    async def execute_run(self, run_id: str) -> RunState:
        return await (await self._launched()).execute_run(run_id)

    async def launch(self) -> None:
        await self._launched()

    async def _launched(self) -> "DbosExecutor":
        if self._executor is not None:
            return self._executor
        # Connect first: errors of the database are then reported in our own words.
        await self._transact(lambda connection: connection.execute("SELECT 1"))
        lack = "FINGERPOST_DATABASE_URL is set, and DBOS is not installed"
        await asyncio.to_thread(require_extra, "scale", lack, "dbos")
        # Importing DBOS takes 2 s, and only those who execute runs wait for it.
        from fingerpost.plan.engines.dbos_executor import DbosExecutor

        if self._executor is None:
            executor = DbosExecutor(self._database.url, self._schema, super().execute_run)
            executor.enter(is_recovering=self._is_recovering)
            self._executor = executor
        return self._executor

    @asynccontextmanager
    async def recovering(self) -> AsyncIterator[None]:
        """Recover the runs of dead processes, and let others recover this one's, during the block."""
        self._is_recovering = True
        task = asyncio.create_task(self._recover(), name="recovery of plan runs")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def forget_before(self, at: str) -> list[str]:
        forgotten = await super().forget_before(at)
        if forgotten:
            executor = await self._launched()
            await asyncio.to_thread(executor.delete_workflows, forgotten)
        return forgotten

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
                executor = await self._launched()
                dead = await self._list_dead(executor)
                absent_since = {name: absent_since.get(name, now_s) for name in dead}
                due = [name for name, since_s in absent_since.items() if now_s - since_s >= self._dead_after_s]
                if due:
                    hand_over = partial(executor.hand_over, executors=due)
                    await asyncio.to_thread(self._database.change, hand_over, lock="recover plan runs")
            except ToolError as error:
                # All processes may have been cut off at once: their absence counts from the next look.
                absent_since.clear()
                _log.warning("dead processes cannot be detected: %s", error.message)
            await asyncio.sleep(_LOOK_S)

    async def _list_dead(self, executor: "DbosExecutor") -> list[str]:
        names = sorted(await asyncio.to_thread(executor.list_servers_at_work) - {self._process})
        rows = await self._transact(lambda connection: connection.execute(_FIND_DEAD, (names,)).fetchall())
        return [row[0] for row in rows]


def _is_true(answer: "asyncio.Future[bool]") -> bool:
    return not answer.cancelled() and answer.exception() is None and answer.result()
