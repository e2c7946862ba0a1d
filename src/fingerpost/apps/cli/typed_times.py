"""Parse times as people type them: HH:MM, 9am, tomorrow 09:00, a weekday, a day, or ISO 8601."""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta, tzinfo
from typing import NamedTuple

import typer

from fingerpost import clock
from fingerpost.transit.rules.times import PAST_AFTER_S

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_AHEAD = {"today": 0, "tonight": 0, "tomorrow": 1}
_MIN_LETTERS = 3
_TIME = re.compile(
    r"(?:(?P<day>[a-z]+),?\s+(?:at\s+)?)?"
    r"(?:(?P<word>noon|midnight)|(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?:(?P<half>[ap])(?:m|\.m\.))?)"
)
_HALF_DAY_H = 12
_DATE = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}(?:-?\d)?)")
_WAYS = "09:00, 9am, noon, tomorrow 09:00, monday 9am, or 2026-01-31T08:00"


class ClockTime(NamedTuple):
    """A time of day and the word for a day before it; ``days`` is 1 for 24:00 and midnight, which end their day."""

    day: str | None
    at: time
    days: int

    def next(self, since: datetime, now: datetime | None = None) -> datetime:
        """Return the first such instant not before ``since`` (aware), on the named day if there is one.

        ``today`` and ``tomorrow`` count from ``now``, by default ``since``.
        """
        now = since if now is None else now
        if self.day in _DAYS_AHEAD:
            return self._on(now, _DAYS_AHEAD[self.day])
        first, days = since, [-1, 0, 1]
        if self.day is not None:
            first = max(now, since)
            weekday = next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(self.day))
            days = [(weekday - first.weekday()) % 7 + week for week in (0, 7)]
        # As timestamps, because datetimes of one zone are compared by what clocks show.
        instants = (self._on(first, ahead) for ahead in days)
        return next(instant for instant in instants if instant.timestamp() >= since.timestamp())

    def _on(self, day: datetime, days: int) -> datetime:
        return datetime.combine(day.date() + timedelta(days=days + self.days), self.at, day.tzinfo)


def find_clock_time(text: str) -> ClockTime | None:
    """Parse a time of day, with or without a word for a day before it; return None for other texts."""
    found = _TIME.fullmatch(text.strip().lower())
    if found is None or (found["day"] and not _is_day(found["day"])):
        return None
    day, half = found["day"], found["half"]
    if found["word"]:
        return ClockTime(day, time(12), 0) if found["word"] == "noon" else ClockTime(day, time(0), 1)
    if not (found["minute"] or half):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if (hour, minute, half) == (24, 0, None):
        return ClockTime(day, time(0), 1)
    if half:
        is_hour = 1 <= hour <= _HALF_DAY_H
        hour = hour % _HALF_DAY_H + (_HALF_DAY_H if half == "p" else 0) if is_hour else -1
    try:
        return ClockTime(day, time(hour, minute), 0)
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is not a time of day: write {_WAYS}") from error


def read_typed_instant(text: str, zone: tzinfo, since: datetime, now: datetime) -> datetime:
    """Parse an instant: the next such time from ``since`` on, the beginning of a day, or ISO 8601."""
    if text.strip().lower() == "now":
        return now
    clock_time = find_clock_time(text)
    if clock_time is not None:
        return clock_time.next(since.astimezone(zone), now.astimezone(zone))
    read = _read_iso(text)
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)


def resolve_typed_time(text: str, find_zone: Callable[[], tzinfo]) -> str:
    """Return a typed time as ISO 8601; only a bare time of day needs the zone.

    A time of day that has just passed still means now (rule B12).
    """
    if text.strip().lower() == "now":
        return text
    clock_time = find_clock_time(text)
    if clock_time is not None:
        now = clock.now().astimezone(find_zone())
        return clock_time.next(now - timedelta(seconds=PAST_AFTER_S), now).isoformat(timespec="seconds")
    read = _read_iso(text)
    if _DATE.fullmatch(text.strip()):
        raise typer.BadParameter(f"'{text}' is a day: write a time with it, as {read:%Y-%m-%d}T09:00")
    return read.isoformat(timespec="seconds")


def _read_iso(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip().upper())
    except ValueError as error:
        is_day = _is_day(text.strip())
        problem = f'a day: write a time with it, as "{text.strip()} 09:00"' if is_day else f"no time: write {_WAYS}"
        raise typer.BadParameter(f"'{text}' is {problem}") from error


def _is_day(word: str) -> bool:
    word = word.lower()
    is_weekday = len(word) >= _MIN_LETTERS and any(day.startswith(word) for day in _WEEKDAYS)
    return is_weekday or word in _DAYS_AHEAD
