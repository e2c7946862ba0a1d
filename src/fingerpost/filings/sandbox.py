"""Somebody else's SQL over our figures: read only, no way out, stopped in time.

SQLite asks the authorizer before it prepares anything, the progress handler while it runs.
Limits keep single functions short, since nothing can stop those; ``LIKE`` is our own for the same reason.
"""

import math
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.filings import schema
from fingerpost.filings.store import new_sample

MAX_ROWS = 1_000
DEADLINE_S = 1.5

_MAX_BYTES = 100_000
# Of all SQLite in this process, from the first query on: SQLite lets nobody raise it again.
_MAX_HEAP_BYTES = 256_000_000
_MAX_ANSWER_BYTES = 2_000_000
_STEPS_BETWEEN_LOOKS = 2_000
_MAX_LIKE_WORK = 2_000_000
_FIELD = {"field": "sql_query"}

_READABLE = frozenset({"facts", "companies", "tickers", "filings", "fiscal_years"})
_BEHIND = frozenset({"concepts", "reports", "reported"})
_DATED = ("facts", "filings")
_REFUSED_TABLES = ("pragma_", "sqlite_", "dbstat")
_REFUSED_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "glob", "match", "snippet", "highlight"}
)
_WHAT_THERE_IS = f"The tables are {', '.join(sorted(_READABLE))}; only reading is allowed"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave; ``truncated`` where there was more."""

    rows: list[dict[str, Any]]
    truncated: bool


def run_sql(path: Path | None, query: str, as_of: str | None = None) -> Rows:
    """Return the rows of one SELECT over the figures; blocks for at most about DEADLINE_S seconds.

    ``as_of`` (an ISO day) hides what was filed later.

    Raises:
        ParameterError: the query is refused, is wrong, or takes too long.
    """
    if path is not None and path.exists():
        file = schema.facts_file(path)
        with file.opened("ro") as connection:
            if not schema.is_empty(file, connection):
                return _run(connection, query, as_of)
    connection = new_sample()
    try:
        return _run(connection, query, as_of)
    finally:
        connection.close()


def _run(connection: sqlite3.Connection, query: str, as_of: str | None) -> Rows:
    connection.execute("PRAGMA temp_store = MEMORY")
    if as_of is not None:
        for table in _DATED:
            connection.execute(
                f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE filing_date <= '{as_of}'"  # noqa: S608
            )
    for pragma in (
        f"hard_heap_limit = {_MAX_HEAP_BYTES}",
        "query_only = ON",
        "trusted_schema = OFF",
        "cell_size_check = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    connection.create_function("like", 2, _like, deterministic=True)
    connection.create_function("like", 3, _refuse_escape, deterministic=True)
    connection.set_authorizer(_new_authorizer(connection, is_dated=as_of is not None))
    deadline = time.monotonic() + DEADLINE_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            raise ParameterError(f"Error executing custom SQL: it is no SELECT. {_WHAT_THERE_IS}", _FIELD)
        return _fetch(cursor)
    except MemoryError as error:
        raise ParameterError("Error executing custom SQL: it needs too much memory; narrow it", _FIELD) from error
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        raise _told(error) from error


def _fetch(cursor: sqlite3.Cursor) -> Rows:
    names = _names([column[0] for column in cursor.description])
    rows: list[dict[str, Any]] = []
    size = 0
    for row in cursor:
        if len(rows) == MAX_ROWS or size > _MAX_ANSWER_BYTES:
            return Rows(rows, truncated=True)
        cells = [_cell(cell) for cell in row]
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        rows.append(dict(zip(names, cells, strict=True)))
    return Rows(rows, truncated=False)


def _new_authorizer(connection: sqlite3.Connection, *, is_dated: bool) -> Callable[..., int]:
    """Return who decides what a query may do: read our tables and what the query itself names, nothing else."""
    stored = {name for (name,) in connection.execute("SELECT lower(name) FROM sqlite_master")}
    closed = stored - _READABLE - _BEHIND

    def authorize(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if str(second).lower() in _REFUSED_FUNCTIONS else sqlite3.SQLITE_OK
        table = (first or "").lower()
        if not second and table in _BEHIND.union(_DATED):
            # count(*) over the view: nothing is read of the table but how many rows it has.
            is_open = True
        elif table in _BEHIND:
            # The view may look behind itself; a query may not, or it would see past ``as_of``.
            is_open = view is not None and view.lower() == "facts"
        elif is_dated and table in _DATED and database == "main":
            is_open = view is not None and view.lower() == table
        else:
            is_open = table not in closed and not table.startswith(_REFUSED_TABLES)
        return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_READ and is_open else sqlite3.SQLITE_DENY

    return authorize


def _told(error: Exception) -> ParameterError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        told = f"it was stopped after {DEADLINE_S} s; narrow it, or join on fewer rows"
    elif code == sqlite3.SQLITE_AUTH or "prohibited" in str(error) or "not authorized" in str(error):
        told = f"{error}. {_WHAT_THERE_IS}"
    elif "user-defined function" in str(error):
        told = "a LIKE over so much text, or with ESCAPE, is refused"
    elif code == sqlite3.SQLITE_TOOBIG:
        told = f"a text or the query itself is longer than {_MAX_BYTES} bytes"
    else:
        told = f"{error}. {_WHAT_THERE_IS}"
    return ParameterError(f"Error executing custom SQL: {told}", _FIELD)


def _names(names: list[str]) -> list[str]:
    """Return the columns' names, a second one of a name numbered: no column may vanish from a row."""
    unique: list[str] = []
    for name in names:
        number, free = 2, name
        while free in unique:
            free, number = f"{name}_{number}", number + 1
        unique.append(free)
    return unique


def _cell(cell: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell


def _refuse_escape(_pattern: Any, _text: Any, _escape: Any) -> bool:
    raise ValueError("ESCAPE is refused")


def _like(pattern: Any, text: Any) -> bool | None:
    """Whether a text fits a LIKE pattern, in time that grows no faster than both lengths multiplied."""
    if pattern is None or text is None:
        return None
    wanted, given = str(pattern).lower(), str(text).lower()
    if len(wanted) * len(given) > _MAX_LIKE_WORK:
        raise ValueError("a LIKE over so much text is refused")
    at, place, star, mark = 0, 0, -1, 0
    while place < len(given):
        if at < len(wanted) and wanted[at] == "%":
            star, mark, at = at, place, at + 1
        elif at < len(wanted) and wanted[at] in ("_", given[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return not wanted[at:].strip("%")
