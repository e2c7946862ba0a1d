"""Read the clock and limit how long calls take; no other module reads the wall clock.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that answers can be reproduced exactly.
"""

import os
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from fingerpost.errors import SettingsInvalid

VARIABLE = "FINGERPOST_NOW"

# The earliest deadline of the enclosing limits, on the event loop's clock.
_deadline_s: ContextVar[float | None] = ContextVar("fingerpost_deadline_s", default=None)
# When the current tool call began, on the event loop's clock.
call_began_s: ContextVar[float | None] = ContextVar("fingerpost_call_began_s", default=None)


def now() -> datetime:
    """Return the current instant in UTC; raise the same errors as ``find_fixed_time``."""
    return find_fixed_time() or datetime.now(UTC)


def today_in(zone: str) -> date:
    """Return the current date in an IANA time zone."""
    return now().astimezone(ZoneInfo(zone)).date()


def read_system_s() -> float:
    """Return the system time in Unix seconds, ignoring ``FINGERPOST_NOW``, for files and rate limits."""
    return time.time()


def find_fixed_time() -> datetime | None:
    """Return ``FINGERPOST_NOW`` in UTC, or None if it is not set; raise SettingsInvalid if it has no offset."""
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


def time_limit(seconds: float | None) -> AbstractAsyncContextManager[None]:
    """Raise TimeoutError if the block takes longer; None adds no limit.

    Limits nest: inside the block, ``find_remaining_s`` returns the time until the earliest deadline.
    All limits use this function, so that tests can let a limit expire without waiting.
    """
    return nullcontext() if seconds is None else _time_limit(seconds)


@asynccontextmanager
async def _time_limit(seconds: float) -> AsyncIterator[None]:
    # Imported here, because it would add a tenth to the startup time of programs that only read the clock.
    import asyncio

    deadline_s = asyncio.get_running_loop().time() + seconds
    outer_deadline_s = _deadline_s.get()
    token = _deadline_s.set(deadline_s if outer_deadline_s is None else min(outer_deadline_s, deadline_s))
    try:
        async with asyncio.timeout(seconds):
            yield
    finally:
        _deadline_s.reset(token)


def clear_time_limits() -> None:
    """Remove the caller's limits from the current task, so that it can continue in the background."""
    _deadline_s.set(None)


def find_remaining_s() -> float | None:
    """Return the seconds until the earliest deadline, 0 or less if it has passed; None if there are no limits."""
    if (deadline_s := _deadline_s.get()) is None:
        return None
    import asyncio

    return deadline_s - asyncio.get_running_loop().time()
