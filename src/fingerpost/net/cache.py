"""An in-memory response cache that merges concurrent requests for one key."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from fingerpost.errors import SourceLimited
from fingerpost.net.outcomes import Ending
from fingerpost.net.response import Response

Fetch = Callable[[Response | None], Awaitable[Response]]
"""Asks the source; given an older answer, only for a newer one."""


@dataclass(frozen=True, slots=True)
class _Entry:
    response: Response
    until_s: float


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Response]
    waiting: int = 0


class Cache:
    """A bounded LRU cache of responses.

    Keys come from ``Request.key``, which holds no secret. An entry that is no longer fresh is kept for its
    validators: the source then says whether it has changed.
    """

    def __init__(self, *, max_bytes: int = 64_000_000, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock_s = clock_s
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._held_bytes = 0
        self._flights: dict[str, _Flight] = {}

    async def get(
        self,
        key: str,
        fresh_s: float,
        fetch: Fetch,
        count: Callable[[Ending], None] = lambda _: None,
        may_keep: Callable[[Response], bool] | None = None,
        *,
        renew: bool = False,
    ) -> Response:
        """Return a fresh answer from memory, or the one that is being fetched, or fetch it.

        ``count`` is called for the first two. An answer that ``may_keep`` refuses is given to all who wait for it, and
        forgotten. Where ``renew``, the answer in memory is neither returned nor confirmed by the source, but replaced.

        Raises:
            ToolError: whatever ``fetch`` raises, to everybody who waits; errors are not kept.
        """
        entry = None if renew else self._entries.get(key)
        if entry is not None and self._clock_s() < entry.until_s:
            self._entries.move_to_end(key)
            count(Ending.MEMORY)
            return replace(entry.response, from_cache=True)
        flight = self._flights.get(key)
        if flight is not None:
            count(Ending.JOINED)
            try:
                return await self._wait(key, flight)
            except SourceLimited:
                # The caller that began the request may have less time to wait than this one.
                flight = self._flights.get(key)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._fetch(key, fresh_s, fetch, entry, may_keep)))
            self._flights[key] = flight
        return await self._wait(key, flight)

    async def _wait(self, key: str, flight: _Flight) -> Response:
        flight.waiting += 1
        try:
            # One who leaves does not take the answer away from the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0 and not flight.task.done():
                self._flights.pop(key, None)
                flight.task.cancel()

    async def _fetch(
        self,
        key: str,
        fresh_s: float,
        fetch: Fetch,
        entry: _Entry | None,
        may_keep: Callable[[Response], bool] | None,
    ) -> Response:
        mine = asyncio.current_task()
        try:
            response = await fetch(entry.response if entry is not None else None)
            if may_keep is None or may_keep(response):
                self._keep(key, _Entry(response, self._clock_s() + fresh_s))
            return response
        finally:
            flight = self._flights.get(key)
            if flight is not None and flight.task is mine:
                del self._flights[key]

    def _keep(self, key: str, entry: _Entry) -> None:
        self._drop(key)
        size = len(entry.response.body)
        if size > self._max_bytes:
            return
        self._entries[key] = entry
        self._held_bytes += size
        while self._held_bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._held_bytes -= len(entry.response.body)
