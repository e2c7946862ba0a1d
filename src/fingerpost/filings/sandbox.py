"""Run a caller's SELECT over the figures in a separate process, and kill the process at a deadline."""

import json
import sys
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import anyio

from fingerpost.errors import ParameterError, SourceLimited, StorageUnavailable
from fingerpost.filings import sandbox_process
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import LAST_DAY
from fingerpost.filings.query_params import CustomSqlParams
from fingerpost.filings.reply import Reply
from fingerpost.filings.store import create_sample
from fingerpost.runtime.concurrency import compute, enter_slot

_COMMAND = (sys.executable, "-I", "-S", sandbox_process.__file__)
# The deadline includes about 50 ms to start the process. SQLite cannot enforce it while an SQL function is running.
_DEADLINE_S = 2
_MAX_WAIT_S = 3.0
_TICKER_NOTE = "The tables list companies under their main ticker; the tickers table lists the others by cik"


async def run_sql(library: FactLibrary, params: CustomSqlParams, caller: str) -> Reply:
    """Return the rows of a SELECT; raise ParameterError for other queries, or SourceLimited if too many are running."""
    async with AsyncExitStack() as stack:
        # Each process may use a full CPU core.
        for key, limit, queries in ((f" of {caller}", 2, "of your SQL queries"), ("", 6, "SQL queries")):
            try:
                await enter_slot(stack, f"SQL{key}", limit, _MAX_WAIT_S)
            except TimeoutError as error:
                raise SourceLimited(f"{limit} {queries} are running, which is the limit", retry_after_s=2.0) from error
        answer = await _execute(await compute(_write_input, library, params))
    if "error" in answer:
        raise ParameterError(f"Error executing custom SQL: {answer['error']}", {"field": "sql_query"})
    rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    return Reply(rows, extra={"truncated": answer["truncated"]}, notes=[] if rows else [_TICKER_NOTE])


def _write_input(library: FactLibrary, params: CustomSqlParams) -> bytes:
    (_, _, file), *_ = library.rows("PRAGMA database_list")
    address = f"{Path(file).as_uri()}?mode=ro" if file else None
    head = json.dumps([address, params.sql_query, params.as_of or LAST_DAY]).encode() + b"\n"
    if file:
        return head
    with closing(create_sample()) as sample:
        return head + sample.serialize()


async def _execute(process_input: bytes) -> dict[str, Any]:
    """Return the process's response; kill the process at the deadline, or if the caller is cancelled."""
    try:
        with anyio.fail_after(_DEADLINE_S):
            process = await anyio.run_process(_COMMAND, input=process_input, check=False)
    except TimeoutError:
        return {"error": f"it was stopped after {_DEADLINE_S} s; narrow it, or join fewer rows"}
    except OSError as error:
        raise StorageUnavailable(f"Cannot execute custom SQL - its process cannot be started: {error}") from error
    # A process that needs too much memory writes no response.
    content = b'{"error": "it needs too much memory; narrow it"}' if process.returncode else process.stdout
    # JSON has no infinite numbers, so they become text.
    return dict(json.loads(content, parse_constant=str))
