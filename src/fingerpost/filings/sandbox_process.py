"""Child process of ``sandbox``: read a SQL query and a database from standard input, and write the rows as JSON.

It imports only the standard library, so that it starts quickly. The parent kills it at the deadline, because a process
cannot interrupt its own SQLite functions. Queries can only read the views that are created here.
"""

import json
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

MAX_ROWS = 1_000

_MAX_BYTES = 100_000
_MAX_HEAP_BYTES = 256_000_000
_MAX_ANSWER_BYTES = 2_000_000
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
# The tables that queries may read, each with the date column that ``as_of`` filters.
_DATES = {"companies": "", "facts": "filing_date", "filings": "filing_date", "fiscal_years": "end_date", "tickers": ""}
# The name of the database with the tables. Queries cannot guess it, so they must read the tables through the views.
_DATA = f"data_{secrets.token_hex(8)}"


def run(connection: sqlite3.Connection, query: str, as_of: str | None) -> dict[str, Any]:
    """Return ``columns``, ``rows`` and ``truncated``, or ``code`` and ``error`` if SQLite rejects the query."""
    # Set this first, because the pragma drops temporary views.
    connection.execute("PRAGMA temp_store = MEMORY")
    tables = "; ".join(_create_views(connection, as_of))
    for pragma in ("query_only = ON", "trusted_schema = OFF", f"hard_heap_limit = {_MAX_HEAP_BYTES}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_BYTES)
    connection.set_authorizer(_authorize)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            raise sqlite3.ProgrammingError("it is not a SELECT")
        return _fetch(cursor)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        # After a MemoryError, the process ends without a response.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        return {"code": code, "error": f"{error}. Queries may only read {tables}"}


def _create_views(connection: sqlite3.Connection, as_of: str | None) -> Iterator[str]:
    """Create the views that queries may read, and yield each one's name and columns."""
    # SQLite reserves the other names, and ``_authorize`` denies reading such tables.
    names = f"SELECT name FROM {_DATA}.sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"  # noqa: S608
    for (table,) in connection.execute(f"{names} ORDER BY name").fetchall():
        source, date_column = f"{_DATA}.{table}", _DATES.get(table)
        if date_column is None:
            # The view hides the table of the same name. The main database is empty, so querying the view fails.
            connection.execute(f'CREATE TEMP VIEW "{table}" AS SELECT * FROM main."{table}"')  # noqa: S608
            continue
        columns = [column for column, *_ in connection.execute(f"SELECT * FROM {source} LIMIT 0").description]  # noqa: S608
        selected, where = ", ".join(columns), ""
        yield f"{table} ({selected})"
        if as_of is not None:
            selected = selected.replace("complete_through", f"min(complete_through, '{as_of}') AS complete_through")
            where = f" WHERE {date_column} <= '{as_of}'" if date_column else ""
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {selected} FROM {source}{where}")  # noqa: S608


def _authorize(action: int, name: str | None, detail: str | None, database: str | None, _view: str | None) -> int:
    is_allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = str(detail).lower() not in _FORBIDDEN_FUNCTIONS
    elif action == sqlite3.SQLITE_READ:
        # The column is empty if the query only counts rows.
        is_allowed = (not detail or database in ("temp", _DATA)) and not str(name).lower().startswith("sqlite_")
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _fetch(cursor: sqlite3.Cursor) -> dict[str, Any]:
    columns: list[str] = []
    for name, *_ in cursor.description:
        # Rows become objects, so number columns that share a name.
        names = (name, *(f"{name}_{number}" for number in range(2, len(cursor.description) + 2)))
        columns.append(next(unused for unused in names if unused not in columns))
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        size += sum(2 * len(cell) if isinstance(cell, bytes) else len(str(cell)) for cell in row)
        if len(rows) == MAX_ROWS or size > _MAX_ANSWER_BYTES:
            return {"columns": columns, "rows": rows, "truncated": True}
        rows.append(row)
    return {"columns": columns, "rows": rows, "truncated": False}


if __name__ == "__main__":
    # Give other callers' searches priority.
    if hasattr(os, "nice"):
        os.nice(5)
    path, query, as_of = json.loads(sys.stdin.buffer.readline())
    connection = sqlite3.connect(":memory:", uri=True, isolation_level=None)
    connection.execute(f"ATTACH ? AS {_DATA}", (path or ":memory:",))
    if path is None:
        connection.deserialize(sys.stdin.buffer.read(), name=_DATA)
    sys.stdout.write(json.dumps(run(connection, query, as_of), default=bytes.hex))
