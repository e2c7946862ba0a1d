"""Fetch GTFS-Realtime messages from a network's URLs and files with backoff, and report the health of each source."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fingerpost.errors import SourceLimited, ToolError
from fingerpost.net.request import Fetch, Request, RequestLimits, read_template
from fingerpost.net.response import Response
from fingerpost.transit.embedded.feed_origins import NamedLocation
from fingerpost.transit.engine.gtfs.realtime import CLOCK_SKEW_S, FeedBytes, find_timestamp
from fingerpost.transit.engine.gtfs.realtime.messages import APPLIED
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.model.provenance import RealtimeHealth, SourceHealth

# The minimum interval between requests of a process to a URL; it doubles after each failure.
POLL_S = 15
_MAX_WAIT_S = 300
_MAX_BYTES = 64_000_000
# Inode, size and modification time.
_Stamp = tuple[int, ...]
_LIMITS = RequestLimits(total_s=15.0, max_bytes=_MAX_BYTES, attempts=1)


@dataclass(slots=True)
class _SourceState:
    source: NamedLocation
    message: FeedBytes | None = None
    timestamp: int | None = None
    last_request: int | None = None
    due: int = 0
    failures: int = 0
    problem: str | None = None
    response: Response | None = None
    stamp: _Stamp = ()
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _MessageUnusable(Exception):
    """A message cannot be used; the exception's text is the reason."""


class RealtimeFeeds:
    def __init__(self, sources: Sequence[NamedLocation], fetch: Fetch) -> None:
        self._states = [_SourceState(source) for source in sources]
        self._fetch = fetch

    async def refresh(self, now: int, *, only_files: bool = False) -> bool:
        """Fetch all due sources concurrently; return whether any message is new.

        ``now`` is in Unix seconds. Failures appear in ``health`` and are not raised.
        """
        included = [state for state in self._states if not (only_files and state.source.url is not None)]
        return any(await asyncio.gather(*(self._fetch_if_due(state, now) for state in included)))

    async def _fetch_if_due(self, state: _SourceState, now: int) -> bool:
        async with state.lock:
            return now >= state.due and await self._refresh_source(state, now)

    def are_urls_due(self, now: int) -> bool:
        return any(state.source.url is not None and now >= state.due for state in self._states)

    def have_files_changed(self) -> bool:
        return any(
            state.source.url is None and _read_stamp(state.source.location) != state.stamp for state in self._states
        )

    def messages(self) -> tuple[FeedBytes, ...]:
        return tuple(state.message for state in self._states if state.message is not None)

    def health(self, now: int, overlay: Overlay | None = None) -> RealtimeHealth:
        counts = overlay.counts if overlay else {}
        return RealtimeHealth(
            sources=tuple(_build_source_health(state, now, overlay) for state in self._states),
            matched={reason: count for reason, count in counts.items() if reason in APPLIED},
            unmatched={reason: count for reason, count in counts.items() if reason not in APPLIED},
        )

    async def _refresh_source(self, state: _SourceState, now: int) -> bool:
        state.last_request = now
        try:
            is_new = await (
                self._fetch_url(state, now) if state.source.url is not None else self._read_file(state, now)
            )
        except (ToolError, _MessageUnusable) as error:
            state.problem = str(error)
            state.failures += 1
            state.due = now + _find_wait_s(state, error)
            return False
        state.problem, state.failures = None, 0
        state.due = now + POLL_S if state.source.url is not None else now
        return is_new

    async def _fetch_url(self, state: _SourceState, now: int) -> bool:
        url, secrets = read_template(state.source.location)
        request = Request(url=url, secret_params=secrets, limits=_LIMITS)
        response = await self._fetch(request, state.response)
        is_new = state.response is None or response.body != state.response.body
        if is_new:
            await self._store_message(state, response.body, now, now)
        state.response = response
        return is_new

    async def _read_file(self, state: _SourceState, now: int) -> bool:
        stamp = _read_stamp(state.source.location)
        if stamp and stamp == state.stamp and state.problem is None:
            return False
        state.stamp = stamp
        data, modified_at = await asyncio.to_thread(_load, state.source.location)
        await self._store_message(state, data, min(modified_at, now), now)
        return True

    async def _store_message(self, state: _SourceState, data: bytes, received: int, now: int) -> None:
        try:
            timestamp = await asyncio.to_thread(find_timestamp, data)
        except ValueError as error:
            raise _MessageUnusable(f"The source returned {error}") from error
        is_trusted = state.timestamp is not None and state.timestamp <= now + CLOCK_SKEW_S
        if is_trusted and timestamp is not None and timestamp < (state.timestamp or 0):
            raise _MessageUnusable("The source returned a message older than the previous one")
        state.message = FeedBytes(data, received, state.source.feed_name, state.source.text)
        state.timestamp = timestamp


def _load(location: str) -> tuple[bytes, int]:
    """Return the content of a file and its modification time (Unix seconds)."""
    path = Path(location).expanduser()
    try:
        stat = path.stat()
        if stat.st_size > _MAX_BYTES:
            raise _MessageUnusable(f"{path.name} exceeds the size limit for a message")
        return path.read_bytes(), int(stat.st_mtime)
    except OSError as error:
        raise _MessageUnusable(f"{path.name} cannot be read: {error.strerror or type(error).__name__}") from error


def _read_stamp(location: str) -> _Stamp:
    try:
        stat = os.stat(os.path.expanduser(location))  # noqa: PTH116, PTH111  # every query calls this
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _find_wait_s(state: _SourceState, error: Exception) -> int:
    """Return the delay before the next attempt after a failure; it is 0 for files."""
    if state.source.url is None:
        return 0
    backoff_s = min(POLL_S << min(state.failures, 10), _MAX_WAIT_S)
    retry_after_s = int(error.retry_after_s) + 1 if isinstance(error, SourceLimited) else 0
    return max(backoff_s, retry_after_s)


def _build_source_health(state: _SourceState, now: int, overlay: Overlay | None) -> SourceHealth:
    message_time = state.timestamp or (state.message.received if state.message else None)
    count = None if overlay is None else overlay.matches.get(state.source.text)
    return SourceHealth(
        location=state.source.location,
        feed_name=state.source.feed_name,
        asked=state.last_request,
        received=state.message.received if state.message else None,
        timestamp=state.timestamp,
        age_s=None if message_time is None else max(0, now - message_time),
        problem=state.problem,
        matched=None if count is None else count.matched,
        unmatched=None if count is None else count.unmatched,
    )
