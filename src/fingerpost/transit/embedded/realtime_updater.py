"""Update the realtime overlay of a network: fetch and decode messages in a background thread."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import date
from functools import cached_property
from typing import Any

from fingerpost import clock
from fingerpost.errors import as_sentence
from fingerpost.net.request import Fetch, Request
from fingerpost.net.response import Response
from fingerpost.transit.embedded.feed_origins import NamedLocation
from fingerpost.transit.embedded.realtime_feeds import RealtimeFeeds
from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.overlay import MatchCount, Overlay
from fingerpost.transit.engine.timetable.service_days import local_day
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.model.provenance import RealtimeHealth
from fingerpost.transit.rules.realtime_status import STALE_AFTER_S

OpenFetch = Callable[[], AbstractAsyncContextManager[Fetch]]
"""Opens an HTTP client for an event loop."""


class RealtimeWorker:
    """Runs coroutines on the event loop of a background thread, and opens an HTTP client when needed."""

    def __init__(self, open_fetch: OpenFetch) -> None:
        self._open_fetch = open_fetch
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._exit_stack = AsyncExitStack()
        self._opened: Fetch | None = None

    def begin(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="fingerpost-realtime", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        """Fetch a URL; call this only on the worker's loop."""
        if self._opened is None:
            self._opened = await self._exit_stack.enter_async_context(self._open_fetch())
        return await self._opened(request, known)

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
        await self._exit_stack.aclose()
        self._opened = None
        await asyncio.get_running_loop().shutdown_default_executor()


_log = logging.getLogger(__name__)

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
        self,
        timetable: Timetable,
        sources: tuple[NamedLocation, ...],
        worker: RealtimeWorker,
        publish: Publish,
    ) -> None:
        self.sources = sources
        self._timetable = timetable
        self._worker = worker
        self._publish = publish
        self._feeds = RealtimeFeeds(sources, worker.fetch)
        self._reading = asyncio.Lock()
        self._overlay: Overlay | None = None
        self._last_poll: int | None = None
        self._first: Future[None] | None = None
        self._poll: Future[None] | None = None
        self._has_waited = False
        self._is_stopped = False

    async def catch_up(self) -> None:
        """Update the overlay; only the first call and calls after an idle period wait for URLs, up to a timeout."""
        now = int(clock.now().timestamp())
        if self._first is None:
            self._last_poll = now
            self._first = self._worker.begin(self._begin())
        if not self._first.done():
            if not self._has_waited:
                await _wait(self._first, FIRST_WAIT_S)
                self._has_waited = True
            return
        if self._feeds.have_files_changed() or self._is_overlay_outdated(now):
            await _wait(self._worker.begin(self._refresh(now, only_files=True)), None)
        if self._feeds.are_urls_due(now) and (self._poll is None or self._poll.done()):
            was_idle = self._last_poll is None or now - self._last_poll > STALE_AFTER_S
            self._last_poll = now
            self._poll = self._worker.begin(self._refresh(now, only_files=False))
            if was_idle:
                await _wait(self._poll, WAKING_WAIT_S)

    def stop(self) -> None:
        self._is_stopped = True
        for work in (self._first, self._poll):
            if work is not None:
                work.cancel()

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
            if count.is_mostly_unmatched:
                sentences.append(
                    f"The timetable matches {count.matched} of {count.matched + count.unmatched} trips and alerts from"
                    f" {source.display_name}, so late or cancelled trips may be shown as scheduled."
                )
            if count.shared_ids:
                more = f" and {len(count.shared_ids) - 1:,} more" if len(count.shared_ids) > 1 else ""
                sentences.append(
                    f"The realtime data from {source.display_name} uses ids that occur in several feeds"
                    f" ({count.shared_ids[0][:MAX_ID_CHARS]}{more}); this data is skipped, so late, cancelled or closed"
                    " services may be shown as scheduled."
                )
        return tuple(sentences)

    def health(self) -> RealtimeHealth:
        return self._feeds.health(int(clock.now().timestamp()), self._overlay)

    @cached_property
    def _index(self) -> RealtimeIndex:
        return RealtimeIndex(self._timetable)

    def _is_overlay_outdated(self, now: int) -> bool:
        return self._overlay is not None and not 0 <= now - self._overlay.as_of < READ_AGAIN_S

    async def _begin(self) -> None:
        # Read the files first, because a slow URL must not delay them.
        now = int(clock.now().timestamp())
        await self._refresh(now, only_files=True)
        await self._refresh(now, only_files=False)
        if self._overlay is None:
            await asyncio.to_thread(self._read_and_publish, now)

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
            self._publish(overlay, local_day(now, self._timetable.feeds[0].zone))
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
