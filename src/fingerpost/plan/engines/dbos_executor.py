"""Execute plan runs as workflows of DBOS, which is launched for one database and ended with its last journal.

A process has one DBOS, so a program that uses DBOS itself cannot run plans on it. Three defaults of DBOS would strand
or endanger a run: a version that changes with each release, pickle as the serializer, and one executor name for all.
"""

import asyncio
import logging
import re
import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Final

import psycopg
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, error
from sqlalchemy.exc import SQLAlchemyError

from fingerpost.errors import SettingsInvalid, StorageUnavailable, ToolError
from fingerpost.plan.engines.dbos_session import IS_HELD, name_process
from fingerpost.plan.records import PROTOCOL, ExecuteRun, RunState

_log = logging.getLogger(__name__)

MAX_TAKEOVERS: Final = 3
"""A run that so many processes in a row died of is left as interrupted: it may be what kills them."""
VERSION: Final = "fingerpost-plans"
"""Records have their own version (``records.PROTOCOL``), so DBOS sees one constant version."""

# An executor whose name begins so is not recovered: a run interrupted at a terminal stays so.
_COMMAND = "command-"
_CONNECTIONS = 8
_WORKERS_SHARE = 20
# A process that hangs inside a transaction loses its locks after this time.
_IDLE_TRANSACTION_S = 5.0
_POLL_S = 0.5
_WHERE = re.compile(r"connection to server at.*|connection failed.*", re.IGNORECASE | re.DOTALL)
# Older programs do not listen to the queue of a newer protocol.
_QUEUE = f"fingerpost-plans-{PROTOCOL}"
_LIST_ABANDONED = f"""
    SELECT id FROM plan_run
    WHERE id = ANY(%s) AND state = 'running' AND takeovers < %s AND protocol <= %s AND NOT {IS_HELD}
"""  # noqa: S608  (constants)
_LIST_NEWER = "SELECT id FROM plan_run WHERE id = ANY(%s) AND protocol > %s"

_entered: "list[DbosExecutor]" = []


class DbosExecutor:
    """Executes the runs of one journal, whose database is at ``url``; DBOS has its tables in ``schema``."""

    def __init__(self, url: str, schema: str, execute_run: ExecuteRun) -> None:
        self.place = (url, schema)
        self._execute_run = execute_run
        # By workflow: resolves to the task that executes the run once DBOS has begun its workflow.
        self._begun: dict[str, asyncio.Future[asyncio.Task[RunState]]] = {}

    def enter(self, *, is_recovering: bool) -> None:
        """Launch DBOS on the running loop, unless it runs; the last to enter executes runs from the queue.

        A process that is not recovering takes no runs from the queue, and its own are left interrupted if it dies.
        """
        if any(other.place != self.place for other in _entered):
            raise SettingsInvalid("This program runs plans on another database already")
        if not _entered:
            _launch(*self.place, is_recovering=is_recovering)
        if self not in _entered:
            _entered.append(self)

    def leave(self) -> None:
        """End DBOS with the last journal that leaves; running executions stop at their last record."""
        _entered.remove(self)
        if _entered:
            return
        DBOS.destroy()
        try:
            # DBOS made its own threads the loop's default executor, and they have ended.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="fingerpost"))
        except RuntimeError:
            return

    async def execute_run(self, run_id: str) -> RunState:
        workflow_id = f"{run_id}:{uuid.uuid4().hex[:12]}"
        begun = self._begun[workflow_id] = asyncio.get_running_loop().create_future()
        try:
            with SetWorkflowID(workflow_id):
                handle = await DBOS.start_workflow_async(_workflow(), run_id)
            task: asyncio.Task[RunState] = await begun
            state = await task
            # DBOS records the end before the caller gets the state.
            await handle.get_result()
        finally:
            del self._begun[workflow_id]
        return state

    async def execute_workflow(self, run_id: str) -> str:
        task = asyncio.ensure_future(self._execute_run(run_id))
        if (begun := self._begun.get(DBOS.workflow_id or "")) is not None:
            if begun.done():
                # The caller was cancelled before the workflow began.
                task.cancel()
            else:
                begun.set_result(task)
        try:
            return await task
        except ToolError as refused:
            return f"refused: {refused.message}"

    def list_servers_at_work(self) -> set[str]:
        """Return the processes with pending runs, except commands, whose runs are not recovered."""
        found = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
        names = {workflow.executor_id for workflow in found if workflow.executor_id}
        return {name for name in names if not name.startswith(_COMMAND)}

    def hand_over(self, connection: psycopg.Connection, executors: Collection[str]) -> None:
        """Put the runs of dead executors on the queue of all servers; of several processes one does it."""
        found = DBOS.list_workflows(status="PENDING", executor_id=list(executors), load_input=False, load_output=False)
        workflows = {workflow.workflow_id: workflow.workflow_id.partition(":")[0] for workflow in found}
        latest = {run_id: workflow_id for workflow_id, run_id in workflows.items()}
        run_ids = sorted(latest)
        abandoned = connection.execute(_LIST_ABANDONED, (run_ids, MAX_TAKEOVERS, PROTOCOL)).fetchall()
        newer = {row[0] for row in connection.execute(_LIST_NEWER, (run_ids, PROTOCOL)).fetchall()}
        resumed = set()
        for (run_id,) in abandoned:
            _log.warning("run=%s is recovered from a process that died", run_id)
            DBOS.resume_workflows([latest[run_id]], queue_name=_QUEUE)
            resumed.add(latest[run_id])
        # The others have ended, were resumed by hand, or killed too many processes.
        over = [id_ for id_, run_id in workflows.items() if id_ not in resumed and run_id not in newer]
        if over:
            DBOS.cancel_workflows(over)

    def delete_workflows(self, run_ids: Sequence[str]) -> None:
        prefixes = [f"{run_id}:" for run_id in run_ids]
        found = DBOS.list_workflows(workflow_id_prefix=prefixes, load_input=False, load_output=False)
        if found:
            DBOS.delete_workflows([workflow.workflow_id for workflow in found])


