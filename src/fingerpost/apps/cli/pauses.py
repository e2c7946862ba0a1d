"""How long a source wants to be left alone, as a person reads it."""

from fingerpost.apps.cli.wire_times import minutes_of
from fingerpost.contract.envelope import retry_after_of
from fingerpost.errors import ToolError

_SECONDS_UP_TO = 120
_MINUTE_S = 60


def say_pause(error: ToolError) -> str | None:
    """Return when to ask again, rounded up; None where nobody asked us to wait."""
    wait_s = retry_after_of(error)
    if wait_s is None:
        return None
    if wait_s <= _SECONDS_UP_TO:
        return f"Ask again in {wait_s} s"
    return f"Ask again in {minutes_of(-(-wait_s // _MINUTE_S) * _MINUTE_S)}"
