"""Wait between retries with exponential backoff."""

import asyncio


def find_wait_s(
    attempt: int,
    attempts: int,
    *,
    spread: float,
    initial_s: float = 0.2,
    max_wait_s: float = 5.0,
    requested_s: float = 0.0,
) -> float | None:
    """Return the wait after a failed attempt (counted from 1) of ``attempts``, or None after the last.

    ``spread`` (0 to 1) scales the wait by a factor of 0.5 to 1.5. ``requested_s`` is the wait that the source
    requested; if it exceeds ``max_wait_s``, the call is not retried.
    """
    if attempt >= attempts or requested_s > max_wait_s:
        return None
    return max(requested_s, min(initial_s * 2.0 ** (attempt - 1) * (0.5 + spread), max_wait_s))


async def sleep(seconds: float) -> None:
    """Wait before the next attempt; tests replace this function."""
    await asyncio.sleep(seconds)
