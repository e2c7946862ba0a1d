"""A background thread with its own event loop, on which realtime messages are fetched and decoded.

Callers live on several event loops, and none of them may wait for a source that hangs.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, TypeVar

from fingerpost.net.fetch import Fetch
from fingerpost.net.request import Request
from fingerpost.net.response import Response

_R = TypeVar("_R")

OpenFetch = Callable[[], AbstractAsyncContextManager[Fetch]]
"""Opens what URLs are asked with, for one event loop; leaving it closes the connections."""


class RealtimeWorker:
    """Runs coroutines on a background event loop until it is closed; the thread starts with the first one.

    Args:
        open_fetch: called when the first URL is asked, never where all sources are files.
    """

    def __init__(self, open_fetch: OpenFetch) -> None:
        self._open_fetch = open_fetch
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._held = AsyncExitStack()
        self._opened: Fetch | None = None

    def begin(self, work: Coroutine[Any, Any, _R]) -> "Future[_R]":
        """Start a coroutine on the worker's loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="fingerpost-realtime", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        """Fetch a URL; only for coroutines on the worker's loop.

        Raises:
            ToolError: as ``Fetch``.
        """
        if self._opened is None:
            self._opened = await self._held.enter_async_context(self._open_fetch())
        return await self._opened(request, known)

    def close(self) -> None:
        """Cancel all work, close the connections and end the thread. Work that is begun later starts a new one."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        if thread is threading.current_thread():
            # The garbage collector may call from here; whoever waits for itself waits for ever.
            loop.stop()
            return
        if thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
        loop.close()

    async def _end(self) -> None:
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._held.aclose()
        self._opened = None
        await asyncio.get_running_loop().shutdown_default_executor()
