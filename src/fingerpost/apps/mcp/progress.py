"""Send progress notifications (``notifications/progress``) for a call, with strictly increasing values."""

import asyncio
import time
from types import TracebackType
from typing import Self

from mcp.server.session import ServerSession

from fingerpost.transit.kernel_mode import is_compiling

# When and how often to report that a call waits for the compiler.
_EXPLAIN_AFTER_S = 2.0
_EXPLAIN_INTERVAL_S = 5.0
_STEP = 0.001
_MAX_CHARS = 300


class ProgressReporter:
    """Sends the progress of one call with increasing values.

    If the client reads slowly, intermediate reports are dropped, but never the last.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._last_done = -1.0
        self._total = 1.0
        self._latest: tuple[float, float, str] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._has_ended = False
        self._started_at = time.monotonic()
        self._has_waited = False
        self._explain_timer: asyncio.TimerHandle | None = None

    def report(self, done: float, total: float, message: str) -> None:
        """Report progress; after a wait for the compiler, increase values that would otherwise not increase."""
        if self._has_waited and done <= self._last_done:
            done = self._last_done + _STEP
        if done <= self._last_done or self._has_ended:
            return
        self._last_done, self._total = done, total
        self._latest = (done, total, message if len(message) <= _MAX_CHARS else f"{message[:_MAX_CHARS]}…")
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def __aenter__(self) -> Self:
        self._explain_timer = asyncio.get_running_loop().call_later(_EXPLAIN_AFTER_S, self._explain)
        return self

    def _explain(self) -> None:
        """Report that the call waits for the compiler, with a tiny increase."""
        if is_compiling() and self._last_done < self._total:
            waited_s = round(time.monotonic() - self._started_at)
            message = f"Compiling the engine, which happens once and takes a minute or two; {waited_s} s so far"
            self.report(max(self._last_done, 0.0) + _STEP, self._total, message)
            self._has_waited = True
        self._explain_timer = asyncio.get_running_loop().call_later(_EXPLAIN_INTERVAL_S, self._explain)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Send the last report; the answer follows."""
        self._has_ended = True
        if self._explain_timer is not None:
            self._explain_timer.cancel()
        if self._sender is None:
            return
        sender = self._sender
        try:
            if error is None:
                await asyncio.wait([sender])
        finally:
            sender.cancel()

    async def _send(self) -> None:
        try:
            while self._latest is not None:
                latest, self._latest = self._latest, None
                await self._session.report_progress(*latest)
        finally:
            # Later reports are sent even after a failure.
            self._sender = None
