"""The process that runs somebody else's SQL: nothing in it outlives its clock.

``fingerpost.filings.sandbox`` starts this file as a script and kills it when its time is over, because nothing inside
a process can stop a single function of SQLite. It imports the standard library alone, so that it starts in a moment.
In: a line of JSON, then, without a path, a serialized database. Out: JSON.

SQLite asks the authorizer before it prepares anything, the progress handler while it runs.
"""

import json
import math
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

_MAX_BYTES = 100_000
_MAX_HEAP_BYTES = 256_000_000
_MAX_ANSWER_BYTES = 2_000_000
_STEPS_BETWEEN_LOOKS = 2_000
_MAX_LIKE_WORK = 2_000_000
_NAMED = 3

READABLE = ("companies", "facts", "filings", "fiscal_years", "tickers")
_BEHIND = frozenset({"concepts", "reports", "reported"})
# What a day sees of each table: what was filed by then, and no newer day in the rest.
_AS_OF = {
    "facts": "SELECT * FROM main.facts WHERE filing_date <= '{day}'",
    "filings": "SELECT * FROM main.filings WHERE filing_date <= '{day}'",
    "fiscal_years": "SELECT * FROM main.fiscal_years WHERE end_date <= '{day}'",
    "companies": "SELECT cik, ticker, name, sic, industry, exchange, currency, dataset, retrieved_at,"
    " min(complete_through, '{day}') AS complete_through, first_end FROM main.companies",
}
_REFUSED_TABLES = ("pragma_", "sqlite_", "dbstat")
_REFUSED_FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "glob", "match", "snippet", "highlight"}
)


def run(connection: sqlite3.Connection, query: str, as_of: str | None, max_rows: int, seconds: float) -> dict[str, Any]:
    """Return ``columns``, ``rows`` and ``truncated``, or ``code`` and ``error`` where SQLite refuses the query."""
    columns = _list_columns(connection)
    connection.execute("PRAGMA temp_store = MEMORY")
    _lay_views(connection, as_of)
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
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            return {"code": sqlite3.SQLITE_ERROR, "error": "it is no SELECT"}
        return _fetch(cursor, max_rows)
    except MemoryError:
        return {"code": sqlite3.SQLITE_NOMEM, "error": "out of memory"}
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        return {"code": code, "error": _explain(str(error), query, columns)}


def _list_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of every table that may be read."""
    return {table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] for table in READABLE}


def _lay_views(connection: sqlite3.Connection, as_of: str | None) -> None:
    """Put a day's view before each table that has days of filing."""
    for table, seen in _AS_OF.items() if as_of is not None else ():
        connection.execute(f"CREATE TEMP VIEW {table} AS {seen.format(day=as_of)}")


def _explain(message: str, query: str, columns: dict[str, list[str]]) -> str:
    """Return SQLite's message; of a column that does not exist, also which ones do."""
    missing = re.search(r"no such column: (?:\w+\.)*(\w+)", message)
    if missing is None:
        return message
    words = set(re.findall(r"\w+", query.lower()))
    asked = [table for table in columns if table in words] or list(columns)
    near = get_close_matches(missing[1].lower(), sorted({name for table in asked for name in columns[table]}), n=_NAMED)
    perhaps = f"; did you mean {', '.join(near)}?" if near else "."
    there = "; ".join(f"{table} has {', '.join(columns[table])}" for table in asked)
    return f"{message}{perhaps} {there}"


def _fetch(cursor: sqlite3.Cursor, max_rows: int) -> dict[str, Any]:
    columns = _names([column[0] for column in cursor.description])
    rows: list[list[Any]] = []
    size = 0
    for row in cursor:
        if len(rows) == max_rows or size > _MAX_ANSWER_BYTES:
            return {"columns": columns, "rows": rows, "truncated": True}
        cells = [_cell(cell) for cell in row]
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in cells)
        rows.append(cells)
    return {"columns": columns, "rows": rows, "truncated": False}


def _new_authorizer(connection: sqlite3.Connection, *, is_dated: bool) -> Callable[..., int]:
    """Return who decides what a query may do: read our tables and what the query itself names, nothing else."""
    stored = {name for (name,) in connection.execute("SELECT lower(name) FROM sqlite_master")}
    closed = stored - set(READABLE) - _BEHIND

    def authorize(action: int, first: str | None, second: str | None, database: str | None, options: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if str(second).lower() in _REFUSED_FUNCTIONS else sqlite3.SQLITE_OK
        table = (first or "").lower()
        if not second and table in _BEHIND.union(_AS_OF):
            # count(*) over the view: nothing is read of the table but how many rows it has.
            is_open = True
        elif table in _BEHIND:
            # The view may look behind itself; a query may not, or it would see past ``as_of``.
            is_open = options is not None and options.lower() == "facts"
        elif is_dated and table in _AS_OF and database == "main":
            # The view of the facts names the companies.
            is_open = options is not None and options.lower() in (table, "facts")
        else:
            is_open = table not in closed and not table.startswith(_REFUSED_TABLES)
        return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_READ and is_open else sqlite3.SQLITE_DENY

    return authorize


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


def main() -> None:
    """Answer the one call that stands in the input."""
    call = json.loads(sys.stdin.buffer.readline())
    if call["path"] is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(sys.stdin.buffer.read())
    else:
        connection = sqlite3.connect(call["path"], uri=True, isolation_level=None)
    answer = run(connection, call["query"], call["as_of"], call["max_rows"], call["seconds"])
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    main()
