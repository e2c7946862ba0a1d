"""Wait between retries with exponential backoff."""

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with jitter; ``attempts`` includes the first attempt."""

    attempts: int = 3
    initial_s: float = 0.2
    max_wait_s: float = 5.0

    def find_wait_s(self, attempt: int, *, spread: float, requested_s: float = 0.0) -> float | None:
        """Return the wait after a failed attempt (counted from 1), or None after the last.

        ``spread`` (0 to 1) scales the wait by a factor of 0.5 to 1.5. ``requested_s`` is the wait that the source
        requested; if it exceeds ``max_wait_s``, the call is not retried.
        """
        if attempt >= self.attempts or requested_s > self.max_wait_s:
            return None
        return max(requested_s, min(self.initial_s * 2.0 ** (attempt - 1) * (0.5 + spread), self.max_wait_s))


async def sleep(seconds: float) -> None:
    """Wait before the next attempt; tests replace this function."""
    await asyncio.sleep(seconds)
