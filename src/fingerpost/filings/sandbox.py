"""Somebody else's SQL over our figures: read only, no way out, stopped in time.

The query runs in a process of its own (``sandbox_process``), which is killed when its time is over.
"""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fingerpost.errors import ParameterError, StorageUnavailable
from fingerpost.filings import sandbox_process, schema
from fingerpost.filings.store import new_sample, plain_ticker

MAX_ROWS = 1_000
DEADLINE_S = 1.5

# Beyond the query's own time: for the process to start, and for its answer to be written.
_GRACE_S = 1.5
_TEXT = re.compile(r"'([^']*)'")
_COMPARED = re.compile(
    r"\bticker\s*(?:==?|<>|!=|\bIS\b(?:\s+NOT\b)?|(?:\bNOT\s+)?\bLIKE\b)\s*'[^']*'"
    r"|\bticker\s+(?:NOT\s+)?IN\s*\(\s*'[^']*'(?:\s*,\s*'[^']*')*\s*\)"
    r"|'[^']*'\s*(?:==?|<>|!=)\s*(?:\w+\s*\.\s*)?ticker\b",
    re.IGNORECASE,
)
_FIELD = {"field": "sql_query"}
_WHAT_THERE_IS = f"The tables are {', '.join(sandbox_process.READABLE)}; only reading is allowed"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave; ``truncated`` where there was more, ``notes`` where it was read otherwise than written."""

    rows: list[dict[str, Any]]
    truncated: bool
    notes: tuple[str, ...] = ()


def run_sql(path: Path | None, query: str, as_of: str | None = None) -> Rows:
    """Return the rows of one SELECT over the figures; blocks for at most about DEADLINE_S and a second more.

    ``as_of`` (an ISO day) hides what was filed later. Any ticker of a company finds it.

    Raises:
        ParameterError: the query is refused, is wrong, or takes too long.
        StorageUnavailable: its process cannot be started.
    """
    call: dict[str, Any] = {"path": None, "as_of": as_of, "max_rows": MAX_ROWS, "seconds": DEADLINE_S}
    database = b""
    with _opened(path) as (connection, uri):
        query, notes = _name_companies(query, _list_main_tickers(connection))
        if uri is None:
            database = connection.serialize()
    answer = _run(json.dumps(call | {"path": uri, "query": query}).encode() + b"\n" + database)
    if "error" in answer:
        raise ParameterError(f"Error executing custom SQL: {_wording(answer['code'], answer['error'])}", _FIELD)
    rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    return Rows(rows, answer["truncated"], notes)


@contextmanager
def _opened(path: Path | None) -> Iterator[tuple[sqlite3.Connection, str | None]]:
    """Open what is queried: the file and its address, or the sample, which has none."""
    if path is not None and path.exists():
        file = schema.facts_file(path)
        with file.opened("ro") as connection:
            if not schema.is_empty(file, connection):
                yield connection, f"{path.absolute().as_uri()}?mode=ro"
                return
    sample = new_sample()
    try:
        yield sample, None
    finally:
        sample.close()


def _list_main_tickers(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the ticker under which the figures of each ticker's company stand; one that two companies bear is out."""
    found: dict[str, set[str]] = {}
    for ticker, main in connection.execute(
        "SELECT tickers.ticker, companies.ticker FROM tickers JOIN companies ON companies.cik = tickers.cik"
    ):
        found.setdefault(ticker, set()).add(main)
    return {ticker: min(mains) for ticker, mains in found.items() if len(mains) == 1}


def _name_companies(query: str, mains: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return a query in which a ticker that is compared with a column ``ticker`` is its company's main one, and notes.

    A company stands once in the tables, under one of its tickers; who asks by another must not find nothing.
    """
    notes: dict[str, None] = {}

    def rename(text: re.Match[str]) -> str:
        own = mains.get(plain_ticker(text[1]), text[1])
        if own != text[1]:
            notes[f"'{text[1]}' was read as '{own}', under which the company stands in the tables"] = None
        return f"'{own}'"

    renamed = _COMPARED.sub(lambda found: _TEXT.sub(rename, found[0]), query)
    return renamed, tuple(notes)


def _run(call: bytes) -> dict[str, Any]:
    try:
        done = subprocess.run(  # noqa: S603  (our own file, by our own interpreter)
            [sys.executable, "-I", "-S", sandbox_process.__file__],
            input=call,
            capture_output=True,
            timeout=DEADLINE_S + _GRACE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"code": sqlite3.SQLITE_INTERRUPT, "error": "interrupted"}
    except OSError as error:
        raise StorageUnavailable(f"Cannot execute custom SQL - its process cannot be started: {error}") from error
    if done.returncode:
        return {"code": sqlite3.SQLITE_NOMEM, "error": f"its process ended with status {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _wording(code: int, error: str) -> str:
    """Return what a caller can do about SQLite's message."""
    if code == sqlite3.SQLITE_INTERRUPT:
        return f"it was stopped after {DEADLINE_S} s; narrow it, or join on fewer rows"
    if code == sqlite3.SQLITE_NOMEM:
        return "it needs too much memory; narrow it"
    if "user-defined function" in error:
        return "a LIKE over so much text, or with ESCAPE, is refused"
    if code == sqlite3.SQLITE_TOOBIG:
        return "a text or the query itself is too long"
    return f"{error}. {_WHAT_THERE_IS}"
