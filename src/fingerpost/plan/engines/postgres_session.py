"""The PostgreSQL connection of a journal's writer: it records, and it holds the runs that this process carries on.

A run is held by an advisory lock of the connection, which ends with its process, however that ends.
A connection may be cut while its process lives, and the lock with it. So whoever takes a run counts its ``holder`` up,
and a record of an older holder is refused: what one process has recorded, no other runs again.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from fingerpost.plan.engines.group_commit import Row
from fingerpost.plan.engines.heartbeat import IS_DEAD, Heartbeat
from fingerpost.store.postgres.advisory import key_of
from fingerpost.store.postgres.database import Database
from fingerpost.store.postgres.failures import DatabaseLost, is_lost, translate

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)

_R = TypeVar("_R")

_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 1.0
_CALLERS_PATIENCE_S = 10.0

PUT_STEP = """
    INSERT INTO plan_step (run_id, step_id, state, output, note, attempts, at) VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (run_id, step_id) DO UPDATE SET
    state = excluded.state, output = excluded.output, note = excluded.note,
    attempts = excluded.attempts, at = excluded.at
"""
# The same event comes twice where a connection is cut in the instant of its commit.
PUT_EVENT = """
    INSERT INTO plan_event (run_id, seq, at, kind, step_id, data) VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (run_id, seq) DO NOTHING
"""
PUT_STATE = "UPDATE plan_run SET state = %s, ended_at = %s WHERE id = %s"

_TAKE = f"""
    UPDATE plan_run SET holder = holder + 1, worker = %s,
    takeovers = CASE WHEN state = 'running' AND worker IS NOT NULL AND {IS_DEAD} THEN takeovers + 1 ELSE takeovers END
    WHERE id = %s
"""  # noqa: S608  (constants)
# Of two that take it from a dead worker at once, the second finds one that lives.
_TAKE_FROM_DEAD = f"{_TAKE} AND worker IS NOT NULL AND {IS_DEAD} RETURNING holder, takeovers"
_TAKE = f"{_TAKE} RETURNING holder, takeovers"

_IS_LOCKED = f"""
    SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
    AND classid::bigint = %s AND objid::bigint = %s)
    AND NOT EXISTS (SELECT 1 FROM plan_run WHERE id = %s AND worker IS NOT NULL AND {IS_DEAD})
