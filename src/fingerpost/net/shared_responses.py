"""Share HTTP responses between the processes that use one folder."""

import hashlib
import logging
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from fingerpost import clock
from fingerpost.net.request import Fetch, Request
from fingerpost.net.response import Response
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.atomic_file import replace_file

_log = logging.getLogger(__name__)

# The headers that are stored; others may hold secrets, such as cookies.
_HEADERS = ("etag", "last-modified", "content-type")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedResponses:
    """A ``Fetch`` that sends each request at most once per ``fresh_s`` seconds for all processes that share a folder.

    Failures are not shared. If the folder cannot be used, each process sends its own request.
    """

    folder: Path
    fetch: Fetch
    fresh_s: float

    async def __call__(self, request: Request, known: Response | None = None) -> Response:
        from filelock import AsyncFileLock, Timeout

        path = self.folder / hashlib.sha256(request.key.encode()).hexdigest()[:32]
        lock = AsyncFileLock(path.with_suffix(".lock"), timeout=request.limits.total_s)
        try:
            await run_in_thread(self.folder.mkdir, 0o700, parents=True, exist_ok=True)
            await lock.acquire()
        except (OSError, Timeout) as error:
            _log.warning("realtime data is not being shared with other processes: %s", error)
            return await self.fetch(request, known)
        try:
            shared, is_fresh = await run_in_thread(self._read, path)
            if shared is None or not is_fresh:
                response = await self.fetch(request, known or shared)
                await run_in_thread(_write, path, response)
                return response
        finally:
            await lock.release()
        if known is not None and known.body == shared.body:
            return replace(known, retrieved_at=shared.retrieved_at, from_cache=True)
        return shared

    def _read(self, path: Path) -> tuple[Response | None, bool]:
        try:
            # Do not use retrieved_at, because FINGERPOST_NOW may override it.
            age_s = clock.read_system_s() - path.stat().st_mtime
            return replace(_codec().validate_json(path.read_bytes()), from_cache=True), 0 <= age_s < self.fresh_s
        except (OSError, ValueError):
            return None, False


def _write(path: Path, response: Response) -> None:
    headers = {name: value for name, value in response.headers.items() if name in _HEADERS}
    try:
        replace_file(path, _codec().dump_json(replace(response, headers=headers)))
    except OSError as error:
        _log.warning("realtime data is not being shared with other processes: %s", error)


@cache
def _codec() -> TypeAdapter[Response]:
    return TypeAdapter(Response)
