"""The DBOS of this process: launched for one database, and left when its last journal is closed.

DBOS is one for a process, so a program that runs DBOS for itself cannot have plans on it beside that.
Three of its defaults would strand or endanger a run.
The version changes with each release and leaves the runs of the older one behind, so it is pinned.
The serializer is pickle, which runs what it reads, so it is JSON.
The executor's name is the same for all processes, so each has one of its own.
"""

import asyncio
import logging
import os
import platform
import re
import threading
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from fingerpost.errors import SettingsInvalid, StorageUnavailable
from fingerpost.plan.records import PROTOCOL

if TYPE_CHECKING:
    from dbos import DBOSConfig

Workflow = Callable[[str], Awaitable[str]]
"""Executes the run of an id, and says how it stands or why it was refused."""

NAME: Final = "fingerpost"
COMMAND: Final = "command-"
"""The name of an executor whose runs are not recovered begins so: a run interrupted at a terminal stays so."""
VERSION: Final = "fingerpost-plans"
"""What is recorded has a version of its own (``records.PROTOCOL``); to DBOS all of ours are one."""

_CONNECTIONS = 8
_WORKERS_SHARE = 20
# A process that hangs inside a transaction keeps its locks for so long.
_IDLE_TRANSACTION_S = 5.0
_POLL_S = 0.5
_WHERE = re.compile(r"connection to server at.*|connection failed.*", re.IGNORECASE | re.DOTALL)


_entered: dict[Workflow, tuple[str, str]] = {}
"""The journals that use DBOS, in order, with the address and schema of its database."""


def enter(url: str, schema: str, execute: Workflow, *, is_recovering: bool) -> None:
    """Launch DBOS on the running loop, unless it runs; the last to enter executes runs from the queue.

    ``url`` holds a password; DBOS keeps its tables in ``schema``.
    A process that is not recovering takes no runs from the queue, and its own are left interrupted if it dies.
    """
    if any(place != (url, schema) for place in _entered.values()):
        raise SettingsInvalid("This program runs plans on another database already")
    if not _entered:
        _launch(url, schema, is_recovering=is_recovering)
    _entered[execute] = (url, schema)


def leave(execute: Workflow) -> None:
    """End DBOS with the last journal that leaves; running executions stop at their last record."""
    del _entered[execute]
    if _entered:
        return
    from dbos import DBOS

    DBOS.destroy()
    try:
        # DBOS made its own threads the loop's default executor, and they have ended.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="fingerpost"))
    except RuntimeError:
        return


def _launch(url: str, schema: str, *, is_recovering: bool) -> None:
    from dbos import DBOS, error
    from sqlalchemy.exc import SQLAlchemyError

    _route_log()
    executor = name_process() if is_recovering else f"{COMMAND}{name_process()}"
    DBOS(config=_config(url, schema, executor))
    if DBOS.executor_id != executor:
        raise SettingsInvalid("This program runs DBOS for itself, so plans cannot use it too")
    try:
        workflow()
        DBOS.listen_queues(list_queues() if is_recovering else [])
        DBOS.launch()
        if is_recovering:
            for name in list_queues():
                _register_queue(name)
    except (SQLAlchemyError, error.DBOSException, OSError) as failed:
        DBOS.destroy()
        raise StorageUnavailable(f"DBOS could not be started on the database: {type(failed).__name__}") from None


@cache
def name_process() -> str:
    """Return the name of this process, which no other ever has."""
    return f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def queue_of(protocol: int) -> str:
    """Return the queue for runs of a protocol; older programs do not listen to it."""
    return f"fingerpost-plans-{protocol}"


def list_queues() -> list[str]:
    return [queue_of(protocol) for protocol in range(1, PROTOCOL + 1)]


async def _carry_on_run(run_id: str) -> str:
    return await next(reversed(_entered))(run_id)


@cache
def workflow() -> Any:
    """Return the workflow that executes a run; its name is part of every record, so it never changes."""
    from dbos import DBOS

    return DBOS.workflow(name="carry_on_run")(_carry_on_run)


def _config(url: str, schema: str, executor: str) -> "DBOSConfig":
    from dbos import DBOSPortableJSONSerializer

    return {
        "name": NAME,
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


def _register_queue(name: str) -> None:
    from dbos import DBOS

    # DBOS refuses to be asked where a loop runs.
    asking = threading.Thread(
        target=lambda: DBOS.register_queue(
            name, worker_concurrency=_WORKERS_SHARE, polling_interval_sec=_POLL_S, on_conflict="always_update"
        )
    )
    asking.start()
    asking.join()


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
