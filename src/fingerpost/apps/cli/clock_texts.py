"""Read instants as a person types them: HH:MM, 9am, tomorrow 09:00, a weekday, a day, or ISO 8601."""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo

import typer

from fingerpost import clock
from fingerpost.transit.rules.times import PAST_AFTER_S

_CLOCK_TIME = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST_LETTERS = 3
_HALF_DAY_H = 12
_DAY_H = 24
_DATE = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}(?:-?\d)?)")
_WAYS = "09:00, 9am, noon, tomorrow 09:00, monday 9am, or 2026-01-31T08:00"
# Midnight ends the day that is named with it.
_WORDS = {"noon": "12:00", "midnight": "24:00"}


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
    at, days = _read_time(clock, text)

    def on(date_: date) -> datetime:
        return datetime.combine(date_ + timedelta(days=days), at, since.tzinfo)

    if day is None:
        ways = (on(since.date() + timedelta(days=ahead)) for ahead in (-days, 1 - days))
        return next(way for way in ways if way.timestamp() >= since.timestamp())
    if not _is_weekday(day):
        return on(now.date() + timedelta(days=1 if day == "tomorrow" else 0))
    first = max(now, since).date()
    asked = on(first + timedelta(days=_count_days(day, first)))
    if asked.timestamp() < since.timestamp():
        asked = on(asked.date() + timedelta(days=7 - days))
    return asked


def read_typed_instant(text: str, zone: tzinfo, since: datetime, now: datetime) -> datetime:
    """Return what a person means: the next such time from ``since`` on, the beginning of a day, or the instant itself.

    Raises:
        typer.BadParameter: it is none of these.
    """
    if text.strip().lower() == "now":
        return now
    if is_clock_time(text):
        return next_clock_time(text, since.astimezone(zone), now.astimezone(zone))
    read = _read_iso(text)
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)


def resolve_typed_time(text: str, find_zone: Callable[[], tzinfo]) -> str:
    """Return what a person typed as tools read it; only a bare time of day needs the zone.

    A time of day that has just passed still means now (rule B12).

    Raises:
        typer.BadParameter: it is no time.
    """
    if not is_clock_time(text):
        return check_typed_instant(text)
    now = clock.now().astimezone(find_zone())
    return next_clock_time(text, now - timedelta(seconds=PAST_AFTER_S), now).isoformat(timespec="seconds")


def check_typed_instant(text: str) -> str:
    """Return an instant as a tool reads it; ``now`` is one.

    Raises:
        typer.BadParameter: it is none, or a day without a time.
    """
    if text.strip().lower() == "now":
        return text
    read = _read_iso(text)
    if _DATE.fullmatch(text.strip()):
        raise typer.BadParameter(f"'{text}' is a day: write a time with it, as {read:%Y-%m-%d}T09:00")
    return read.isoformat(timespec="seconds")


def _read_iso(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip().upper())
    except ValueError as error:
        if _is_day(text.strip().lower()):
            told = f"'{text}' is a day: write a time with it, as \"{text.strip()} 09:00\""
        else:
            told = f"'{text}' is no time: write {_WAYS}"
        raise typer.BadParameter(told) from error


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
    if text.lower() in _WORDS:
        return True
    found = _CLOCK_TIME.fullmatch(text)
    return found is not None and (found["minute"] is not None or found["half"] is not None)


def _count_days(weekday: str, first: date) -> int:
    wanted = next(at for at, day in enumerate(_WEEKDAYS) if day.startswith(weekday))
    return (wanted - first.weekday()) % len(_WEEKDAYS)


def _read_time(text: str, whole: str) -> tuple[time, int]:
    """Return a time of day, and 1 where it is that of the day after: 24:00."""
    found = _CLOCK_TIME.fullmatch(_WORDS.get(text.lower(), text))
    assert found is not None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"] is not None:
        if not 1 <= hour <= _HALF_DAY_H:
            raise typer.BadParameter(f"'{whole}' is not a time of day: write {_WAYS}")
        hour = hour % _HALF_DAY_H + (_HALF_DAY_H if found["half"][0].lower() == "p" else 0)
    elif (hour, minute) == (_DAY_H, 0):
        return time(0), 1
    try:
        return time(hour, minute), 0
    except ValueError as error:
        raise typer.BadParameter(f"'{whole}' is not a time of day: write {_WAYS}") from error
