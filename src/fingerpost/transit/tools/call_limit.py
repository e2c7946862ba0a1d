"""Limit the calls of a tool per second; calls beyond the limit are refused at once, never queued (rule E2)."""

import asyncio
import logging
from collections.abc import Callable

from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.store.limits import Limits, Rate, read_clock_ms

DEFAULT_PER_SECOND = 5

_ONCE_A_SECOND = Rate(interval_ms=1000, longest_pause_ms=0)

_log = logging.getLogger(__name__)


class CallLimit:
    """At most ``per_second`` calls of a tool within any second; ``limits`` stores them, by default in this process.

    Each call takes one of ``per_second`` slots for a second. One limit with a burst would let nearly twice as many
    calls pass in its first second. Processes with one store need one ``clock_ms`` (milliseconds since 1970).
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
        self._own = Limits()
        self._limits = limits or self._own
        self._clock_ms = clock_ms

    async def enter(self) -> None:
        """Count a call, or raise SourceLimited; if the shared store fails, this process counts its own calls."""
        now_ms = self._clock_ms()
        try:
            wait_ms = await asyncio.to_thread(self._take_slot, self._limits, now_ms)
        except StorageUnavailable as error:
            _log.warning("tool=%s counts its calls in this process alone: %s", self._tool, error.message)
            wait_ms = self._take_slot(self._own, now_ms)
        if wait_ms:
            raise SourceLimited(f"{self._tool} takes {self._per_second} calls a second", retry_after_s=wait_ms / 1000)

    def _take_slot(self, limits: Limits, now_ms: int) -> int:
        waits_ms = []
        for slot in range(1, self._per_second + 1):
            waits_ms.append(limits.take(f"{self._tool} {slot}", _ONCE_A_SECOND, now_ms))
            if waits_ms[-1] == 0:
                return 0
        return min(waits_ms)
