"""Run a caller's SELECT over the figures in a separate process, and kill the process at a deadline.

SQLite in that process allocates at most 256 MB (``hard_heap_limit``). Values and queries are limited to 100 kB, and
responses to 1,000 rows or 2 MB, so that a query uses little memory in the parent process.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anyio

from fingerpost.errors import ParameterError, SourceLimited, StorageUnavailable
from fingerpost.filings import sandbox_process
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import LAST_DAY
from fingerpost.filings.query_params import CustomSqlParams
from fingerpost.filings.reply import Reply
from fingerpost.filings.store import create_sample
from fingerpost.runtime.concurrency import compute

_COMMAND = (sys.executable, "-I", "-S", sandbox_process.__file__)
# The deadline includes about 50 ms to start the process. SQLite cannot enforce it while an SQL function is running.
_DEADLINE_S = 2
# Each process may use a full CPU core. Each event loop counts the processes of each caller, and those of all callers
# under the key "".
_MAX_PROCESSES = 6
_MAX_PROCESSES_PER_CALLER = 2
_MAX_WAIT_S = 3.0
_slots: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Semaphore] = WeakValueDictionary()
_TICKER_NOTE = "The tables list companies under their main ticker; the tickers table lists the others by cik"


async def run_sql(library: FactLibrary, params: CustomSqlParams, caller: str) -> Reply:
    """Return the rows of a SELECT; raise ParameterError for other queries, or SourceLimited if too many are running."""
    async with AsyncExitStack() as slots:
        await _enter_slots(slots, caller)
        answer = await _execute(await compute(_write_input, library, params))
    if "error" in answer:
        raise ParameterError(f"Error executing custom SQL: {answer['error']}", {"field": "sql_query"})
    rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    return Reply(rows, extra={"truncated": answer["truncated"]}, notes=[] if rows else [_TICKER_NOTE])


async def _enter_slots(stack: AsyncExitStack, caller: str) -> None:
    loop, running = asyncio.get_running_loop(), ""
    try:
        async with asyncio.timeout(_MAX_WAIT_S):
            for key, limit in ((f"caller {caller}", _MAX_PROCESSES_PER_CALLER), ("", _MAX_PROCESSES)):
                running = f"{limit} {'of your ' if key else ''}SQL queries"
                await stack.enter_async_context(_slots.setdefault((loop, key), asyncio.Semaphore(limit)))
    except TimeoutError as error:
        raise SourceLimited(f"{running} are running, which is the limit", retry_after_s=2.0) from error


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
    if process.returncode:
        # A process that needs too much memory writes no response.
        return {"error": "it needs too much memory; narrow it"}
    # JSON cannot represent infinity, so infinite values become text.
    answer: dict[str, Any] = json.loads(process.stdout, parse_constant=lambda number: str(float(number)))
    return answer
