"""Rate limit for a tool: calls beyond the limit fail at once instead of waiting (rule E2)."""

import logging
from collections.abc import Callable

from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.limits import Limits, Rate, read_clock_ms

DEFAULT_PER_SECOND = 5

_ONE_PER_SECOND = Rate(interval_ms=1000, longest_pause_ms=0)

_log = logging.getLogger(__name__)


class CallLimit:
    """Allow at most ``per_second`` calls within any second; ``limits`` may be shared between processes.

    Each call takes one of ``per_second`` slots for a second, because a token bucket with a burst would allow nearly
    twice as many calls in its first second. ``clock_ms`` is Unix time in milliseconds.
    """

    def __init__(
        self,
        tool: str,
        per_second: int,
        limits: Limits | None = None,
        clock_ms: Callable[[], int] = read_clock_ms,
    ) -> None:
        self._tool = tool
        self._per_second = per_second
        self._local_limits = Limits()
        self._limits = limits or self._local_limits
        self._clock_ms = clock_ms

    async def enter(self) -> None:
        """Count a call, or raise SourceLimited; if the shared store fails, count in this process."""
        now_ms = self._clock_ms()
        try:
            wait_ms = await run_in_thread(self._take_slot, self._limits, now_ms)
        except StorageUnavailable as error:
            _log.warning("tool=%s counts its calls in this process only: %s", self._tool, error.message)
            wait_ms = self._take_slot(self._local_limits, now_ms)
        if wait_ms:
            raise SourceLimited(
                f"{self._tool} allows {self._per_second} calls per second", retry_after_s=wait_ms / 1000
            )

    def _take_slot(self, limits: Limits, now_ms: int) -> int:
        waits_ms = []
        for slot in range(1, self._per_second + 1):
            waits_ms.append(limits.take(f"{self._tool} {slot}", _ONE_PER_SECOND, now_ms))
            if waits_ms[-1] == 0:
                return 0
        return min(waits_ms)
