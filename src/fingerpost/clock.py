"""The only place that asks the machine what time it is.

``FINGERPOST_NOW`` (RFC 3339, with an offset) fixes the clock, so that every answer can be reproduced byte for byte.
"""

import asyncio
import os
from datetime import UTC, datetime

from fingerpost.errors import SettingsInvalid

VARIABLE = "FINGERPOST_NOW"


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


def time_limit(seconds: float | None) -> asyncio.Timeout:
    """Return an async context that raises TimeoutError when it lasts longer; None is no limit.

    Waiting has one place, so that a test can let a limit expire without waiting for it.
    """
    return asyncio.timeout(seconds)
