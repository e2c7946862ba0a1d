"""The only place that asks the machine what time it is.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that every answer can be reproduced byte for byte.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from fingerpost.errors import SettingsInvalid

VARIABLE = "FINGERPOST_NOW"

# When the nearest of all limits around a block expires, by the clock of its event loop.
_ends_s: ContextVar[float | None] = ContextVar("fingerpost_ends_s", default=None)


def now() -> datetime:
    """Return the present instant, in UTC.

    Raises:
        SettingsInvalid: ``FINGERPOST_NOW`` is set and is not an instant with an offset.
    """
    return find_fixed() or datetime.now(UTC)


def find_fixed() -> datetime | None:
    """Return the instant that ``FINGERPOST_NOW`` names, in UTC, or None while the clock runs freely.

    Raises:
        SettingsInvalid: the variable is set and is not an instant with an offset.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError("no offset")
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise SettingsInvalid(_complaint(text)) from error


def _complaint(text: str) -> str:
    return f"{VARIABLE} is {text!r}, which is not an instant. Write it like 2026-01-31T08:00:00Z, or unset it."


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[None]:
    """Raise TimeoutError out of a block that lasts longer; None adds no limit.

    Limits nest: within the block ``find_left_s`` says what is left of the nearest end of all of them.
    Waiting has one place, so that a test can let a limit expire without waiting for it.
    """
    outer = _ends_s.get()
    own = None if seconds is None else asyncio.get_running_loop().time() + seconds
    token = _ends_s.set(min((each for each in (outer, own) if each is not None), default=None))
    try:
        async with asyncio.timeout(seconds):
            yield
    finally:
        _ends_s.reset(token)


def find_left_s() -> float | None:
    """Return how many seconds the limits around the caller leave, 0 or less once one has expired; None without any."""
    ends_s = _ends_s.get()
    return None if ends_s is None else ends_s - asyncio.get_running_loop().time()
