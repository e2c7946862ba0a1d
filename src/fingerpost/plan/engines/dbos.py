"""Plan runs on DBOS over PostgreSQL: DBOS executes them, spreads them over processes and recovers them.

Each execution of a run is one workflow. What its steps return is recorded once, in our own tables, because a plan may
change while DBOS's steps may not (decision 0563). The workflows of a dead process go to a queue that all servers share.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from fingerpost.errors import ToolError
from fingerpost.plan.engines.dbos_program import COMMAND, enter, leave, name_process, queue_of, workflow
from fingerpost.plan.engines.dbos_session import IS_HELD, LIVING, DbosSession
from fingerpost.plan.journal import Journal
from fingerpost.plan.records import PROTOCOL, RunState
from fingerpost.runtime.extras import require_extra
from fingerpost.store.postgres import Database

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

DEAD_AFTER_S: Final = 10.0
"""A process whose lock is gone for so long is dead; a shorter absence is a connection that was cut."""
MOST_TAKEOVERS: Final = 3
"""A run that so many processes in a row died of is left as interrupted: it may be what kills them."""

_LOOK_S = 1.0

_FIND_DEAD = f"SELECT name FROM unnest(%s::text[]) name WHERE hashtextextended(name, 0) NOT IN ({LIVING})"  # noqa: S608
_LIST_ABANDONED = f"""
    SELECT id, protocol FROM plan_run
    WHERE id = ANY(%s) AND state = 'running' AND takeovers < %s AND protocol <= %s AND NOT {IS_HELD}
