"""A tool's own limit of calls a second, which refuses at once and never queues (rule E2)."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from fingerpost import clock
from fingerpost.errors import SourceLimited, StorageUnavailable

DEFAULT_PER_SECOND = 5
_SPAN_MS = 1000

_log = logging.getLogger(__name__)


class CountsCalls(Protocol):
    """Counts the calls of a tool. It may block, and is called in a thread."""

    def pass_at(self, now_ms: int, most: int, span_ms: int) -> int | None:
        """Count a call; return None, or in how many milliseconds one may pass where ``most`` have within the span.

        One that may not pass does not count.

        Raises:
            StorageUnavailable: the log cannot be read or written now.
        """
        ...


class MemoryCallLog:
    """Counts the calls of this process."""

    def __init__(self) -> None:
        self._passed_ms: list[int] = []
        self._lock = threading.Lock()

    def pass_at(self, now_ms: int, most: int, span_ms: int) -> int | None:
        """Count a call; see ``CountsCalls``."""
        with self._lock:
            self._passed_ms = [each for each in self._passed_ms if now_ms - span_ms < each <= now_ms]
            if len(self._passed_ms) >= most:
                return self._passed_ms[0] + span_ms - now_ms
            self._passed_ms.append(now_ms)
        return None


class CallLimit:
    """At most ``per_second`` calls within any second.

    Args:
        tool: whose calls are counted.
        per_second: the limit.
        calls: counts them, for all who share it; by default for this process alone.
        clock_ms: milliseconds since 1970, the same for all who share a log.
    """

    def __init__(
        self,
        tool: str,
        per_second: int,
        calls: CountsCalls | None = None,
        clock_ms: Callable[[], int] = lambda: int(clock.system_s() * 1000),
    ) -> None:
        self._tool = tool
        self._per_second = per_second
        self._own = MemoryCallLog()
        self._calls = calls or self._own
        self._clock_ms = clock_ms

    async def enter(self) -> None:
        """Count a call; where the shared log fails, those of this process are counted.

        Raises:
            SourceLimited: as many calls as may pass have passed within the last second.
        """
        now_ms = self._clock_ms()
        try:
            wait_ms = await asyncio.to_thread(self._calls.pass_at, now_ms, self._per_second, _SPAN_MS)
        except StorageUnavailable as error:
            _log.warning("tool=%s counts its calls in this process alone: %s", self._tool, error.message)
            wait_ms = self._own.pass_at(now_ms, self._per_second, _SPAN_MS)
        if wait_ms is not None:
            raise SourceLimited(
                f"{self._tool} takes {self._per_second} calls a second", retry_after_s=wait_ms / _SPAN_MS
            )
