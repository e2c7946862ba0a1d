"""The layouts of the shared database: numbered steps, each applied once, by whichever process comes first."""

import hashlib
from typing import TYPE_CHECKING, Final

from fingerpost.errors import SettingsInvalid
from fingerpost.store.layouts import LIMITS, RUNS, VARIABLES, WORKERS, Layout

if TYPE_CHECKING:
    import psycopg


def key_of(*names: str) -> int:
    """Return the 64-bit key of a lock of ours, with a sign."""
    digest = hashlib.sha256("\0".join(("fingerpost", *names)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


LAYOUTS: tuple[Layout, ...] = ((*VARIABLES, *LIMITS, *RUNS), WORKERS)
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
