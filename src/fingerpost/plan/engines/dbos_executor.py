"""Execute plan runs as DBOS workflows; DBOS uses one database, and runs until the last journal closes.

A process can have only one DBOS instance, so a program that already uses DBOS cannot run plans on DBOS. Three DBOS
defaults are overridden, because they are unsafe or lose runs: a version per release, pickle as the serializer, and one
executor name for all processes.
"""

import asyncio
import logging
import re
import uuid
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import psycopg
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, error
from sqlalchemy.exc import SQLAlchemyError

from fingerpost.errors import SettingsInvalid, StorageUnavailable, ToolError
from fingerpost.plan.engines.dbos import IS_LEASED, name_process
from fingerpost.plan.records import PROTOCOL, ExecuteRun, RunState

_log = logging.getLogger(__name__)

MAX_TAKEOVERS: Final = 3
"""After this many consecutive process deaths, a run stays interrupted, because the run may be the cause."""
VERSION: Final = "fingerpost-plans"
"""Records have their own version (``records.PROTOCOL``), so DBOS sees one constant version."""

# Runs of executors with this prefix are not recovered: a run interrupted at a terminal stays interrupted.
_COMMAND_PREFIX = "command-"
_CONNECTIONS = 8
_WORKER_CONCURRENCY = 20
# A process that hangs in a transaction loses its locks after this time.
_IDLE_TRANSACTION_S = 5.0
_POLL_S = 0.5
_ADDRESS = re.compile(r"connection to server at.*|connection failed.*", re.IGNORECASE | re.DOTALL)
# The queue is versioned, because older programs must not execute runs with a newer protocol.
_QUEUE = f"fingerpost-plans-{PROTOCOL}"
_LIST_RUNS = f"""
    SELECT id, protocol > %s, state = 'running' AND takeovers < %s AND NOT {IS_LEASED} FROM plan_run WHERE id = ANY(%s)
"""  # noqa: S608  (constants)

_active: "list[DbosExecutor]" = []


class DbosExecutor:
    """Executes the runs of one journal; DBOS keeps its tables in ``schema`` of the database at ``url``."""

    def __init__(self, url: str, schema: str, execute_run: ExecuteRun) -> None:
        self.database_key = (url, schema)
        self._execute_run = execute_run
        # Keyed by workflow id. Each future resolves to the task that executes the run, once DBOS has started the
        # workflow.
        self._started: dict[str, asyncio.Future[asyncio.Task[RunState]]] = {}

    def enter(self, *, is_recovering: bool) -> None:
        """Launch DBOS on the running loop if needed; the executor that entered last takes runs from the queue.

        Unless ``is_recovering`` is true, this process takes no runs from the queue, and its own runs are not recovered.
        """
        if any(other.database_key != self.database_key for other in _active):
            raise SettingsInvalid("This program is already running plans on another database")
        if not _active:
            _launch(*self.database_key, is_recovering=is_recovering)
        if self not in _active:
            _active.append(self)

    def leave(self) -> None:
        """Stop DBOS if no executor remains; unfinished executions can be resumed from their last record."""
        _active.remove(self)
        if _active:
            return
        DBOS.destroy()
        try:
            # DBOS replaced the loop's default executor with its own threads, which have ended.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="fingerpost"))
        except RuntimeError:
            return

    async def execute_run(self, run_id: str) -> RunState:
        workflow_id = f"{run_id}:{uuid.uuid4().hex[:12]}"
        started = self._started[workflow_id] = asyncio.get_running_loop().create_future()
        try:
            with SetWorkflowID(workflow_id):
                handle = await DBOS.start_workflow_async(_get_workflow(), run_id)
            task: asyncio.Task[RunState] = await started
            state = await task
            # Wait until DBOS has recorded the end of the workflow.
            await handle.get_result()
        finally:
            del self._started[workflow_id]
        return state

    async def run_in_workflow(self, run_id: str) -> str:
        task = asyncio.ensure_future(self._execute_run(run_id))
        if (started := self._started.get(DBOS.workflow_id or "")) is not None:
            if started.done():
                # The caller was cancelled before the workflow started.
                task.cancel()
            else:
                started.set_result(task)
        try:
            return await task
        except ToolError as refusal:
            return f"refused: {refusal.message}"

    def list_busy_servers(self) -> set[str]:
        """Return the processes with pending runs, except command-line processes, whose runs are not recovered."""
        matches = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
        names = {workflow.executor_id for workflow in matches if workflow.executor_id}
        return {name for name in names if not name.startswith(_COMMAND_PREFIX)}

    def requeue(self, connection: psycopg.Connection, executors: Collection[str]) -> None:
        """Move the runs of dead executors to the shared queue; the caller must hold the recovery lock."""
        matches = DBOS.list_workflows(
            status="PENDING", executor_id=list(executors), load_input=False, load_output=False
        )
        workflows = {workflow.workflow_id: workflow.workflow_id.partition(":")[0] for workflow in matches}
        latest = {run_id: workflow_id for workflow_id, run_id in workflows.items()}
        # All other workflows are obsolete: their runs ended, were resumed manually, or crashed too many processes.
        obsolete = set(workflows)
        for run_id, is_newer, is_abandoned in connection.execute(_LIST_RUNS, (PROTOCOL, MAX_TAKEOVERS, sorted(latest))):
            if is_newer:
                obsolete -= {workflow_id for workflow_id in workflows if workflows[workflow_id] == run_id}
            elif is_abandoned:
                _log.warning("run=%s is being recovered from a process that died", run_id)
                DBOS.resume_workflows([latest[run_id]], queue_name=_QUEUE)
                obsolete.remove(latest[run_id])
        if obsolete:
            DBOS.cancel_workflows(sorted(obsolete))


def _launch(url: str, schema: str, *, is_recovering: bool) -> None:
    _route_log()
    executor = name_process() if is_recovering else f"{_COMMAND_PREFIX}{name_process()}"
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
        raise SettingsInvalid("This program already uses DBOS itself, so plans cannot use it too")
    try:
        _get_workflow()
        DBOS.listen_queues([_QUEUE] if is_recovering else [])
        DBOS.launch()
        if is_recovering:
            # Use another thread, because DBOS refuses to register queues in a thread with a running loop.
            with ThreadPoolExecutor(max_workers=1) as thread:
                thread.submit(
                    DBOS.register_queue,
                    _QUEUE,
                    worker_concurrency=_WORKER_CONCURRENCY,
                    polling_interval_sec=_POLL_S,
                    on_conflict="always_update",
                ).result()
    except (SQLAlchemyError, error.DBOSException, OSError) as cause:
        DBOS.destroy()
        raise StorageUnavailable(f"DBOS could not be started on the database: {type(cause).__name__}") from None


@cache
def _get_workflow() -> Any:
    """Return the workflow that executes a run; DBOS records the workflow's name, so this name must never change."""

    async def execute_run_here(run_id: str) -> str:
        return await _active[-1].run_in_workflow(run_id)

    return DBOS.workflow(name="carry_on_run")(execute_run_here)


def _route_log() -> None:
    """Route DBOS's log to ours instead of the terminal, and remove the database's address from messages."""
    log = logging.getLogger("dbos")
    if not any(isinstance(handler, logging.NullHandler) for handler in log.handlers):
        log.addHandler(logging.NullHandler())
        log.addFilter(_hide_address)


def _hide_address(record: logging.LogRecord) -> bool:
    record.msg = _ADDRESS.sub("the database cannot be reached", record.getMessage())
    record.args = None
    record.exc_info = None
    return True
