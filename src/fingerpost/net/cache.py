"""Cache HTTP responses: in memory, with concurrent requests merged, and in files that processes share."""

import asyncio
import hashlib
import json
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from fingerpost import clock
from fingerpost.errors import SourceLimited
from fingerpost.net.outcomes import Ending, count_request
from fingerpost.net.request import Fetch, Request
from fingerpost.net.response import Response

_log = logging.getLogger(__name__)

# The headers stored with a shared response.
_HEADERS = ("etag", "last-modified", "content-type")
_RETENTION_S = 86_400

# Fetches a response; given an older one, only if it has changed.
Refetch = Callable[[Response | None], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Entry:
    response: Response
    expires_s: float


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Response]
    waiting: int = 0


class Cache:
    """A bounded LRU cache of responses by ``Request.key``; expired entries are kept for revalidation."""

    def __init__(self, *, max_bytes: int = 64_000_000, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock_s = clock_s
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._size_bytes = 0
        self._flights: dict[str, _Flight] = {}

    async def get(self, request: Request, fetch: Refetch) -> Response:
        """Return a fresh response from memory, or one that is being fetched, or fetch it."""
        key, host = request.key, request.split().hostname or ""
        entry = self._entries.get(key)
        if entry is not None and request.renew is not None and entry.response.retrieved_at <= request.renew:
            entry = None
        if entry is not None and self._clock_s() < entry.expires_s:
            self._entries.move_to_end(key)
            count_request(host, Ending.MEMORY)
            return replace(entry.response, from_cache=True)
        flight = self._flights.get(key)
        if flight is not None:
            count_request(host, Ending.JOINED)
            try:
                return await self._wait(key, flight)
            except SourceLimited:
                # The caller that began the request may have had less time to wait.
                flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(self._fetch(request, key, fetch, entry)))
        return await self._wait(key, flight)

    async def _wait(self, key: str, flight: _Flight) -> Response:
        flight.waiting += 1
        try:
            # A cancelled caller does not cancel the request of the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0 and not flight.task.done():
                self._flights.pop(key, None)
                flight.task.cancel()

    async def _fetch(self, request: Request, key: str, fetch: Refetch, entry: _Entry | None) -> Response:
        own_task = asyncio.current_task()
        try:
            response = await fetch(entry.response if entry is not None else None)
            if request.may_cache is None or request.may_cache(response):
                self._store(key, _Entry(response, self._clock_s() + request.fresh_s))
            return response
        finally:
            flight = self._flights.get(key)
            if flight is not None and flight.task is own_task:
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


class SharedResponses:
    """A ``Fetch`` that sends a request at most once in ``fresh_s`` seconds for all processes that share a folder.

    Only its owner can read the folder. While one process sends, the others wait. Failures are not shared. If the
    folder cannot be used, each process sends its own request.
    """

    def __init__(
        self, folder: Path, fetch: Fetch, *, fresh_s: float, clock_s: Callable[[], float] = clock.system_s
    ) -> None:
        self._folder = folder
        self._fetch = fetch
        self._fresh_s = fresh_s
        self._clock_s = clock_s

    async def __call__(self, request: Request, known: Response | None = None) -> Response:
        from filelock import AsyncFileLock, Timeout

        path = self._folder / hashlib.sha256(request.key.encode()).hexdigest()[:32]
        try:
            shared, is_fresh = await asyncio.to_thread(self._find, path)
            if shared is not None and is_fresh:
                return _as_known(shared, known)
            await asyncio.to_thread(self._folder.mkdir, 0o700, parents=True, exist_ok=True)
            lock = AsyncFileLock(path.with_suffix(".lock"), timeout=request.limits.total_s)
            await lock.acquire()
        except (OSError, Timeout) as error:
            _log.warning("realtime data is not shared with other processes: %s", error)
            return await self._fetch(request, known)
        try:
            shared, is_fresh = await asyncio.to_thread(self._find, path)
            if shared is not None and is_fresh:
                return _as_known(shared, known)
            response = await self._fetch(request, known or shared)
            await asyncio.to_thread(self._store, path, response)
            return response
        finally:
            await lock.release()

    def _find(self, path: Path) -> tuple[Response | None, bool]:
        try:
            age_s = self._clock_s() - path.stat().st_mtime
            return _decode(path.read_bytes()), 0 <= age_s < self._fresh_s
        except (FileNotFoundError, ValueError, KeyError):
            return None, False

    def _store(self, path: Path, response: Response) -> None:
        draft = path.with_suffix(f".{os.getpid()}")
        try:
            draft.write_bytes(_encode(response))
            now_s = self._clock_s()
            os.utime(draft, (now_s, now_s))
            draft.replace(path)
            for other in self._folder.iterdir():
                if now_s - other.stat().st_mtime > _RETENTION_S:
                    other.unlink()
        except OSError as error:
            _log.warning("realtime data is not shared with other processes: %s", error)
            with suppress(OSError):
                draft.unlink()


def _as_known(shared: Response, known: Response | None) -> Response:
    if known is not None and known.body == shared.body:
        return replace(known, retrieved_at=shared.retrieved_at, from_cache=True)
    return shared


def _encode(response: Response) -> bytes:
    head = {
        "status": response.status,
        "headers": {name: response.headers[name] for name in _HEADERS if name in response.headers},
        "redacted_url": response.redacted_url,
        "retrieved_at": response.retrieved_at.isoformat(),
        "bytes": len(response.body),
    }
    return json.dumps(head).encode() + b"\n" + response.body


def _decode(content: bytes) -> Response:
    head, _, body = content.partition(b"\n")
    fields = json.loads(head)
    if len(body) != fields["bytes"]:
        raise ValueError("truncated")
    return Response(
        status=fields["status"],
        headers=fields["headers"],
        body=body,
        redacted_url=fields["redacted_url"],
        retrieved_at=datetime.fromisoformat(fields["retrieved_at"]),
        from_cache=True,
    )
