"""Child process of ``sandbox``: read a query as JSON, then a database if it has no path; write its rows as JSON.

It imports only the standard library, so it starts quickly. A process cannot interrupt one of its own SQLite
functions, so the caller kills it. The authorizer allows only reading of the views that are created here.
"""

import json
import math
import secrets
import sqlite3
import sys
import time
from typing import Any

MAX_ROWS = 1_000
DEADLINE_S = 1.5

_MAX_BYTES = 100_000
_MAX_HEAP_BYTES = 256_000_000
_MAX_ANSWER_BYTES = 2_000_000
_STEPS_BETWEEN_LOOKS = 2_000
_REFUSED_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
# The tables that a query may read, and the column by which ``as_of`` hides later rows.
_DAYS = {"companies": "", "facts": "filing_date", "filings": "filing_date", "fiscal_years": "end_date", "tickers": ""}
# Queries that read no column of a table; they learn at most its number of rows.
_COUNTED = frozenset({*_DAYS, "concepts", "reports", "reported"})


def run(connection: sqlite3.Connection, query: str, as_of: str | None) -> dict[str, Any]:
    """Return ``columns``, ``rows`` and ``truncated``, or ``code`` and ``error`` if SQLite refuses the query."""
    # This pragma drops temporary views, so it comes first.
    connection.execute("PRAGMA temp_store = MEMORY")
    sealed, there = _create_views(connection, as_of)
    for pragma in ("query_only = ON", "trusted_schema = OFF", f"hard_heap_limit = {_MAX_HEAP_BYTES}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_BYTES)

    def authorize(action: int, first: str | None, second: str | None, database: str | None, reader: str | None) -> int:
        table = (first or "").lower()
        if action == sqlite3.SQLITE_FUNCTION:
            is_open = str(second).lower() not in _REFUSED_FUNCTIONS
        elif action == sqlite3.SQLITE_READ:
            is_view = database == "temp" and not table.startswith("sqlite_")
            is_open = is_view or (reader or "").startswith(sealed) or (not second and table in _COUNTED)
        else:
            is_open = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        return sqlite3.SQLITE_OK if is_open else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)
    deadline = time.monotonic() + DEADLINE_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            raise sqlite3.ProgrammingError("it is no SELECT")
        return _fetch(cursor)
    except (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, ValueError) as error:
        code = sqlite3.SQLITE_NOMEM if isinstance(error, MemoryError) else getattr(error, "sqlite_errorcode", 1) & 0xFF
        return {"code": code, "error": f"{error}. Queries may only read {there}"}


def _create_views(connection: sqlite3.Connection, as_of: str | None) -> tuple[str, str]:
    """Create a view of each table; return the secret prefix of the views, and a list of tables and columns.

    SQLite gives the authorizer the name of the view that reads a table; a subquery cannot use a secret name.
    """
    sealed, there = f"sealed_{secrets.token_hex(8)}_", []
    (facts,) = connection.execute("SELECT sql FROM main.sqlite_master WHERE name = 'facts'").fetchone()
    connection.execute(facts.replace("CREATE VIEW facts", f"CREATE TEMP VIEW {sealed}all", 1))
    for table, day in _DAYS.items():
        source = f"{sealed}all" if table == "facts" else f"main.{table}"
        columns = [column for column, *_ in connection.execute(f"SELECT * FROM {source} LIMIT 0").description]  # noqa: S608
        there.append(f"{table} ({', '.join(columns)})")
        chosen, where = ", ".join(columns), ""
        if as_of is not None:
            chosen = chosen.replace("complete_through", f"min(complete_through, '{as_of}') AS complete_through")
            where = f" WHERE {day} <= '{as_of}'" if day else ""
        connection.execute(f"CREATE TEMP VIEW {sealed}{table} AS SELECT {chosen} FROM {source}{where}")  # noqa: S608
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM {sealed}{table}")  # noqa: S608
    return sealed, "; ".join(there)


def _fetch(cursor: sqlite3.Cursor) -> dict[str, Any]:
    columns: list[str] = []
    for name, *_ in cursor.description:
        # Rows are objects, so a second column of one name gets a number.
        names = (name, *(f"{name}_{number}" for number in range(2, len(cursor.description) + 2)))
        columns.append(next(free for free in names if free not in columns))
    answer: dict[str, Any] = {"columns": columns, "rows": [], "truncated": False}
    size = 0
    for row in cursor:
        if len(answer["rows"]) == MAX_ROWS or size > _MAX_ANSWER_BYTES:
            return answer | {"truncated": True}
        answer["rows"].append([_cell(cell) for cell in row])
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in answer["rows"][-1])
    return answer


def _cell(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.hex()
    return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell


if __name__ == "__main__":
    path, query, as_of = json.loads(sys.stdin.buffer.readline())
    opened = sqlite3.connect(path or ":memory:", uri=True, isolation_level=None)
    if path is None:
        opened.deserialize(sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(run(opened, query, as_of)).encode("utf-8", "surrogatepass"))
