"""Cache HTTP responses in memory, and merge identical concurrent requests."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from fingerpost.errors import SourceLimited, ToolError
from fingerpost.net.request import Request
from fingerpost.net.response import Response

# Fetches a response; the request is conditional if an older response is passed.
Refetch = Callable[[Response | None], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Entry:
    response: Response
    expires_s: float


class _Abandoned(Exception):
    """The caller that sent the request left before the response arrived."""


class Cache:
    """A bounded LRU cache of responses, keyed by ``Request.key``; it revalidates expired entries."""

    def __init__(self, *, max_bytes: int = 64_000_000, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock_s = clock_s
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._size_bytes = 0
        self._flights: dict[str, asyncio.Future[Response]] = {}

    async def get(self, request: Request, fetch: Refetch) -> Response:
        """Return a fresh cached response, wait for an identical request, or fetch the response.

        If the caller that fetches it leaves, one of those that wait sends the request again, in a task that others
        share until the response arrives. Otherwise, callers that leave early could abandon one request after another.
        """
        key = request.key
        entry = self._entries.get(key)
        if entry is not None and self._clock_s() < entry.expires_s:
            self._entries.move_to_end(key)
            return replace(entry.response, from_cache=True)
        is_limited = was_abandoned = False
        while (flight := self._flights.get(key)) is not None:
            try:
                # Shield the future, because other callers may be waiting for it too.
                return await asyncio.shield(flight)
            except _Abandoned:
                was_abandoned = True
            except SourceLimited:
                # Try again once, because the caller that sent the request may have had less time to wait.
                if is_limited:
                    raise
                is_limited = True
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        fetching = self._fetch(flight, key, request, fetch, entry)
        # Usually, send the request in this task, because another task would add a tenth to a short request.
        await (asyncio.shield(asyncio.create_task(fetching)) if was_abandoned else fetching)
        return flight.result()

    async def _fetch(
        self, flight: "asyncio.Future[Response]", key: str, request: Request, fetch: Refetch, entry: _Entry | None
    ) -> None:
        try:
            response = await fetch(None if entry is None else entry.response)
            flight.set_result(response)
        except ToolError as error:
            flight.set_exception(error)
        except BaseException:
            flight.set_exception(_Abandoned())
            raise
        else:
            if request.may_cache is None or request.may_cache(response):
                self._store(key, _Entry(response, self._clock_s() + request.fresh_s))
        finally:
            del self._flights[key]
            # Otherwise, asyncio logs an exception if no caller is waiting.
            flight.exception()

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
