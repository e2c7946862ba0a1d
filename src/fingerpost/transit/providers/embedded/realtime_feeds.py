"""Where a network's real time comes from: files and URLs, asked politely, the last good message of each kept.

A source that fails, or answers something that is no message, changes nothing but what is told of it.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from fingerpost.errors import SourceLimited, ToolError
from fingerpost.net.request import Bounds, Request, read_template
from fingerpost.net.response import Response
from fingerpost.transit.gtfs.realtime import CLOCK_SKEW_S, FeedBytes, find_timestamp
from fingerpost.transit.gtfs.realtime.outcomes import APPLIED
from fingerpost.transit.provenance import RealtimeHealth, SourceHealth
from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSource
from fingerpost.transit.timetable.overlay import Overlay

__all__ = ["POLL_S", "RealtimeFeeds", "RealtimeHealth", "RealtimeSource", "SourceHealth"]

# A URL is asked no more often than this; after failures less and less often.
POLL_S = 15
_LONGEST_WAIT_S = 300
_MAX_BYTES = 64_000_000
# Inode, size and time of writing.
_Stamp = tuple[int, ...]
_BOUNDS = Bounds(total_s=15.0, max_bytes=_MAX_BYTES, attempts=1)


class Fetch(Protocol):
    """How a URL is asked; ``net.client.Client.fetch`` is one. ``known`` makes the request conditional."""

    async def __call__(self, request: Request, known: Response | None = None) -> Response:
        """Return the answer, ``known`` itself where it still holds.

        Raises:
            ToolError: the source did not answer, or with a failure.
        """
        ...


@dataclass(slots=True)
class _Kept:
    """One source: its last good message, and when it may be asked again."""

    source: RealtimeSource
    message: FeedBytes | None = None
    timestamp: int | None = None
    asked: int | None = None
    due: int = 0
    failures: int = 0
    problem: str | None = None
    response: Response | None = None
    stamp: _Stamp = ()
    seen: _Stamp = ()
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def health_time(self) -> int | None:
        return self.timestamp or (self.message.received if self.message else None)


class _NoMessage(Exception):
    """What a source gave cannot be used; the text says why."""


class RealtimeFeeds:
    """The real time of one network.

    Args:
        sources: where it comes from.
        fetch: how a URL is asked.
        clock: the present instant.
    """

    def __init__(self, sources: Sequence[RealtimeSource], fetch: Fetch, clock: Callable[[], datetime]) -> None:
        self._kept = [_Kept(source) for source in sources]
        self._fetch = fetch
        self._clock = clock

    async def refresh(self, now: int | None = None, *, only_files: bool = False) -> bool:
        """Ask the sources that are due, all at once; return whether any message is new.

        ``now`` is Unix seconds, the clock's where left out. Never raises for what a source does.
        A URL that does not answer holds up only whoever asks for it.
        """
        instant = int(self._clock().timestamp()) if now is None else now
        asked = [kept for kept in self._kept if not (only_files and kept.source.is_url)]
        return any(await asyncio.gather(*(self._ask_if_due(kept, instant) for kept in asked)))

    async def _ask_if_due(self, kept: _Kept, now: int) -> bool:
        async with kept.lock:
            return now >= kept.due and await self._ask(kept, now)

    def are_urls_due(self, now: int) -> bool:
        """Whether a URL may be asked again at an instant (Unix seconds)."""
        return any(kept.source.is_url and now >= kept.due for kept in self._kept)

    def have_files_changed(self) -> bool:
        """Whether a file is another than when it was last looked at; one ``stat`` call a file."""
        return any(not kept.source.is_url and _stamp_of(kept.source.location) != kept.seen for kept in self._kept)

    def messages(self) -> tuple[FeedBytes, ...]:
        """Return the last good message of every source that has one."""
        return tuple(kept.message for kept in self._kept if kept.message is not None)

    def health(self, overlay: Overlay | None = None, now: int | None = None) -> RealtimeHealth:
        """Return how the sources fare, and what became of their messages in an overlay that was read from them."""
        instant = int(self._clock().timestamp()) if now is None else now
        counts = overlay.counts if overlay else {}
        return RealtimeHealth(
            sources=tuple(_health_of(kept, instant) for kept in self._kept),
            matched=MappingProxyType({reason: count for reason, count in counts.items() if reason in APPLIED}),
            unmatched=MappingProxyType({reason: count for reason, count in counts.items() if reason not in APPLIED}),
            calls=overlay.stop_time_counts if overlay else MappingProxyType({}),
            messages=overlay.message_counts if overlay else MappingProxyType({}),
        )

    async def _ask(self, kept: _Kept, now: int) -> bool:
        kept.asked = now
        try:
            is_new = await (self._ask_url(kept, now) if kept.source.is_url else self._read_file(kept, now))
        except (ToolError, _NoMessage) as error:
            kept.problem = str(error)
            kept.failures += 1
            kept.due = now + _wait_s(kept, error)
            return False
        kept.problem, kept.failures = None, 0
        kept.due = now + POLL_S if kept.source.is_url else now
        return is_new

    async def _ask_url(self, kept: _Kept, now: int) -> bool:
        url, secrets = read_template(kept.source.location)
        request = Request(url=url, secret_params=secrets, bounds=_BOUNDS)
        response = await self._fetch(request, kept.response)
        if kept.response is not None and response.body == kept.response.body:
            kept.response = response
            return False
        is_new = await self._keep(kept, response.body, now, now)
        kept.response = response
        return is_new

    async def _read_file(self, kept: _Kept, now: int) -> bool:
        before = kept.stamp
        kept.seen = _stamp_of(kept.source.location)
        data, kept.stamp, written = await asyncio.to_thread(_load, kept.source.location, before)
        if data is not None:
            return await self._keep(kept, data, min(written, now), now)
        if kept.problem is not None:
            raise _NoMessage(kept.problem)
        return False

    async def _keep(self, kept: _Kept, data: bytes, received: int, now: int) -> bool:
        """Put a message in the place of the kept one, unless it is damaged or older."""
        timestamp = await asyncio.to_thread(_timestamp, data)
        believed = kept.timestamp is not None and kept.timestamp <= now + CLOCK_SKEW_S
        if believed and timestamp is not None and timestamp < (kept.timestamp or 0):
            raise _NoMessage("The source gave an older message than before.")
        kept.message = FeedBytes(data, received, kept.source.feed_name)
        kept.timestamp = timestamp
        return True


def _load(location: str, before: _Stamp) -> tuple[bytes | None, _Stamp, int]:
    """Return what a file holds, None where it is the same as before, what tells it apart, and when it was written."""
    path = Path(location).expanduser()
    try:
        stat = path.stat()
        stamp = _stamp_from(stat)
        if stamp == before:
            return None, stamp, int(stat.st_mtime)
        if stat.st_size > _MAX_BYTES:
            raise _NoMessage(f"{path.name} is larger than a message may be.")
        return path.read_bytes(), stamp, int(stat.st_mtime)
    except OSError as error:
        raise _NoMessage(f"{path.name} cannot be read: {error.strerror or type(error).__name__}.") from error


def _stamp_of(location: str) -> _Stamp:
    """Return what tells a file's content apart; empty where there is none."""
    try:
        return _stamp_from(os.stat(os.path.expanduser(location)))  # noqa: PTH116, PTH111  # on every call's way
    except OSError:
        return ()


def _stamp_from(stat: os.stat_result) -> _Stamp:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _timestamp(data: bytes) -> int | None:
    try:
        return find_timestamp(data)
    except ValueError as error:
        raise _NoMessage("The source gave something that is not a GTFS-Realtime message.") from error


def _wait_s(kept: _Kept, error: Exception) -> int:
    """Return how long to leave a source alone: a file may be mended at once, a URL needs patience."""
    if not kept.source.is_url:
        return 0
    patience_s = min(POLL_S << min(kept.failures, 10), _LONGEST_WAIT_S)
    asked_for_s = int(error.retry_after_s) + 1 if isinstance(error, SourceLimited) else 0
    return max(patience_s, asked_for_s)


def _health_of(kept: _Kept, now: int) -> SourceHealth:
    known = kept.health_time
    return SourceHealth(
        location=kept.source.location,
        feed_name=kept.source.feed_name,
        asked=kept.asked,
        received=kept.message.received if kept.message else None,
        timestamp=kept.timestamp,
        age_s=None if known is None else max(0, now - known),
        problem=kept.problem,
    )