"""  # noqa: S608  (constants)
_LIST_NEWER = "SELECT id FROM plan_run WHERE id = ANY(%s) AND protocol > %s"


class DbosJournal(Journal):
    """A journal in the shared database whose runs DBOS executes; DBOS is launched with the first of them.

    DBOS has its tables in ``schema``, which is named after the journal's by default.
    """

    def __init__(self, database: Database, *, schema: str | None = None, dead_after_s: float = DEAD_AFTER_S) -> None:
        super().__init__()
        self._database = database
        self._process = name_process()
        self._session: DbosSession | None = None
        self._schema = schema or f"{database.schema}_dbos"
        self._dead_after_s = dead_after_s
        # By workflow: resolves to the task that executes the run once DBOS has begun its workflow.
        self._begun: dict[str, asyncio.Future[asyncio.Task[RunState]]] = {}
        self._is_launched = False
        self._is_recovering = False

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        writer, session = self._writing(), self._session
        assert session is not None
        claiming = writer.do(lambda: session.claim(run_id))
        try:
            is_ours = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The claim may still succeed a moment later, and nobody would release it then.
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

    async def carry_out(self, run_id: str) -> RunState:
        """Execute a run in this process, as a workflow that another process recovers if this one dies."""
        await self.launch()
        from dbos import DBOS, SetWorkflowID

        workflow_id = f"{run_id}:{uuid.uuid4().hex[:12]}"
        begun = self._begun[workflow_id] = asyncio.get_running_loop().create_future()
        try:
            with SetWorkflowID(workflow_id):
                handle = await DBOS.start_workflow_async(workflow(), run_id)
            task: asyncio.Task[RunState] = await begun
            state = await task
            # DBOS records the end before the caller hears of it.
            await handle.get_result()
        finally:
            del self._begun[workflow_id]
        return state

    async def launch(self) -> None:
        if self._is_launched:
            return
        # Connect first: errors of the database are then reported in our own words.
        await self._ask(lambda connection: connection.execute("SELECT 1"))
        await asyncio.to_thread(
            require_extra, "scale", "FINGERPOST_DATABASE_URL is set, and DBOS is not installed", "dbos"
        )
        if not self._is_launched:
            enter(self._database.url, self._schema, self._execute, is_recovering=self._is_recovering)
            self._is_launched = True

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

    async def forget_before(self, at: str) -> int:
        forgotten = await self._forget(at)
        if forgotten:
            await self.launch()
            await asyncio.to_thread(_delete_workflows, forgotten)
        return len(forgotten)

    def close(self) -> None:
        super().close()
        if self._is_launched:
            self._is_launched = False
            leave(self._execute)

    def _new_session(self) -> DbosSession:
        self._session = DbosSession(self._database, self._process)
        return self._session

    @contextmanager
    def _transaction(self, connection: "psycopg.Connection", *, writes: bool) -> Iterator[None]:
        with connection.transaction():
            if not writes:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    async def _execute(self, run_id: str) -> str:
        from dbos import DBOS

        assert self._attached is not None
        task = asyncio.ensure_future(self._attached(run_id))
        if (begun := self._begun.get(DBOS.workflow_id or "")) is not None:
            if begun.done():
                # The caller was cancelled before the workflow began.
                task.cancel()
            else:
                begun.set_result(task)
        try:
            return await task
        except ToolError as error:
            return f"refused: {error.message}"

    async def _recover(self) -> None:
        absent_since: dict[str, float] = {}
        while True:
            now_s = asyncio.get_running_loop().time()
            try:
                await self.launch()
                dead = await self._list_dead()
                absent_since = {name: absent_since.get(name, now_s) for name in dead}
                due = [name for name, since_s in absent_since.items() if now_s - since_s >= self._dead_after_s]
                if due:
                    hand_over = partial(_hand_over, executors=due)
                    await asyncio.to_thread(self._database.change, hand_over, lock="recover plan runs")
            except ToolError as error:
                # All processes may have been cut off at once: their absence counts from the next look.
                absent_since.clear()
                _log.warning("dead processes cannot be looked for: %s", error.message)
            await asyncio.sleep(_LOOK_S)

    async def _list_dead(self) -> list[str]:
        pending = await asyncio.to_thread(_list_pending)
        names = sorted({each for each in pending if not each.startswith(COMMAND)} - {self._process})
        if not names:
            return []
        rows = await self._ask(lambda connection: connection.execute(_FIND_DEAD, (names,)).fetchall())
        return [row[0] for row in rows]


def _list_pending() -> set[str]:
    from dbos import DBOS

    found = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    return {each.executor_id for each in found if each.executor_id}


def _hand_over(connection: "psycopg.Connection", executors: Collection[str]) -> None:
    """Put the runs of dead executors on the queue of all servers; of several processes one does it."""
    from dbos import DBOS

    found = DBOS.list_workflows(status="PENDING", executor_id=list(executors), load_input=False, load_output=False)
    workflows = {each.workflow_id: each.workflow_id.partition(":")[0] for each in found}
    latest = {run_id: workflow_id for workflow_id, run_id in workflows.items()}
    run_ids = sorted(latest)
    abandoned = connection.execute(_LIST_ABANDONED, (run_ids, MOST_TAKEOVERS, PROTOCOL)).fetchall()
    newer = {row[0] for row in connection.execute(_LIST_NEWER, (run_ids, PROTOCOL)).fetchall()}
    resumed = set()
    for run_id, protocol in abandoned:
        _log.warning("run=%s is recovered from a process that died", run_id)
        DBOS.resume_workflows([latest[run_id]], queue_name=queue_of(protocol))
        resumed.add(latest[run_id])
    # The others have ended, were resumed by hand, or killed too many processes.
    if over := [each for each, run_id in workflows.items() if each not in resumed and run_id not in newer]:
        DBOS.cancel_workflows(over)


def _delete_workflows(run_ids: Sequence[str]) -> None:
    from dbos import DBOS

    found = DBOS.list_workflows(
        workflow_id_prefix=[f"{run_id}:" for run_id in run_ids], load_input=False, load_output=False
    )
    if found:
        DBOS.delete_workflows([each.workflow_id for each in found])


def _is_true(answer: "asyncio.Future[bool]") -> bool:
    return not answer.cancelled() and answer.exception() is None and answer.result()
