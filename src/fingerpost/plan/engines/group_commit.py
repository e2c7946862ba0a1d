"""Group commit: all records that are ready when the disk is free are written in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from fingerpost.errors import ToolError
from fingerpost.plan.records import JournalFailed

_log = logging.getLogger(__name__)

# An event waits so long to share a commit with a record.
_MAX_DELAY_S = 0.02

Row = tuple[Any, ...]
_R = TypeVar("_R")


class JournalSession(Protocol):
    """One connection to where runs are stored; every method but ``give_up`` is called by the writer's thread alone."""

    def transact(self, act: Callable[[Any], _R]) -> _R:
        """Return what a function of the connection returns; its statements are one transaction."""

    def commit(self, steps: Sequence[Row], events: Sequence[Row], states: Sequence[Row]) -> Collection[str]:
        """Write rows in one transaction, and return the runs whose rows are refused: another process has taken them.

        The id of its run is the first value of a step or event, and the last of a state.
        """

    def give_up(self) -> None:
        """Stop waiting for a database that cannot be reached; may be called by any thread."""

    def close(self) -> None: ...


@dataclass(slots=True)
class _Batch:
    waiters: list[tuple[str, "asyncio.Future[None]"]] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    states: list[Row] = field(default_factory=list)


class GroupCommit:
    """The writer of a journal for one event loop: a thread with a connection of its own."""

    def __init__(self, session: JournalSession) -> None:
        self.loop = asyncio.get_running_loop()
        self._session = session
        self._open = _Batch()
        self._is_busy = False
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fingerpost-journal")

    def put(self, run_id: str, step: Row | None, events: list[Row], state: Row | None) -> "asyncio.Future[None]":
        """Add to the next transaction; the returned future is done once it is on disk."""
        batch = self._open
        if step is not None:
            batch.steps.append(step)
        batch.events += events
        if state is not None:
            batch.states.append(state)
        durable = self._new_waiter(run_id)
        if not self._is_due:
            self._is_due = True
            # Not at once: what else is ready in this turn of the loop shares the commit.
            self.loop.call_soon(self._hand_over)
        return durable

    def _new_waiter(self, run_id: str) -> "asyncio.Future[None]":
        durable = self.loop.create_future()
        self._open.waiters.append((run_id, durable))
        return durable

    def append_event(self, event: Row) -> None:
        self._open.events.append(event)
        if self._timer is None:
            self._timer = self.loop.call_later(_MAX_DELAY_S, self._commit_now)

    def transact(self, act: Callable[[Any], _R]) -> "asyncio.Future[_R]":
        """Run a function on the connection, after all that was queued so far, whether or not the caller waits."""
        return asyncio.shield(self.submit(partial(self._session.transact, act)))

    def submit(self, act: Callable[[], _R]) -> "asyncio.Future[_R]":
        """Run a function in the writer's thread; cancelling the future prevents it if it has not begun."""
        return self.loop.run_in_executor(self._thread, act)

    async def drained(self) -> None:
        """Wait until all that was queued so far is written, or could not be."""
        if self._is_busy or self._open.events or self._open.steps or self._open.states:
            durable = self._new_waiter("")
            self._commit_now()
            await asyncio.wait([durable])
            durable.exception()

    def close(self) -> None:
        """End the thread once it has written the batches handed to it; the open batch is dropped."""
        if self._timer is not None:
            self._timer.cancel()
        self._session.give_up()
        self._thread.submit(self._session.close)
        self._thread.shutdown()

    def _commit_now(self) -> None:
        self._is_due = True
        self._hand_over()

    def _hand_over(self) -> None:
        if self._is_busy or not self._is_due:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._open = self._open, _Batch()
        self._is_busy, self._is_due = True, False
        commit = partial(self._session.commit, batch.steps, batch.events, batch.states)
        self.submit(commit).add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: _Batch, done: "asyncio.Future[Collection[str]]") -> None:
        self._is_busy = False
        if (error := done.exception()) is not None:
            _log.error("the journal could not be written: %s", error)
        for run_id, durable in batch.waiters:
            if durable.done():
                continue
            if error is not None:
                reason = f": {error.message}" if isinstance(error, ToolError) else ""
                failed = JournalFailed(f"The progress of a run could not be stored{reason}")
                failed.__cause__ = error
                durable.set_exception(failed)
            elif run_id in done.result():
                durable.set_exception(
                    JournalFailed("The run is executed elsewhere: its later steps here are not recorded")
                )
            else:
                durable.set_result(None)
        self._hand_over()
