"""Counts of requests by host and by how they ended, for reports to the operator."""

import asyncio
import threading
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from fingerpost.errors import SourceLimited, SourceTimeout, SourceUnreachable, ToolError
from fingerpost.net.passage import Served
from fingerpost.runtime.instruments import HOST, SOURCE_REQUESTS

_WRITTEN_AFTER_S = 1.0


class Ending(StrEnum):
    """How a request ended.

    ``MEMORY`` and ``JOINED`` did not reach the source: an answer was kept, or was being fetched for another request.
    ``LIMITED`` is a wait that the source or our own limiter asked for, ``RESTING`` a host that is left alone for now.
    """

    ANSWERED = "answered"
    MEMORY = "from memory"
    JOINED = "joined another"
    LIMITED = "limited"
    RESTING = "not asked while it rests"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    FAILED = "failed"


class CountStore(Protocol):
    """Where counts are added up; may block and is called in a thread."""

    def add(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Add counts by host and ending; what cannot be written is lost, and logged."""
        ...


class RequestCounts:
    """Counts of one client, written at most once a second while there is something to write, and when it closes.

    A process that is killed loses what it counted in its last second.
    """

    def __init__(self, store: CountStore | None = None) -> None:
        self._store = store
        self._pending: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, host: str, ending: Ending) -> None:
        """Count one request of the running event loop."""
        SOURCE_REQUESTS.add(1, {HOST: host, "fingerpost.request.ending": ending.value})
        if self._store is None:
            return
        with self._lock:
            self._pending[host, ending.value] += 1
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_WRITTEN_AFTER_S, self._write_soon, loop)

    async def aclose(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await asyncio.to_thread(self._write)

    def _write_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        loop.run_in_executor(None, self._write)

    def _write(self) -> None:
        with self._lock:
            counts, self._pending = self._pending, Counter()
        if counts and self._store is not None:
            self._store.add(counts)


def ending_of(failure: ToolError | None) -> Ending:
    """Return how a request ended that reached its source, or tried to."""
    if failure is None:
        return Ending.ANSWERED
    if isinstance(failure, SourceLimited):
        return Ending.LIMITED
    if isinstance(failure, SourceTimeout):
        return Ending.TIMED_OUT
    if isinstance(failure, SourceUnreachable):
        return Ending.RESTING if "retry_after_s" in failure.details else Ending.UNREACHABLE
    return Ending.FAILED


def ending_of_served(served: Served) -> Ending:
    """Return how a request ended that did not ask its source."""
    return Ending.MEMORY if served is Served.MEMORY else Ending.JOINED