def _launch(url: str, schema: str, *, is_recovering: bool) -> None:
    _route_log()
    executor = name_process() if is_recovering else f"{_COMMAND}{name_process()}"
    config: DBOSConfig = {
        "name": "fingerpost",
        "system_database_url": url,
        "dbos_system_schema": schema,
        "application_version": VERSION,
        "executor_id": executor,
        "serializer": DBOSPortableJSONSerializer(),
        "sys_db_pool_size": _CONNECTIONS,
        "sys_db_idle_transaction_timeout_sec": _IDLE_TRANSACTION_S,
        "enable_otlp": False,
        "log_level": "WARNING",
    }
    DBOS(config=config)
    if DBOS.executor_id != executor:
        raise SettingsInvalid("This program runs DBOS for itself, so plans cannot use it too")
    try:
        _workflow()
        DBOS.listen_queues([_QUEUE] if is_recovering else [])
        DBOS.launch()
        if is_recovering:
            register = partial(
                DBOS.register_queue,
                _QUEUE,
                worker_concurrency=_WORKERS_SHARE,
                polling_interval_sec=_POLL_S,
                on_conflict="always_update",
            )
            # Not in this thread: DBOS refuses to register queues where a loop runs.
            with ThreadPoolExecutor(max_workers=1) as thread:
                thread.submit(register).result()
    except (SQLAlchemyError, error.DBOSException, OSError) as failed:
        DBOS.destroy()
        raise StorageUnavailable(f"DBOS could not be started on the database: {type(failed).__name__}") from None


@cache
def _workflow() -> Any:
    """Return the workflow that executes a run; its name is part of every record, so it never changes."""

    async def carry_on_run(run_id: str) -> str:
        return await _entered[-1].execute_workflow(run_id)

    return DBOS.workflow(name="carry_on_run")(carry_on_run)


def _route_log() -> None:
    """Send DBOS's log to ours, without the database's address, instead of to the terminal."""
    log = logging.getLogger("dbos")
    if not any(isinstance(handler, logging.NullHandler) for handler in log.handlers):
        log.addHandler(logging.NullHandler())
        log.addFilter(_hide_address)


def _hide_address(record: logging.LogRecord) -> bool:
    record.msg = _WHERE.sub("the database cannot be reached", record.getMessage())
    record.args = None
    record.exc_info = None
    return True
