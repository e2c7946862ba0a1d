"""Group commit: write all waiting records of a journal in one transaction."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from fingerpost.errors import ToolError
from fingerpost.plan.records import JournalFailed

_log = logging.getLogger(__name__)

# An event waits at most this long for a record whose commit it can share.
_MAX_DELAY_S = 0.02

Row = dict[str, Any]
"""A statement's parameters by name, always including ``run_id``."""

_R = TypeVar("_R")


class JournalSession(Protocol):
    """A connection to the runs' database; all methods except ``stop_waiting`` must be called in the writer's thread."""

    def transact(self, act: Callable[[Any], _R], *, is_write: bool = False) -> _R:
        """Call a function with the connection in one transaction; ``is_write`` is true for a batch of records."""

    def find_lost_runs(self, connection: Any, run_ids: Collection[str]) -> Collection[str]:
        """Return the runs deleted or claimed by another process, whose records must be rejected."""

    def stop_waiting(self) -> None:
        """Stop waiting for an unreachable database; any thread may call this."""

    def close(self) -> None: ...


@dataclass(slots=True)
class _Batch:
    waiters: list[tuple[str, "asyncio.Future[None]"]] = field(default_factory=list)
    rows: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    """Keyed by statement."""


class GroupCommit:
    """The writer of a journal for one event loop: a thread with its own connection."""

    def __init__(self, session: JournalSession) -> None:
        self.loop = asyncio.get_running_loop()
        self._session = session
        self._batch = _Batch()
        self._is_busy = False
        self._is_requested = False
        self._timer: asyncio.TimerHandle | None = None
        self.is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fingerpost-journal")

    def put(self, run_id: str, rows: Iterable[tuple[str, Row]]) -> "asyncio.Future[None]":
        """Add statements and their rows to the next transaction; the future completes once the rows are on disk."""
        for statement, row in rows:
            self._batch.rows[statement].append(row)
        waiter = self._new_waiter(run_id)
        if not self._is_requested:
            self._is_requested = True
            # Defer the commit, so that other records from the same loop iteration share it.
            self.loop.call_soon(self._commit_batch)
        return waiter

    def _new_waiter(self, run_id: str) -> "asyncio.Future[None]":
        waiter = self.loop.create_future()
        self._batch.waiters.append((run_id, waiter))
        return waiter

    def append(self, statement: str, row: Row) -> None:
        self._batch.rows[statement].append(row)
        if self._timer is None:
            self._timer = self.loop.call_later(_MAX_DELAY_S, self._request_commit)

    def transact(self, act: Callable[[Any], _R]) -> "asyncio.Future[_R]":
        """Run a function with the connection after all queued work, even if the caller is cancelled."""
        return asyncio.shield(self.submit(partial(self._session.transact, act)))

    def submit(self, act: Callable[[], _R]) -> "asyncio.Future[_R]":
        """Run a function in the writer's thread; cancelling the future before it starts prevents the call."""
        return asyncio.wrap_future(self._thread.submit(act), loop=self.loop)

    async def drain(self) -> None:
        """Wait until all queued rows are written or rejected; after ``close``, do not wait."""
        if not self.is_closed and (self._is_busy or self._batch.rows):
            waiter = self._new_waiter("")
            self._request_commit()
            await asyncio.wait([waiter])
            waiter.exception()

    def close(self) -> None:
        """Stop the thread after the submitted batches, and drop the unsubmitted batch."""
        if self._timer is not None:
            self._timer.cancel()
        self.is_closed = True
        self._session.stop_waiting()
        self._thread.submit(self._session.close)
        self._thread.shutdown()

    def _request_commit(self) -> None:
        self._is_requested = True
        self._commit_batch()

    def _commit_batch(self) -> None:
        if self._is_busy or not self._is_requested:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._batch = self._batch, _Batch()
        self._is_busy, self._is_requested = True, False
        commit = partial(self._session.transact, partial(self._write, batch.rows), is_write=True)
        self._thread.submit(commit).add_done_callback(partial(self._finish_soon, batch))

    def _finish_soon(self, batch: _Batch, future: "Future[Collection[str]]") -> None:
        """Finish a batch on the event loop; the writer's thread calls this."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._finish, batch, future)

    def _write(self, rows: Mapping[str, Sequence[Row]], connection: Any) -> Collection[str]:
        run_ids = {row["run_id"] for statement_rows in rows.values() for row in statement_rows}
        lost = self._session.find_lost_runs(connection, run_ids)
        for statement, statement_rows in rows.items():
            if stored := [row for row in statement_rows if row["run_id"] not in lost]:
                connection.cursor().executemany(statement, stored)
        return lost

    def _finish(self, batch: _Batch, future: "Future[Collection[str]]") -> None:
        self._is_busy = False
        if (error := future.exception()) is not None:
            _log.error("the journal could not be written: %s", error)
        for run_id, waiter in batch.waiters:
            if waiter.done():
                continue
            if error is not None:
                reason = f": {error.message}" if isinstance(error, ToolError) else ""
                failed = JournalFailed(f"The progress of a run could not be stored{reason}")
                failed.__cause__ = error
                waiter.set_exception(failed)
            elif run_id in future.result():
                waiter.set_exception(
                    JournalFailed("The run is now being executed elsewhere, so its later steps here are not recorded")
                )
            else:
                waiter.set_result(None)
        self._commit_batch()
