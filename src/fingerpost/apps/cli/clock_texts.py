"""Read instants as a person types them: HH:MM, a day, or ISO 8601 with or without an offset."""

import re
from datetime import datetime, time, timedelta, tzinfo

import typer

_CLOCK_TIME = re.compile(r"\d{1,2}:\d{2}")


def is_clock_time(text: str) -> bool:
    """Whether a text is a bare time of day."""
    return _CLOCK_TIME.fullmatch(text) is not None


def next_clock_time(text: str, since: datetime) -> datetime:
    """Return the first instant not before ``since`` (aware) at which clocks there show a time of day, HH:MM.

    Raises:
        typer.BadParameter: there is no such time of day.
    """
    try:
        at = time.fromisoformat(text.zfill(5))
    except ValueError as error:
        raise typer.BadParameter(f"{text} is not a time of day") from error
    asked = datetime.combine(since.date(), at, since.tzinfo)
    if asked.timestamp() < since.timestamp():
        asked = datetime.combine(since.date() + timedelta(days=1), at, since.tzinfo)
    return asked


def read_typed_instant(text: str, zone: tzinfo, since: datetime) -> datetime:
    """Return what a person means: the next HH:MM from ``since`` on, the beginning of a day, or the instant itself.

    Raises:
        typer.BadParameter: it is none of these.
    """
    if is_clock_time(text):
        return next_clock_time(text, since.astimezone(zone))
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text} is no time: write HH:MM, or like 2026-01-31T08:00") from error
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)
