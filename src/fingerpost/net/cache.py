"""Cache HTTP responses in memory, and merge identical concurrent requests."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from fingerpost.errors import SourceLimited
from fingerpost.net.request import Request
from fingerpost.net.response import Response

# Fetches a response; the request is conditional if an older response is passed.
Refetch = Callable[[Response | None], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Entry:
    response: Response
    expires_s: float


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Response]
    waiter_count: int = 0


class Cache:
    """A bounded LRU cache of responses, keyed by ``Request.key``; it revalidates expired entries."""

    def __init__(self, *, max_bytes: int = 64_000_000, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock_s = clock_s
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._size_bytes = 0
        self._flights: dict[str, _Flight] = {}

    async def get(self, request: Request, fetch: Refetch) -> Response:
        """Return a fresh cached response, join a request in flight, or fetch the response."""
        key = request.key
        entry = self._entries.get(key)
        if entry is not None and self._clock_s() < entry.expires_s:
            self._entries.move_to_end(key)
            return replace(entry.response, from_cache=True)
        flight = self._flights.get(key)
        if flight is not None:
            try:
                return await self._wait(key, flight)
            except SourceLimited:
                # Retry, because the caller that sent the request may have had less time to wait.
                flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(self._fetch(key, request, fetch, entry)))
        return await self._wait(key, flight)

    async def _wait(self, key: str, flight: _Flight) -> Response:
        flight.waiter_count += 1
        try:
            # Shield the task, because other callers may be waiting for it too.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiter_count -= 1
            if flight.waiter_count == 0 and not flight.task.done():
                del self._flights[key]
                flight.task.cancel()

    async def _fetch(self, key: str, request: Request, fetch: Refetch, entry: _Entry | None) -> Response:
        this_task = asyncio.current_task()
        try:
            response = await fetch(None if entry is None else entry.response)
            if request.may_cache is None or request.may_cache(response):
                self._store(key, _Entry(response, self._clock_s() + request.fresh_s))
            return response
        finally:
            flight = self._flights.get(key)
            if flight is not None and flight.task is this_task:
                del self._flights[key]

    def _store(self, key: str, entry: _Entry) -> None:
        self._drop(key)
        size = len(entry.response.body)
        if size > self._max_bytes:
            return
        self._entries[key] = entry
        self._size_bytes += size
        while self._size_bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size_bytes -= len(entry.response.body)
