"""The layouts of the shared database: numbered steps, each applied once, by whichever process comes first.

A newer build brings the database up when it opens it; an older build refuses a newer database.
A layout only ever adds to the one before, so that processes of an older build that are connected go on (decision 0560).
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fingerpost.errors import SettingsInvalid

if TYPE_CHECKING:
    import psycopg


def key_of(*names: str) -> int:
    """Return the 64-bit key of a lock of ours, with a sign."""
    digest = hashlib.sha256("\0".join(("fingerpost", *names)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


_FIRST_LAYOUT = (
    """
    CREATE TABLE variable (
        user_name text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        type text NOT NULL,
        value text NOT NULL,
        created_us bigint NOT NULL,
        updated_us bigint NOT NULL,
        PRIMARY KEY (user_name, key)
    )
    """,
    "CREATE INDEX variable_by_change ON variable (updated_us)",
    # Limits may be lost without harm, so they are not logged; after a crash of the server they start afresh.
    'CREATE UNLOGGED TABLE rate_limit (name text COLLATE "C" PRIMARY KEY, free_ms bigint NOT NULL)',
    # Instants are ISO 8601 texts, as they are answered. Texts of tools are JSON strings, which may hold a NUL.
    # holder counts up each time that a process takes the run: who holds an older number may record nothing more.
    """
    CREATE TABLE plan_run (
        id text COLLATE "C" PRIMARY KEY,
        number bigint GENERATED ALWAYS AS IDENTITY,
        user_name text COLLATE "C",
        plan text NOT NULL,
        goal text NOT NULL,
        step_count integer NOT NULL,
        given text NOT NULL,
        state text NOT NULL,
        created_at text COLLATE "C" NOT NULL,
        ended_at text COLLATE "C",
        protocol integer NOT NULL,
        replans integer NOT NULL DEFAULT 0,
        holder bigint NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX plan_run_by_user ON plan_run (user_name, created_at, number)",
    "CREATE INDEX plan_run_by_end ON plan_run (ended_at) WHERE ended_at IS NOT NULL",
    """
    CREATE TABLE plan_step (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run ON DELETE CASCADE,
        step_id bigint NOT NULL,
        state text NOT NULL,
        output text,
        note text,
        attempts integer NOT NULL,
        at text NOT NULL,
        PRIMARY KEY (run_id, step_id)
    )
    """,
    """
    CREATE TABLE plan_event (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run ON DELETE CASCADE,
        seq bigint NOT NULL,
        at text NOT NULL,
        kind text NOT NULL,
        step_id bigint,
        data text,
        PRIMARY KEY (run_id, seq)
    )
    """,
    """
    CREATE TABLE plan_signal (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run ON DELETE CASCADE,
        verb text NOT NULL,
        step_id bigint,
        value text NOT NULL
    )
    """,
    "CREATE INDEX plan_signal_by_run ON plan_signal (run_id, seq)",
)
# worker is the process that executes a run; takeovers counts the processes in a row that died of it.
_SECOND_LAYOUT = (
    'ALTER TABLE plan_run ADD COLUMN worker text COLLATE "C"',
    "ALTER TABLE plan_run ADD COLUMN takeovers integer NOT NULL DEFAULT 0",
)
LAYOUTS: tuple[Sequence[str], ...] = (_FIRST_LAYOUT, _SECOND_LAYOUT)
"""What each layout adds to the one before; the table ``layout`` says which of them were applied, and when."""

_NEWER: Final = "The database was written by a newer fingerpost; update this one"


def bring_up(connection: "psycopg.Connection", schema: str) -> None:
    """Apply the layouts that the schema lacks, all or none; of processes that come at once the first does it.

    Raises:
        SettingsInvalid: the schema is newer than this program, or another program's, or its texts are not UTF-8.
        psycopg.Error: the database refuses.
    """
    if _count_applied(connection, schema) == len(LAYOUTS):
        return
    with connection.transaction():
        # A large table may take its time, and so may whoever came first.
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute("SET LOCAL lock_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (key_of("layout", schema),))
        applied = _count_applied(connection, schema)
        if applied == 0:
            _found(connection, schema)
        for number, added in enumerate(LAYOUTS[applied:], start=applied + 1):
            for statement in added:
                connection.execute(statement)
            connection.execute("INSERT INTO layout (number) VALUES (%s)", (number,))


def _count_applied(connection: "psycopg.Connection", schema: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = 'layout'", (schema,)
    ).fetchone()
    if not row or not row[0]:
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM layout").fetchone()
    applied = int(row[0]) if row else 0
    if applied > len(LAYOUTS):
        raise SettingsInvalid(_NEWER)
    return applied


def _found(connection: "psycopg.Connection", schema: str) -> None:
    """Create the schema, unless the operator has, and the table of layouts."""
    from psycopg import sql

    row = connection.execute(
        "SELECT pg_catalog.current_setting('server_encoding'), pg_catalog.to_regnamespace(%s) IS NOT NULL,"
        " EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s)",
        (sql.Identifier(schema).as_string(connection), schema),
    ).fetchone()
    encoding, is_there, has_tables = row if row else ("", False, False)
    if encoding != "UTF8":
        raise SettingsInvalid(f"The database stores its texts as {encoding}; create one with the encoding UTF8")
    if has_tables:
        raise SettingsInvalid(f"The schema {schema} of the database belongs to another program; take another database")
    if not is_there:
        # Whoever may not create schemas can be given this one.
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    connection.execute(
        "CREATE TABLE layout (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    )
