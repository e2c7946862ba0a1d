"""The journal on DBOS: runs are recorded in PostgreSQL, and DBOS executes them, keeps their steps and recovers them.

Each time that a run is carried on is one workflow, and each tool's call one step of it, under an id that is reserved in
the plan's order before any begins: so an outcome that was kept, and not yet recorded, is found again after a crash.
A workflow belongs to one process at a time; DBOS refuses what an earlier one keeps, and the journal what it records.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fingerpost.errors import SettingsInvalid, ToolError
from fingerpost.plan.engines.dbos_program import DbosProgram, program_of, queue_of, workflow
from fingerpost.plan.engines.group_commit import TAKEN_OVER
from fingerpost.plan.engines.heartbeat import Heartbeat, name_process, process_of
from fingerpost.plan.engines.postgres import PostgresJournal
from fingerpost.plan.journal import AbandonedRun, CarryOn, Checkpoints, JournalFailed, RunState
from fingerpost.store.postgres.advisory import key_of
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg
    from dbos import StepReservation

_REFUSED = "refused: "
_RAISED = "null"


@dataclass(slots=True)
class _Execution:
    """A run that this process began, and the task that executes it once DBOS has begun its workflow."""

    carry_on: CarryOn
    ended: "asyncio.Future[RunState]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    task: "asyncio.Task[RunState] | None" = None


class DbosJournal(PostgresJournal):
    """A journal in the shared database whose runs DBOS executes; it is launched with the first of them.

    DBOS has its tables in a schema of its own, ``schema``, which is named after the journal's where it is not given.
    """

    def __init__(self, database: Database, heartbeat: Heartbeat | None = None, *, schema: str | None = None) -> None:
        super().__init__(database, heartbeat)
        self._schema = schema or f"{database.schema}_dbos"
        self._begun: dict[str, _Execution] = {}
        self._program: DbosProgram | None = None

    async def carry_out(self, run_id: str, carry_on: CarryOn) -> RunState:
        """Execute a run in this process, as a workflow that another carries on if this one dies."""
        await self.launch()
        from dbos import DBOS, SetWorkflowID

        workflow_id = f"{run_id}:{uuid.uuid4().hex[:12]}"
        begun = self._begun[workflow_id] = _Execution(carry_on)
        try:
            with SetWorkflowID(workflow_id):
                handle = await DBOS.start_workflow_async(workflow(), run_id)
            state = await asyncio.shield(begun.ended)
            # Its end is kept before anybody hears of it; who lost the run would wait here for the other's.
            await handle.get_result()
        except asyncio.CancelledError:
            if begun.task is not None:
                begun.task.cancel()
                await asyncio.wait([begun.task])
            raise
        finally:
            self._begun.pop(workflow_id, None)
            if begun.ended.done() and not begun.ended.cancelled():
                begun.ended.exception()
        return state

    async def launch(self) -> None:
        """Launch DBOS on the running loop, unless it runs.

        Raises:
            SettingsInvalid, StorageUnavailable: it cannot be launched.
        """
        if self._program is not None:
            return
        # What is wrong with the database is said as by every other journal; the import takes a second.
        await asyncio.to_thread(self._database.read, lambda connection: connection.execute("SELECT 1").fetchone())
        await asyncio.to_thread(_import_dbos)
        if self._program is None:
            program = program_of(self._database.url, self._schema, name_process())
            program.enter(self._execute, takes_over=self.heartbeat.is_meant_to_beat)
            self._program = program

    async def revive(self, abandoned: AbandonedRun) -> bool:
        """Put the workflow of a dead worker's run on the queue of all workers; False where it had none."""
        await self.launch()
        return await asyncio.to_thread(self._database.change, lambda connection: _revive(connection, abandoned))

    def reserve(self, step_ids: Sequence[int]) -> Checkpoints:
        """Reserve one step of the workflow for each of the plan's, in its order."""
        from dbos import DBOS

        return _Steps({step_id: DBOS.reserve_step() for step_id in step_ids})

    async def forget_before(self, at: str) -> int:
        """Remove runs that ended before an instant, and what DBOS has kept of them."""
        forgotten = await self._forget(at)
        if forgotten:
            await self.launch()
            await asyncio.to_thread(_delete_workflows, forgotten)
        return len(forgotten)

    def close(self) -> None:
        """Leave DBOS, and close the journal."""
        super().close()
        program, self._program = self._program, None
        if program is not None:
            program.leave(self._execute)

    async def _execute(self, run_id: str) -> str:
        """Execute a run as the body of its workflow: one that was begun here, or one from the queue."""
        from dbos import DBOS

        begun = self._begun.get(DBOS.workflow_id or "")
        carry_on = self._attached if begun is None else begun.carry_on
        assert carry_on is not None
        task = asyncio.ensure_future(carry_on(run_id))
        if begun is not None:
            begun.task = task
        try:
            state = await task
        except ToolError as error:
            if begun is not None:
                begun.ended.set_exception(error)
            return f"{_REFUSED}{error.message}"
        if begun is not None:
            begun.ended.set_result(state)
        return state


