"""Responses that the processes of one machine share through files, so that only one of them asks the source."""

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from fingerpost import clock
from fingerpost.net.request import Fetch, Request
from fingerpost.net.response import Response

_log = logging.getLogger(__name__)

_VALIDATORS = ("etag", "last-modified", "content-type")
_KEPT_S = 86_400


class SharedResponses:
    """A ``Fetch`` that asks another one at most once in ``fresh_s`` seconds, all processes of a folder together.

    While one asks, the others wait for its answer; an answer that came from another process has ``from_cache`` set.
    A failure is nobody else's: each process then asks by itself. Where the folder cannot be used, each always does.

    Args:
        folder: made when the first answer is written; only its owner may read it.
        fetch: asks the source.
        clock_s: Unix seconds, as files are dated; not the clock of answers, which a test or a replay may hold still.
    """

    def __init__(
        self, folder: Path, fetch: Fetch, *, fresh_s: float, clock_s: Callable[[], float] = clock.system_s
    ) -> None:
        self._folder = folder
        self._fetch = fetch
        self._fresh_s = fresh_s
        self._clock_s = clock_s

    async def __call__(self, request: Request, known: Response | None = None) -> Response:
        """Return the shared answer while it is fresh, else the source's; see ``Fetch``."""
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
            _log.warning("real time is not shared with other processes: %s", error)
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
                if now_s - other.stat().st_mtime > _KEPT_S:
                    other.unlink()
        except OSError as error:
            _log.warning("real time is not shared with other processes: %s", error)
            with suppress(OSError):
                draft.unlink()


def _as_known(shared: Response, known: Response | None) -> Response:
    if known is not None and known.body == shared.body:
        return replace(known, retrieved_at=shared.retrieved_at, from_cache=True)
    return shared


def _encode(response: Response) -> bytes:
    head = {
        "status": response.status,
        "headers": {name: response.headers[name] for name in _VALIDATORS if name in response.headers},
        "redacted_url": response.redacted_url,
        "retrieved_at": response.retrieved_at.isoformat(),
        "bytes": len(response.body),
    }
    return json.dumps(head).encode() + b"\n" + response.body


def _decode(content: bytes) -> Response:
    """Read what ``_encode`` wrote.

    Raises:
        ValueError, KeyError: it is something else, or cut off.
    """
    head, _, body = content.partition(b"\n")
    said = json.loads(head)
    if len(body) != said["bytes"]:
        raise ValueError("cut off")
    return Response(
        status=said["status"],
        headers=said["headers"],
        body=body,
        redacted_url=said["redacted_url"],
        retrieved_at=datetime.fromisoformat(said["retrieved_at"]),
        from_cache=True,
    )