"""  # noqa: S608  (constants)


class PostgresSession:
    """One connection to the shared database; see ``group_commit.JournalSession``.

    Args:
        database: where the runs are.
        heartbeat: of this process, if it has one: runs that it takes are another's once it stops beating.
        patience_s: how long a record waits for a database that cannot be reached, before its run stops.
    """

    def __init__(self, database: Database, heartbeat: Heartbeat | None = None, *, patience_s: float = 30.0) -> None:
        self._database = database
        self._heartbeat = heartbeat
        self._patience_s = patience_s
        self._connection: psycopg.Connection | None = None
        self._holders: dict[str, int] = {}
        self._unlocked: set[str] = set()
        self._taken_over: set[str] = set()
        self._has_given_up = threading.Event()

    def ask(self, act: "Callable[[psycopg.Connection], _R]") -> _R:
        """Return what a function of the connection returns; it is called again where the connection was cut.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be used, for as long as a caller's patience lasts.
        """
        return self._patiently(lambda: self._once(act), _CALLERS_PATIENCE_S)

    def commit(self, steps: Sequence[Row], events: Sequence[Row], states: Sequence[Row]) -> Collection[str]:
        """Write rows in one transaction, and return the runs that another process has taken: theirs are not written.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be used, for as long as our patience lasts.
        """

        def write(connection: "psycopg.Connection") -> Collection[str]:
            run_ids = {row[0] for row in (*steps, *events)} | {row[-1] for row in states}
            with connection.transaction():
                refused = self._find_refused(connection, run_ids)
                with connection.cursor() as cursor:
                    for statement, rows, place in (
                        (PUT_STEP, steps, 0),
                        (PUT_EVENT, events, 0),
                        (PUT_STATE, states, -1),
                    ):
                        if ours := [row for row in rows if row[place] not in refused]:
                            cursor.executemany(statement, ours)
                if alive := [row[0] for row in steps if row[0] in self._taken_over]:
                    # What was recorded shows that it does not kill whoever carries it on.
                    connection.execute("UPDATE plan_run SET takeovers = 0 WHERE id = ANY(%s)", (alive,))
                    self._taken_over.difference_update(alive)
            return refused

        return self._patiently(lambda: self._once(write), self._patience_s)

    def take(self, run_id: str) -> bool:
        """Hold a run; False where another process or task holds it that is not known to be dead."""
        if run_id in self._holders:
            return False
        worker = self._heartbeat.worker if self._heartbeat is not None else None

        def lock(connection: "psycopg.Connection") -> tuple[int, int, bool] | None:
            is_locked = _lock(connection, run_id)
            row = connection.execute(_TAKE if is_locked else _TAKE_FROM_DEAD, (worker, run_id)).fetchone()
            if row is None:
                return (0, 0, is_locked) if is_locked else None
            return row[0], row[1], is_locked

        taken = self.ask(lock)
        if taken is None:
            return False
        self._holders[run_id], takeovers, is_locked = taken
        if takeovers:
            self._taken_over.add(run_id)
        if not is_locked:
            # Its last holder is declared dead and still connected: the lock is asked for until that is gone.
            self._unlocked.add(run_id)
        return True

    def let_go(self, run_id: str) -> None:
        """Hold a run no longer. Where the connection is gone, so is the lock."""
        import psycopg

        del self._holders[run_id]
        self._taken_over.discard(run_id)
        is_locked = run_id not in self._unlocked
        self._unlocked.discard(run_id)
        if not is_locked or self._connection is None:
            return
        try:
            self._connection.execute("SELECT pg_advisory_unlock(%s)", (_key(run_id),))
        except psycopg.Error:
            self._drop()

    def give_up(self) -> None:
        """Stop waiting for a database that cannot be reached."""
        self._has_given_up.set()

    def close(self) -> None:
        """Close the connection, and with it let go of every run."""
        self._drop()

    def _patiently(self, act: Callable[[], _R], patience_s: float) -> _R:
        """Call a function again while the database cannot be reached: at once, and then after growing waits."""
        until = time.monotonic() + patience_s
        wait_s = 0.0
        while True:
            try:
                return act()
            except DatabaseLost as error:
                if self._has_given_up.is_set() or time.monotonic() + wait_s > until:
                    raise
                _log.warning("the journal lost its connection: %s", error.message)
                self._has_given_up.wait(wait_s)
                wait_s = min(max(2 * wait_s, _FIRST_WAIT_S), _LONGEST_WAIT_S)

    def _once(self, act: "Callable[[psycopg.Connection], _R]") -> _R:
        connection = self._opened()
        import psycopg

        try:
            found = act(connection)
        except psycopg.Error as error:
            if is_lost(error, connection):
                self._drop()
                raise DatabaseLost from error
            raise translate(error, connection) from error
        if connection.closed:
            # psycopg leaves a transaction whose connection is gone without a word.
            raise DatabaseLost
        return found

    def _find_refused(self, connection: "psycopg.Connection", run_ids: Collection[str]) -> Collection[str]:
        """Lock the runs' rows, in one order everywhere, and return those that another process has taken since."""
        rows = connection.execute(
            "SELECT id, holder FROM plan_run WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (sorted(run_ids),)
        ).fetchall()
        current: dict[str, int] = dict(rows)
        return {
            run_id
            for run_id in run_ids
            if run_id not in current or self._holders.get(run_id, current[run_id]) != current[run_id]
        }

    def _opened(self) -> "psycopg.Connection":
        """Return the connection, opened anew where it was cut, with every run that is ours locked."""
        if self._connection is not None and self._connection.closed:
            self._drop()
        if self._connection is None:
            self._connection = self._database.connect()
            self._unlocked = set(self._holders)
        connection = self._connection
        import psycopg

        try:
            # The server may keep the lock of a cut connection for a while: then it is asked for again next time.
            self._unlocked = {run_id for run_id in self._unlocked if not self._lock_again(connection, run_id)}
        except psycopg.Error as error:
            self._drop()
            raise translate(error, connection) from error
        return connection

    def _lock_again(self, connection: "psycopg.Connection", run_id: str) -> bool:
        row = connection.execute("SELECT holder FROM plan_run WHERE id = %s", (run_id,)).fetchone()
        if row is None or row[0] != self._holders[run_id]:
            # It is another's now, and stays so.
            return True
        return _lock(connection, run_id)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def is_locked(connection: "psycopg.Connection", run_id: str) -> bool:
    """Whether any process holds a run that is not known to be dead."""
    key = _key(run_id)
    row = connection.execute(_IS_LOCKED, (key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF, run_id)).fetchone()
    return row == (True,)


def _lock(connection: "psycopg.Connection", run_id: str) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(run_id),)).fetchone()
    return row == (True,)


def _key(run_id: str) -> int:
    return key_of("run", run_id)