class _Steps:
    """The reserved steps of one workflow; see ``journal.Checkpoints``."""

    def __init__(self, reserved: "Mapping[int, StepReservation]") -> None:
        self._reserved = reserved

    async def run(self, step_id: int, act: Callable[[], Awaitable[str]]) -> str:
        from dbos import error as dbos_error

        raised: list[BaseException] = []

        async def act_once() -> str:
            # As a checkpoint an error would lose its class, so DBOS hears of none, and it is raised again below.
            task = asyncio.ensure_future(act())
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.wait([task])
                raise
            error = task.exception()
            if error is None:
                return task.result()
            raised.append(error)
            return _RAISED

        try:
            text: str = await self._reserved[step_id].run_async({"name": f"step-{step_id}"}, act_once)
        except dbos_error.DBOSWorkflowConflictIDError as error:
            raise JournalFailed(TAKEN_OVER) from error
        if raised:
            raise raised[0]
        # An error of before the crash: whether it comes again is seen by trying again.
        return await act() if text == _RAISED else text


def _revive(connection: "psycopg.Connection", abandoned: AbandonedRun) -> bool:
    """Hand a dead process's workflow over to the queue; of several that look at once the first does it."""
    from dbos import DBOS

    connection.execute("SELECT pg_advisory_xact_lock(%s)", (key_of("revive", abandoned.run_id),))
    found = DBOS.list_workflows(
        workflow_id_prefix=f"{abandoned.run_id}:", status=["PENDING", "ENQUEUED"], load_input=False, load_output=False
    )
    if not found:
        return False
    *older, last = found
    if older:
        # Whoever resumed the run by hand began another one; only the last is its execution.
        DBOS.cancel_workflows([each.workflow_id for each in older])
    if last.status == "PENDING" and last.executor_id == process_of(abandoned.worker):
        DBOS.resume_workflows([last.workflow_id], queue_name=queue_of(abandoned.protocol))
    return True


def _delete_workflows(run_ids: Sequence[str]) -> None:
    from dbos import DBOS

    found = DBOS.list_workflows(
        workflow_id_prefix=[f"{run_id}:" for run_id in run_ids], load_input=False, load_output=False
    )
    if found:
        DBOS.delete_workflows([each.workflow_id for each in found])


def _import_dbos() -> None:
    """Import DBOS ahead of its use on the loop.

    Raises:
        SettingsInvalid: the extra is not installed.
    """
    try:
        import dbos  # noqa: F401  (whoever asks imports it again)
    except ImportError as error:
        raise SettingsInvalid(
            "FINGERPOST_PLAN_ENGINE is dbos, and DBOS is not installed: pip install 'fingerpost[scale]'"
        ) from error
