"""Read the clock and limit how long calls take; no other module reads the wall clock.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that answers can be reproduced exactly.
"""

import math
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost.errors import SettingsInvalid

VARIABLE = "FINGERPOST_NOW"


class _Limits(NamedTuple):
    """The limits of the current tool call; times are in seconds on the event loop's clock."""

    began_s: float | None = None
    # The earliest deadline of the enclosing limits.
    deadline_s: float | None = None
    # How long the call may wait for the compiler.
    compiler_wait_s: float = math.inf


_NO_LIMITS = _Limits()
_limits: ContextVar[_Limits] = ContextVar("fingerpost_limits", default=_NO_LIMITS)


def now() -> datetime:
    """Return the current instant in UTC; raise the same errors as ``find_fixed_time``."""
    return find_fixed_time() or datetime.now(UTC)


def today_in(zone: str) -> date:
    """Return the current date in an IANA time zone."""
    return now().astimezone(ZoneInfo(zone)).date()


def is_zone(name: str | None) -> bool:
    """Whether a name is that of an IANA time zone."""
    try:
        return bool(name) and bool(ZoneInfo(name or "").key)
    except (OSError, ValueError, KeyError):
        return False


def read_system_ms() -> int:
    """Return the system time in Unix milliseconds, ignoring ``FINGERPOST_NOW``, for rate limits."""
    return int(time.time() * 1000)


def find_fixed_time() -> datetime | None:
    """Return ``FINGERPOST_NOW`` in UTC, or None if it is not set; raise SettingsInvalid if it is invalid."""
    text = os.environ.get(VARIABLE)
    return _parse_fixed_time(text.strip()) if text and text.strip() else None


@lru_cache(maxsize=1)
def _parse_fixed_time(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError("no offset")
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise SettingsInvalid(
            f"{VARIABLE} is {text!r}, which is not a valid time. Write it like 2026-01-31T08:00:00Z, or unset it"
        ) from error


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[None]:
    """Raise TimeoutError if the block takes longer than ``seconds``; None adds no limit.

    Limits nest: inside the block, ``find_remaining_s`` returns the time until the earliest deadline.
    All limits use this function, so that tests can let a limit expire without waiting.
    """
    # Local imports, here and below, because importing asyncio slows the start of programs that only read the clock.
    import asyncio

    limits = _limits.get()
    deadlines_s = [limits.deadline_s, None if seconds is None else asyncio.get_running_loop().time() + seconds]
    deadline_s = min((each for each in deadlines_s if each is not None), default=None)
    token = _limits.set(limits._replace(deadline_s=deadline_s))
    try:
        async with asyncio.timeout(seconds):
            yield
    finally:
        _limits.reset(token)


def clear_time_limits() -> None:
    """Remove the caller's limits from the current task, so that it can continue in the background."""
    _limits.set(_NO_LIMITS)


def find_remaining_s() -> float | None:
    """Return the seconds until the earliest deadline, 0 or less if it has passed; None if there are no limits."""
    if (deadline_s := _limits.get().deadline_s) is None:
        return None
    import asyncio

    return deadline_s - asyncio.get_running_loop().time()


@contextmanager
def new_call() -> Iterator[None]:
    """Begin a tool call; inside the block, ``find_call_age_s`` returns the call's age."""
    import asyncio

    token = _limits.set(_limits.get()._replace(began_s=asyncio.get_running_loop().time()))
    try:
        yield
    finally:
        _limits.reset(token)


def find_call_age_s() -> float | None:
    """Return the seconds since the current tool call began; None outside calls."""
    if (began_s := _limits.get().began_s) is None:
        return None
    import asyncio

    return asyncio.get_running_loop().time() - began_s


def limit_compiler_wait(seconds: float) -> None:
    """Let each call in the current task wait at most ``seconds`` for the compiler."""
    _limits.set(_limits.get()._replace(compiler_wait_s=seconds))


def get_compiler_wait_s() -> float:
    """Return how many seconds the current call may wait for the compiler; infinity without a limit."""
    return _limits.get().compiler_wait_s
