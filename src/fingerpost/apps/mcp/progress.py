"""Send progress notifications (``notifications/progress``) of a call, few and rising."""

import asyncio
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from mcp.server.session import ServerSession

from fingerpost.transit.kernel_mode import is_compiling

# A plan of quick steps must not flood the connection.
_MIN_S = 0.1
# When to report that a call waits for the compiler, and how often.
_EXPLAIN_AFTER_S = 2.0
_SAY_AGAIN_S = 5.0
_STEP = 0.001
_MAX_CHARS = 300


class Reporting:
    """Sends the progress of one call: rising values, only the newest of several quick ones, and always the last."""

    def __init__(self, session: ServerSession, least_s: float = _MIN_S) -> None:
        self._session = session
        self._least_s = least_s
        self._reached = -1.0
        self._total = 1.0
        self._latest: tuple[float, float, str] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._is_over = asyncio.Event()
        self._begun_at = time.monotonic()
        self._has_waited = False
        self._explaining: asyncio.TimerHandle | None = None

    def report(self, done: float, total: float, words: str) -> None:
        """Report progress; a value not above the last one is raised, as the protocol requires."""
        if self._has_waited and done <= self._reached:
            done = self._reached + _STEP
        if done <= self._reached or self._is_over.is_set():
            return
        self._reached, self._total = done, total
        self._latest = (done, total, words if len(words) <= _MAX_CHARS else f"{words[:_MAX_CHARS]}…")
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def __aenter__(self) -> Self:
        self._explaining = asyncio.get_running_loop().call_later(_EXPLAIN_AFTER_S, self._explain)
        return self

    def _explain(self) -> None:
        """Report that the call waits for the compiler, in a step smaller than any other."""
        if is_compiling() and self._reached < self._total:
            waited_s = round(time.monotonic() - self._begun_at)
            words = f"Compiling the engine, which happens once and takes a minute or two; {waited_s} s so far"
            self.report(max(self._reached, 0.0) + _STEP, self._total, words)
            self._has_waited = True
        self._explaining = asyncio.get_running_loop().call_later(_SAY_AGAIN_S, self._explain)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Send the last report before the answer; nothing may follow it."""
        self._is_over.set()
        if self._explaining is not None:
            self._explaining.cancel()
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
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._least_s):
                        await self._is_over.wait()
        finally:
            # A failure to send does not prevent later reports.
            self._sender = None
