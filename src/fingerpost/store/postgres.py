"""Connect to the shared PostgreSQL database, create its tables, and translate its errors.

Messages about connection errors never quote the server or the client library, whose text may contain the secret
address.
"""

import random
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolTimeout

from fingerpost.errors import ParameterError, SettingsInvalid, StorageUnavailable, ToolError
from fingerpost.store.tables import LIMITS, NOT_STORABLE, RUNS, VARIABLES, WORKERS, Layout

LAYOUTS: tuple[Layout, ...] = ((*VARIABLES, *LIMITS, *RUNS), WORKERS)
"""The schema migrations in order; the table ``layout`` lists the applied ones."""

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def apply_layouts(connection: psycopg.Connection, schema: str) -> None:
    """Apply the missing layouts in one transaction; raise SettingsInvalid if the schema is newer than this version."""
    if _count_applied(connection, schema) == len(LAYOUTS):
        return
    with connection.transaction():
        # Disable timeouts, because large tables and concurrent upgrades take time.
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute("SET LOCAL lock_timeout = 0")
        connection.execute(_LOCK, (f"fingerpost layout {schema}",))
        applied = _count_applied(connection, schema)
        if applied == 0:
            quoted = sql.Identifier(schema).as_string(connection)
            if connection.execute("SELECT pg_catalog.to_regnamespace(%s)::text", (quoted,)).fetchone() == (None,):
                # Create the schema only if it is missing, because some users may not create schemas.
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            connection.execute(
                "CREATE TABLE layout (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
            )
        for number, added in enumerate(LAYOUTS[applied:], start=applied + 1):
            for statement in added:
                connection.execute(statement)
            connection.execute("INSERT INTO layout (number) VALUES (%s)", (number,))


def _count_applied(connection: psycopg.Connection, schema: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = 'layout'", (schema,)
    ).fetchone()
    if not row or not row[0]:
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM layout").fetchone()
    applied = int(row[0]) if row else 0
    if applied > len(LAYOUTS):
        raise SettingsInvalid("The database was written by a newer fingerpost; update fingerpost")
    return applied


VARIABLE = "FINGERPOST_DATABASE_URL"

_BUSY = "The database is busy; try again in a moment"
_FULL = "The database has no space or connections left; try again in a moment"
_READ_ONLY = f"The database is read-only; set {VARIABLE} to the primary"
_FORBIDDEN = f"The user in {VARIABLE} has no access to the database tables; grant it access to the schema"
_REFUSED = f"The database rejected the user or the password in {VARIABLE}"
_ABSENT = f"The database that {VARIABLE} names does not exist; create it, or correct the name"
NO_ADDRESS = f"{VARIABLE} is not a database address; write it as postgresql://USER:PASSWORD@HOST:PORT/NAME"
_NOT_UTF8 = f"The database that {VARIABLE} names is not encoded in UTF-8; create it with ENCODING 'UTF8'"
_UNSAFE = f"The database does not offer the encrypted connection that {VARIABLE} requires"

# Keyed by SQLSTATE, or by SQLSTATE class.
_MESSAGES_BY_STATE = {
    "28": _REFUSED,
    "3D": _ABSENT,
    "40": _BUSY,
    "53": _FULL,
    "55": _BUSY,
    "25006": _READ_ONLY,
    "42501": _FORBIDDEN,
    "57014": _BUSY,
}
# Keyed by part of the error text, because errors from refused connections have no SQLSTATE.
_MESSAGES_BY_TEXT = {
    **dict.fromkeys(("authentication failed", "no password supplied", "no pg_hba.conf entry", "role "), _REFUSED),
    'database "': _ABSENT,
    **dict.fromkeys(("SSL", "certificate"), _UNSAFE),
    **dict.fromkeys(("Servname", "invalid "), NO_ADDRESS),
    **dict.fromkeys(("too many clients", "connection slots"), _FULL),
}
_ROLLED_BACK_STATES = ("40001", "40P01")
"""SQLSTATEs of a transaction that was rolled back after a conflict, and may be retried."""
# A random pause, so that conflicting transactions do not conflict again.
_CONFLICT_PAUSE_S = (0.01, 0.1)
_LOST_STATES = ("57P01", "57P02", "57P03")


class DatabaseLost(StorageUnavailable):
    """The database cannot be reached, or it closed a connection; the next attempt may succeed."""

    def __init__(self) -> None:
        super().__init__("The database cannot be reached; try again in a moment")


def is_lost(error: psycopg.Error, connection: psycopg.Connection | None) -> bool:
    if connection is not None and connection.closed:
        return True
    # An interrupted pipeline raises an error without a SQLSTATE; its context has the cause.
    states = (getattr(failure, "sqlstate", None) or "" for failure in (error, error.__context__))
    return any(state.startswith("08") or state in _LOST_STATES for state in states)


def _new_error(message: str) -> ToolError:
    return StorageUnavailable(message) if message in (_BUSY, _FULL) else SettingsInvalid(message)


def translate(error: psycopg.Error, connection: psycopg.Connection | None = None) -> ToolError:
    state = error.sqlstate or ""
    if is_lost(error, connection):
        return DatabaseLost()
    if message := _MESSAGES_BY_STATE.get(state) or _MESSAGES_BY_STATE.get(state[:2]):
        return _new_error(message)
    if state.startswith("22") or "NUL" in str(error):
        return ParameterError(NOT_STORABLE)
    return StorageUnavailable(f"The database failed: {type(error).__name__} {state}".strip(), retryable=False)


