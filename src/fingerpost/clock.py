"""The only place that asks the machine what time it is.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that every answer can be reproduced byte for byte.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from fingerpost.errors import SettingsInvalid

VARIABLE = "FINGERPOST_NOW"

# When the nearest of all limits around a block expires, by the clock of its event loop.
_ends_s: ContextVar[float | None] = ContextVar("fingerpost_ends_s", default=None)


def now() -> datetime:
    """Return the present instant, in UTC; raise as ``find_fixed``."""
    return find_fixed() or datetime.now(UTC)


def today_in(zone: str) -> date:
    """Return the present day in a time zone, named as in the IANA database."""
    return now().astimezone(ZoneInfo(zone)).date()


def system_s() -> float:
    """Return Unix seconds by the machine's clock, even while ``FINGERPOST_NOW`` is set: for files and rate limits."""
    return time.time()


def find_fixed() -> datetime | None:
    """Return the instant of ``FINGERPOST_NOW`` in UTC, None if not set; raise SettingsInvalid without an offset."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError("no offset")
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise SettingsInvalid(
            f"{VARIABLE} is {text!r}, which is not an instant. Write it like 2026-01-31T08:00:00Z, or unset it"
        ) from error


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[None]:
    """Raise TimeoutError out of a block that lasts longer; None adds no limit.

    Limits nest: within the block ``find_left_s`` says what is left of the nearest end of all of them.
    Waiting has one place, so that a test can let a limit expire without waiting for it.
    """
    if seconds is None:
        yield
        return
    ends_s = asyncio.get_running_loop().time() + seconds
    outer_s = _ends_s.get()
    token = _ends_s.set(ends_s if outer_s is None else min(outer_s, ends_s))
    try:
        async with asyncio.timeout(seconds):
            yield
    finally:
        _ends_s.reset(token)


def lift_limits() -> None:
    """Remove the caller's limits from the current task, which continues in the background."""
    _ends_s.set(None)


def find_left_s() -> float | None:
    """Return how many seconds the limits around the caller leave, 0 or less once one has expired; None without any."""
    ends_s = _ends_s.get()
    return None if ends_s is None else ends_s - asyncio.get_running_loop().time()
