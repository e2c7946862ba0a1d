"""Follow the realtime sources of a network: fetch messages with backoff, and decode them in a background thread."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceLimited, ToolError, as_sentence, list_first
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import Fetch, Request, RequestLimits, read_template
from fingerpost.net.response import Response
from fingerpost.transit.embedded.feed_origins import NamedLocation
from fingerpost.transit.engine.gtfs.realtime.messages import APPLIED, FeedBytes, find_timestamp
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.timetable.overlay import MatchCount, Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.model.provenance import RealtimeHealth, SourceHealth
from fingerpost.transit.rules.realtime_status import STALE_AFTER_S
from fingerpost.transit.rules.times import to_local_date

_log = logging.getLogger(__name__)


class RealtimeWorker:
    """Runs coroutines on the event loop of a background thread; ``clients`` has an HTTP client for that loop."""

    def __init__(self, clients: LoopClients) -> None:
        self.clients = clients
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def begin(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="fingerpost-realtime", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel all tasks, close connections and stop the thread; later work starts a new thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        if thread is threading.current_thread():
            # The garbage collector may call this on the worker thread, which cannot join itself.
            loop.stop()
            return
        if thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._shut_down(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
        loop.close()

    async def _shut_down(self) -> None:
        current = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not current]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.clients.aclose()
        await asyncio.get_running_loop().shutdown_default_executor()


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
    due: int = 0
    failures: int = 0
    problem: str | None = None
    response: Response | None = None
    stamp: _Stamp = ()
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class RealtimeFeeds:
    def __init__(self, sources: Sequence[NamedLocation], fetch: Fetch) -> None:
        self._states = [_SourceState(source) for source in sources]
        self._fetch = fetch

    async def refresh(self, now: int, *, only_files: bool = False) -> bool:
        """Fetch all due sources concurrently; return whether any message is new.

        ``now`` is in Unix seconds. Failures appear in ``health`` and are not raised.
        """
        included = [state for state in self._states if not (only_files and state.source.url is not None)]
        return any(await asyncio.gather(*(self._refresh_source(state, now) for state in included)))

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
        """Fetch a source if it is due; return whether its message is new."""
        is_url = state.source.url is not None
        async with state.lock:
            if now < state.due:
                return False
            try:
                is_new = await (self._fetch_url(state, now) if is_url else self._read_file(state, now))
            except ToolError as error:
                state.problem = str(error)
                state.failures += 1
                backoff_s = min(POLL_S << min(state.failures, 10), _MAX_WAIT_S)
                retry_after_s = int(error.retry_after_s) + 1 if isinstance(error, SourceLimited) else 0
                state.due = now + max(backoff_s, retry_after_s) if is_url else now
                return False
            state.problem, state.failures = None, 0
            state.due = now + POLL_S if is_url else now
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
            raise SourceFailed(f"The source returned {error}") from error
        is_trusted = state.timestamp is not None and state.timestamp <= now + CLOCK_SKEW_S
        if is_trusted and timestamp is not None and timestamp < (state.timestamp or 0):
            raise SourceFailed("The source returned a message older than the previous one")
        state.message = FeedBytes(data, received, state.source.feed_name, state.source.text)
        state.timestamp = timestamp


def _load(location: str) -> tuple[bytes, int]:
    """Return the content of a file and its modification time (Unix seconds)."""
    path = Path(location).expanduser()
    try:
        stat = path.stat()
        if stat.st_size > _MAX_BYTES:
            raise SourceFailed(f"{path.name} exceeds the size limit for a message")
        return path.read_bytes(), int(stat.st_mtime)
    except OSError as error:
        raise SourceFailed(f"{path.name} cannot be read: {error.strerror or type(error).__name__}") from error


def _read_stamp(location: str) -> _Stamp:
    try:
        stat = os.stat(os.path.expanduser(location))  # noqa: PTH116, PTH111  # every query calls this
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _build_source_health(state: _SourceState, now: int, overlay: Overlay | None) -> SourceHealth:
    message_time = state.timestamp or (state.message.received if state.message else None)
    count = None if overlay is None else overlay.matches.get(state.source.text)
    return SourceHealth(
        location=state.source.location,
        feed_name=state.source.feed_name,
        age_s=None if message_time is None else max(0, now - message_time),
        problem=state.problem,
        matched=None if count is None else count.matched,
        unmatched=None if count is None else count.unmatched,
    )


# How long the first query, and the first query after an idle period, wait for realtime data.
FIRST_WAIT_S = 5.0
WAKING_WAIT_S = 2.0
# Messages are decoded again after this time, because alerts may have come into force.
READ_AGAIN_S = 60
# Ids in warnings are truncated to this many characters.
MAX_ID_CHARS = 60

Publish = Callable[[Overlay, date], None]


class RealtimeUpdater:
    """Updates the realtime overlay of a network, and passes it to ``publish`` on a worker thread."""

    def __init__(
        self, timetable: Timetable, sources: tuple[NamedLocation, ...], worker: RealtimeWorker, publish: Publish
    ) -> None:
        self.sources = sources
        self._timetable = timetable
        self._worker = worker
        self._publish = publish
        self._feeds = RealtimeFeeds(sources, worker.clients.fetch)
        self._reading = asyncio.Lock()
        self._overlay: Overlay | None = None
        self._poll: Future[None] | None = None
        self._last_poll = 0
        self._wait_s = 0.0
        self._is_stopped = False

    async def catch_up(self) -> None:
        """Update the overlay; only the first call and calls after an idle period wait for URLs, up to a timeout."""
        now = int(clock.now().timestamp())
        if self._feeds.have_files_changed() or self._is_overlay_outdated(now):
            timeout_s = FIRST_WAIT_S if self._overlay is None else None
            await _wait(self._worker.begin(self._refresh(now, only_files=True)), timeout_s)
        if self._feeds.are_urls_due(now) and (self._poll is None or self._poll.done()):
            was_idle = now - self._last_poll > STALE_AFTER_S
            self._wait_s = FIRST_WAIT_S if self._poll is None else WAKING_WAIT_S if was_idle else 0.0
            self._last_poll = now
            self._poll = self._worker.begin(self._refresh(now, only_files=False))
        # Calls wait together; once one of them has timed out, later calls do not wait.
        if self._poll is not None and self._wait_s and not self._poll.done():
            await _wait(self._poll, self._wait_s)
            self._wait_s = 0.0

    def stop(self) -> None:
        self._is_stopped = True
        if self._poll is not None:
            self._poll.cancel()

    def list_problems(self, overlay: Overlay) -> tuple[str, ...]:
        problems = [as_sentence(source.problem) for source in self.health().sources if source.problem is not None]
        if overlay.matches:
            return tuple(problems)
        if overlay.has_future_messages:
            problems.append("The realtime message is dated in the future and was not used.")
        is_reading = bool(self._feeds.messages())
        state = "message is still being read" if is_reading else "source has not answered yet"
        return tuple(problems or [f"The realtime {state}."])

    def list_unmatched(self, overlay: Overlay) -> tuple[str, ...]:
        """Return warnings about sources with mostly unmatched entities, or with ids that occur in several feeds."""
        sentences: list[str] = []
        for source in self.sources:
            count = overlay.matches.get(source.text, MatchCount(0, 0))
            if count.matched < count.unmatched:
                sentences.append(
                    f"The timetable matches {count.matched} of {count.matched + count.unmatched} trips and alerts from"
                    f" {source.display_name}, so late or cancelled trips may be shown as scheduled."
                )
            if count.shared_ids:
                shared_ids = list_first([shared_id[:MAX_ID_CHARS] for shared_id in count.shared_ids], 1)
                sentences.append(
                    f"The realtime data from {source.display_name} uses ids that occur in several feeds"
                    f" ({shared_ids}); this data is skipped, so late, cancelled or closed"
                    " services may be shown as scheduled."
                )
        return tuple(sentences)

    def health(self) -> RealtimeHealth:
        return self._feeds.health(int(clock.now().timestamp()), self._overlay)

    @cached_property
    def _index(self) -> RealtimeIndex:
        return RealtimeIndex(self._timetable)

    def _is_overlay_outdated(self, now: int) -> bool:
        return self._overlay is None or not 0 <= now - self._overlay.as_of < READ_AGAIN_S

    async def _refresh(self, now: int, *, only_files: bool) -> None:
        is_new = await self._feeds.refresh(now, only_files=only_files)
        async with self._reading:
            # The first of several concurrent queries decodes the messages for all of them. Files are not decoded again
            # after a slow fetch, because a later query has decoded them.
            if is_new or (only_files and self._is_overlay_outdated(now)):
                await asyncio.to_thread(self._read_and_publish, now)

    def _read_and_publish(self, now: int) -> None:
        overlay = read_realtime(self._index, self._feeds.messages(), now)
        if not self._is_stopped:
            self._publish(overlay, to_local_date(now, self._timetable.feeds[0].zone))
            self._overlay = overlay


async def _wait(work: "Future[None]", timeout_s: float | None) -> None:
    """Wait up to a timeout for work on the worker's loop, without cancelling it."""
    loop = asyncio.get_running_loop()
    is_done = asyncio.Event()

    def log_failure(done: "Future[None]") -> None:
        failure = None if done.cancelled() else done.exception()
        if failure is not None:
            _log.error("realtime data could not be read", exc_info=failure)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(is_done.set)

    work.add_done_callback(log_failure)
    with suppress(TimeoutError):
        await asyncio.wait_for(is_done.wait(), timeout_s)
