"""The PostgreSQL connection with which a journal writes records and claims runs for this process.

A process is considered alive while its connection holds a shared advisory lock on the process name. Each claim
increments the run's ``holder``, and records from an older holder are rejected.
"""

import logging
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from typing import TypeVar

import psycopg

from fingerpost.errors import ToolError
from fingerpost.store.postgres import Database, DatabaseLost, is_lost, translate

_log = logging.getLogger(__name__)

_R = TypeVar("_R")

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
