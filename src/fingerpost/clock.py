"""The only place that asks the machine what time it is.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that every answer can be reproduced byte for byte.
"""

import asyncio
import os
import time
from contextvars import ContextVar, Token
from datetime import UTC, date, datetime
from types import TracebackType
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


class time_limit:  # noqa: N801  (entered like asyncio.timeout)
    """Raise TimeoutError out of a block that lasts longer; None adds no limit.

    Limits nest: within the block ``find_left_s`` says what is left of the nearest end of all of them.
    Waiting has one place, so that a test can let a limit expire without waiting for it.
    """

    __slots__ = ("_seconds", "_timeout", "_token")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timeout: asyncio.Timeout | None = None
        self._token: Token[float | None] | None = None

    async def __aenter__(self) -> None:
        # Every question passes two limits: without one of their own they cost next to nothing.
        if self._seconds is None:
            return
        ends_s = asyncio.get_running_loop().time() + self._seconds
        outer_s = _ends_s.get()
        self._token = _ends_s.set(ends_s if outer_s is None else min(outer_s, ends_s))
        self._timeout = asyncio.timeout(self._seconds)
        await self._timeout.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timeout is None or self._token is None:
            return
        _ends_s.reset(self._token)
        await self._timeout.__aexit__(kind, error, traceback)


def lift_limits() -> None:
    """Remove the caller's limits from the current task, which continues in the background."""
    _ends_s.set(None)


def find_left_s() -> float | None:
    """Return how many seconds the limits around the caller leave, 0 or less once one has expired; None without any."""
    ends_s = _ends_s.get()
    return None if ends_s is None else ends_s - asyncio.get_running_loop().time()
