"""Read instants as a person types them: HH:MM, 9am, tomorrow 09:00, a weekday, a day, or ISO 8601."""

import re
from datetime import date, datetime, time, timedelta, tzinfo

import typer

_CLOCK_TIME = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST_LETTERS = 3
_HALF_DAY_H = 12
_WAYS = "09:00, 9am, tomorrow 09:00, monday 9am, or 2026-01-31T08:00"


def is_clock_time(text: str) -> bool:
    """Whether a text is a time of day, with a word for the day before it or without."""
    day, clock = _split(text)
    return (day is None or _is_day(day)) and _is_time(clock)


def next_clock_time(text: str, since: datetime, now: datetime | None = None) -> datetime:
    """Return the first instant not before ``since`` (aware) that a text means: a time of day, or one of a named day.

    ``today`` and ``tomorrow`` are counted from ``now``, however long before ``since`` that is; else from ``since``.

    Raises:
        typer.BadParameter: there is no such time of day.
    """
    now = since if now is None else now
    day, clock = _split(text)
    at = _read_time(clock, text)
    if day is None:
        asked = datetime.combine(since.date(), at, since.tzinfo)
        if asked.timestamp() < since.timestamp():
            asked = datetime.combine(since.date() + timedelta(days=1), at, since.tzinfo)
        return asked
    if not _is_weekday(day):
        return datetime.combine(now.date() + timedelta(days=1 if day == "tomorrow" else 0), at, since.tzinfo)
    first = max(now, since).date()
    asked = datetime.combine(first + timedelta(days=_count_days(day, first)), at, since.tzinfo)
    if asked.timestamp() < since.timestamp():
        asked = datetime.combine(asked.date() + timedelta(days=7), at, since.tzinfo)
    return asked


def read_typed_instant(text: str, zone: tzinfo, since: datetime, now: datetime) -> datetime:
    """Return what a person means: the next such time from ``since`` on, the beginning of a day, or the instant itself.

    Raises:
        typer.BadParameter: it is none of these.
    """
    if is_clock_time(text):
        return next_clock_time(text, since.astimezone(zone), now.astimezone(zone))
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is no time: write {_WAYS}") from error
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)


def check_typed_instant(text: str) -> str:
    """Return a text that is a time of day or begins like a date; ``now`` is one.

    Raises:
        typer.BadParameter: it is neither, so no tool could read it.
    """
    if is_clock_time(text) or text.strip().lower() == "now" or re.match(r"\d{4}-?\d{2}-?\d{2}", text.strip()):
        return text
    raise typer.BadParameter(f"'{text}' is no time: write {_WAYS}")


def _split(text: str) -> tuple[str | None, str]:
    """Return the word for a day, if there is one, and the time of day."""
    words = text.strip().lower().split(maxsplit=1)
    if len(words) > 1 and words[0][:1].isalpha():
        return words[0].rstrip(","), words[1].removeprefix("at ").strip()
    return None, text.strip()


def _is_day(word: str) -> bool:
    return word in ("today", "tonight", "tomorrow") or _is_weekday(word)


def _is_weekday(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and any(day.startswith(word) for day in _WEEKDAYS)


def _is_time(text: str) -> bool:
    found = _CLOCK_TIME.fullmatch(text)
    return found is not None and (found["minute"] is not None or found["half"] is not None)


def _count_days(weekday: str, first: date) -> int:
    wanted = next(at for at, day in enumerate(_WEEKDAYS) if day.startswith(weekday))
    return (wanted - first.weekday()) % len(_WEEKDAYS)


def _read_time(text: str, whole: str) -> time:
    found = _CLOCK_TIME.fullmatch(text)
    assert found is not None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"] is not None:
        if not 1 <= hour <= _HALF_DAY_H:
            raise typer.BadParameter(f"'{whole}' is not a time of day: write {_WAYS}")
        hour = hour % _HALF_DAY_H + (_HALF_DAY_H if found["half"][0].lower() == "p" else 0)
    try:
        return time(hour, minute)
    except ValueError as error:
        raise typer.BadParameter(f"'{whole}' is not a time of day: write {_WAYS}") from error
