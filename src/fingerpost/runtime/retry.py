"""Retry calls with exponential backoff and jitter."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_E = TypeVar("_E", bound=Exception)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with jitter; ``attempts`` includes the first."""

    attempts: int = 3
    initial_s: float = 0.2
    longest_s: float = 5.0

    def find_wait_s(self, attempt: int, *, spread: float, requested_s: float = 0.0) -> float | None:
        """Return the wait after a failed attempt (counted from 1), or None after the last.

        ``spread`` in 0..1 scales the wait by 0.5 to 1.5. ``requested_s`` is the wait that the source requested; if it
        exceeds ``longest_s``, the call is not retried.
        """
        if attempt >= self.attempts or requested_s > self.longest_s:
            return None
        return max(requested_s, min(self.initial_s * 2.0 ** (attempt - 1) * (0.5 + spread), self.longest_s))


async def sleep(seconds: float) -> None:
    """Wait before the next attempt; tests replace this function."""
    await asyncio.sleep(seconds)


async def call_with_retries(
    call: Callable[[int], Awaitable[_T]], on: type[_E], find_wait_s: Callable[[_E, int], float | None]
) -> _T:
    """Retry a call that raises ``on`` while ``find_wait_s`` returns a wait; both receive the attempt's number."""
    for number in count(1):
        try:
            return await call(number)
        except on as error:
            wait_s = find_wait_s(error, number)
            if wait_s is None:
                raise
            _log.info("attempt %d ended with %s, the next one follows in %.1f s", number, type(error).__name__, wait_s)
        await sleep(wait_s)
    raise AssertionError("unreachable")
