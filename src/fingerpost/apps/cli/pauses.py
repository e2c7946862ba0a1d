"""How long a source wants to be left alone, as a person reads it."""

import math

from fingerpost.apps.cli.wire_times import minutes_of
from fingerpost.errors import SourceLimited, ToolError

_SECONDS_UP_TO = 120
_MINUTE_S = 60


def say_pause(error: ToolError) -> str | None:
    """Return when to ask again, rounded up; None where nobody asked us to wait."""
    if not isinstance(error, SourceLimited):
        return None
    wait_s = math.ceil(max(0.0, error.retry_after_s))
    if wait_s <= _SECONDS_UP_TO:
        return f"Ask again in {wait_s} s"
    return f"Ask again in {minutes_of(-(-wait_s // _MINUTE_S) * _MINUTE_S)}"