_R = TypeVar("_R")

_CONNECTION: dict[str, Any] = {"autocommit": True, "connect_timeout": 5, "application_name": "fingerpost"}
# How long a call waits for a database that is restarting.
_MAX_WAIT_S = 10.0
_MAX_CONNECTIONS = 4
_UNKNOWN_OUTCOME = (
    "The connection to the database broke during a write, which may have been stored; check before you call again"
)

# Release the locks of dead machines within half a minute, and those of hung processes within seconds.
_CONFIGURE = """
    SELECT set_config('search_path', %s, false),
        set_config('client_encoding', 'UTF8', false),
        set_config('tcp_keepalives_idle', '10', false),
        set_config('tcp_keepalives_interval', '5', false),
        set_config('tcp_keepalives_count', '3', false),
        set_config('tcp_user_timeout', '25s', false),
        set_config('lock_timeout', '10s', false),
        set_config('statement_timeout', '30s', false),
        set_config('idle_in_transaction_session_timeout', '5s', false),
        CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END
"""


class Database:
    """One schema of the database at ``postgresql://user:password@host/name``, shared by all threads.

    Every method may raise SettingsInvalid (the operator must act) or StorageUnavailable (try again).
    """

    def __init__(self, url: str, *, schema: str = "fingerpost") -> None:
        self.url = url
        self.schema = schema
        self._lock = threading.Lock()
        self._is_ready = False
        self._pool: ConnectionPool[psycopg.Connection] | None = None

    def connect(self) -> psycopg.Connection:
        with self._lock:
            return self._connect()

    def read(self, act: Callable[[psycopg.Connection], _R]) -> _R:
        """Run a read-only function and return its result; the function may be called more than once."""
        return self._run_with_retries(act)

    def change(self, act: Callable[[psycopg.Connection], _R], *, lock: str = "") -> _R:
        """Run a function in a transaction and return its result; transactions with the same lock run one at a time."""

        def transact(connection: psycopg.Connection) -> _R:
            is_committing = False
            try:
                with connection.transaction():
                    if lock:
                        connection.execute(_LOCK, (f"fingerpost {lock}",))
                    outcome = act(connection)
                    is_committing = True
            except psycopg.Error as error:
                if is_committing and is_lost(error, connection):
                    raise StorageUnavailable(_UNKNOWN_OUTCOME) from error
                raise
            if connection.closed:
                # psycopg raises no error at the end of a transaction whose connection is lost.
                raise StorageUnavailable(_UNKNOWN_OUTCOME)
            return outcome

        return self._run_with_retries(transact)

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _run_with_retries(self, act: Callable[[psycopg.Connection], _R]) -> _R:
        deadline_s = time.monotonic() + _MAX_WAIT_S
        while True:
            connection: psycopg.Connection | None = None
            pool = self._get_pool()
            try:
                with pool.connection(timeout=max(0.1, deadline_s - time.monotonic())) as connection:
                    return act(connection)
            except PoolTimeout:
                # Connect again, to raise an error that gives the reason.
                self.connect().close()
                raise StorageUnavailable(_BUSY) from None
            except psycopg.Error as error:
                is_connection_lost = is_lost(error, connection)
                if not (is_connection_lost or error.sqlstate in _ROLLED_BACK_STATES) or time.monotonic() > deadline_s:
                    raise translate(error, connection) from error
                if is_connection_lost:
                    # After a restart of the server, every connection in the pool is stale.
                    pool.check()
                else:
                    time.sleep(random.uniform(*_CONFLICT_PAUSE_S))  # noqa: S311  (no secret depends on it)

    def _get_pool(self) -> ConnectionPool[psycopg.Connection]:
        with self._lock:
            if self._pool is None:
                # Connect first, because the pool reports only timeouts.
                self._connect().close()
                self._pool = ConnectionPool(
                    self.url,
                    kwargs=_CONNECTION,
                    configure=self._configure,
                    min_size=0,
                    max_size=_MAX_CONNECTIONS,
                    num_workers=1,
                    timeout=_MAX_WAIT_S,
                    open=True,
                    name="fingerpost",
                )
                weakref.finalize(self, self._pool.close)
            return self._pool

    def _connect(self) -> psycopg.Connection:
        try:
            connection = psycopg.connect(self.url, **_CONNECTION)
        except psycopg.ProgrammingError:
            # Drop the cause, whose message repeats parts of the address.
            raise SettingsInvalid(NO_ADDRESS) from None
        except psycopg.Error as error:
            message = next((text for fragment, text in _MESSAGES_BY_TEXT.items() if fragment in str(error)), None)
            raise (DatabaseLost() if message is None else _new_error(message)) from None
        with ExitStack() as on_error:
            on_error.enter_context(closing(connection))
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise SettingsInvalid(_NOT_UTF8)
            try:
                self._configure(connection)
                if not self._is_ready:
                    apply_layouts(connection, self.schema)
                    self._is_ready = True
            except psycopg.Error as error:
                raise translate(error, connection) from error
            on_error.pop_all()
        return connection

    def _configure(self, connection: psycopg.Connection) -> None:
        connection.execute(_CONFIGURE, (sql.Identifier(self.schema).as_string(connection),))
