"""Retry policy: how often a call is made again, and after what wait."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina

_log = logging.getLogger(__name__)
_OURS = "fingerpost"

_T = TypeVar("_T")
_E = TypeVar("_E", bound=Exception)


def _is_not_ours(record: logging.LogRecord) -> bool:
    return record.__dict__.get("stamina.callable") != _OURS


# Stamina's own line says nothing but its name, and reaches stderr where nobody set up logging.
logging.getLogger("stamina").addFilter(_is_not_ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with jitter.

    Attributes:
        attempts: of one call, the first included.
        initial_s: the wait before the second attempt, before it is spread; it doubles from then on.
        longest_s: no wait is longer.
    """

    attempts: int = 3
    initial_s: float = 0.2
    longest_s: float = 5.0

    def find_wait_s(self, attempt: int, *, spread: float, asked_s: float = 0.0) -> float | None:
        """Return the wait after a failed attempt (counted from 1), or None where there is no further one.

        ``spread`` in 0..1 moves the wait between half and one and a half of its exponential value.
        ``asked_s`` is what the source asked us to wait; more than ``longest_s`` is not waited for.
        """
        if attempt >= self.attempts or asked_s > self.longest_s:
            return None
        return max(asked_s, min(self.initial_s * 2.0 ** (attempt - 1) * (0.5 + spread), self.longest_s))


async def call_with_retries(
    call: Callable[[int], Awaitable[_T]],
    on: type[_E],
    find_wait_s: Callable[[_E, int], float | None],
    *,
    attempts: int,
) -> _T:
    """Return what a call returns, made again for as long as ``find_wait_s`` names a wait.

    ``call`` gets the number of the attempt, from 1; ``find_wait_s`` gets the error and that number, once for each
    attempt that raised ``on``. What the last attempt raises is raised, and anything else at once.
    In stamina's test mode nothing is waited for.
    """
    # Most calls succeed at once: stamina costs nothing until one has failed.
    try:
        return await call(1)
    except on as error:
        first = error
    failed = 0

    def decide(error: Exception) -> bool | float:
        nonlocal failed
        failed += 1
        wait_s = find_wait_s(error, failed) if isinstance(error, on) else None
        if wait_s is None:
            return False
        _log.info("attempt %d ended with %s, the next one follows in %.1f s", failed, type(error).__name__, wait_s)
        return wait_s

    retries = stamina.retry_context(on=decide, attempts=attempts, timeout=None)
    async for attempt in retries.with_name(_OURS, (), {}):
        with attempt:
            if attempt.num == 1:
                raise first
            return await call(attempt.num)
    raise AssertionError("the last attempt returns or raises")
