"""Child process of ``sandbox``: read a query and a database from standard input, and write the rows as JSON.

It imports only the standard library, so that it starts quickly. SQLite allocates at most 256 MB.
"""

import json
import secrets
import sqlite3
import sys
from typing import Any

MAX_ROWS, _MAX_ANSWER_BYTES = 1_000, 2_000_000
# The tables that queries may read, and their date columns; rows dated after ``as_of`` are hidden.
_DATES = {"facts": "filing_date", "filings": "filing_date", "fiscal_years": "end_date"}
_DATES |= {"companies": "''", "tickers": "''"}
# The attached database has a random name, so that queries can read its tables only through the views.
_DATA = f"data_{secrets.token_hex(8)}"


def run(address: str | None, query: str, as_of: str) -> dict[str, Any]:
    """Return ``columns``, ``rows`` and ``truncated``, or ``error``; a MemoryError ends the process instead."""
    connection = sqlite3.connect(":memory:", uri=True, isolation_level=None)
    connection.execute(f"ATTACH ? AS {_DATA}", (address or ":memory:",))
    if address is None:
        connection.deserialize(sys.stdin.buffer.read(), name=_DATA)
    # Set temp_store first, because that pragma drops temporary views.
    connection.execute("PRAGMA temp_store = MEMORY")
    tables = _create_views(connection, as_of)
    connection.executescript("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA hard_heap_limit = 256000000")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
    connection.set_authorizer(_authorize)
    try:
        return _fetch(connection.execute(query))
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        return {"error": f"{error}. Queries may only read {'; '.join(tables)}"}


def _create_views(connection: sqlite3.Connection, as_of: str) -> list[str]:
    """Create a view of each readable table, and return the names and columns of these views."""
    described = []
    # SQLite reserves names that start with sqlite_, and ``_authorize`` denies access to those tables.
    names = f"SELECT name FROM {_DATA}.sqlite_master WHERE name NOT GLOB 'sqlite_*' ORDER BY name"  # noqa: S608
    for (table,) in connection.execute(names).fetchall():
        # This view hides a table of the same name. Queries on the view fail, because the main database is empty.
        selection = f'* FROM main."{table}"'
        if table in _DATES:
            found = connection.execute(f"SELECT * FROM {_DATA}.{table}").description  # noqa: S608
            columns = ", ".join(name for name, *_ in found)
            described.append(f"{table} ({columns})")
            limited = columns.replace("complete_through", f"min(complete_through, '{as_of}') AS complete_through")
            selection = f"{limited} FROM {_DATA}.{table} WHERE {_DATES[table]} <= '{as_of}'"
        connection.execute(f'CREATE TEMP VIEW "{table}" AS SELECT {selection}')
    return described


def _authorize(action: int, name: str | None, detail: str | None, database: str | None, _view: str | None) -> int:
    # None of the SQL functions in this process reads files, and Python disables load_extension.
    is_allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_FUNCTION)
    if action == sqlite3.SQLITE_READ:
        # SQLite reports no column for a query that only counts rows.
        is_allowed = (not detail or database in ("temp", _DATA)) and not str(name).lower().startswith("sqlite_")
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _fetch(cursor: sqlite3.Cursor) -> dict[str, Any]:
    columns = [name for name, *_ in cursor.description or ()]
    if not columns:
        raise sqlite3.ProgrammingError("it is not a SELECT")
    if len({*columns}) < len(columns):
        raise sqlite3.ProgrammingError("two columns have the same name; rename one with AS")
    rows: list[tuple[Any, ...]] = []
    size = 0
    truncated = False
    for row in cursor:
        size += sum(2 * len(cell) if isinstance(cell, bytes) else len(str(cell)) for cell in row)
        if truncated := len(rows) == MAX_ROWS or size > _MAX_ANSWER_BYTES:
            break
        rows.append(row)
    if truncated and not rows:
        raise sqlite3.ProgrammingError("the first row alone is too long; select fewer columns")
    return {"columns": columns, "rows": rows, "truncated": truncated}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(*json.loads(sys.stdin.buffer.readline())), default=bytes.hex))
