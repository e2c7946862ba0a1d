"""Parse times as people type them: 09:00, 9am, tomorrow 09:00, a weekday with a time, or ISO 8601."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import NamedTuple

import typer

from fingerpost import clock
from fingerpost.transit.rules.times import PAST_AFTER_S

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_AHEAD = {"today": 0, "tonight": 0, "tomorrow": 1}
_MIN_WEEKDAY_LETTERS = 3
_TIME = re.compile(r"(?:(?P<day>[a-z]+)\s+)?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)?")
_DATE = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}(?:-?\d)?)")


class ClockTime(NamedTuple):
    """A time of day, with the name of a day or None."""

    day: str | None
    at: time

    def find_next(self, now: datetime) -> datetime:
        """Return the next instant at this time, from ``now`` (aware) on, and on the named day if there is one.

        A time that has just passed counts as now (rule B12).
        """
        if self.day is None:
            days = [-1, 0, 1]
        elif self.day in _DAYS_AHEAD:
            days = [_DAYS_AHEAD[self.day]]
        else:
            weekday = next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(self.day))
            days = [(weekday - now.weekday()) % 7 + week for week in (0, 7)]
        instants = [datetime.combine(now.date() + timedelta(days=ahead), self.at, now.tzinfo) for ahead in days]
        # Compare timestamps, because Python compares datetimes of one zone by wall-clock time.
        earliest = now.timestamp() - PAST_AFTER_S
        return next((instant for instant in instants if instant.timestamp() >= earliest), instants[-1])


def find_clock_time(text: str) -> ClockTime | None:
    """Parse a time of day, optionally after the name of a day; return None for any other text."""
    parts = _TIME.fullmatch(text.strip().lower())
    if parts is None or not (parts["minute"] or parts["half"]) or (parts["day"] and not _is_day_name(parts["day"])):
        return None
    clock_text = f"{parts['hour']}:{parts['minute'] or '00'}{parts['half'] or ''}"
    try:
        parsed = datetime.strptime(clock_text, "%I:%M%p" if parts["half"] else "%H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise _new_error(text) from error
    return ClockTime(parts["day"], parsed.time())


def read_typed_time(text: str, find_zone: Callable[[], tzinfo], after: datetime | None = None) -> datetime:
    """Parse a typed time; the result is naive for ISO 8601 without an offset. Only a time of day needs the zone.

    A time without a day is the next one after ``after``, by default after now.
    """
    clock_time = find_clock_time(text)
    if clock_time is not None:
        begin = clock.now() if after is None or clock_time.day else after
        return clock_time.find_next(begin.astimezone(find_zone()))
    day = text.strip()
    if _is_day_name(day) or _DATE.fullmatch(day):
        example = f"{day} 09:00" if _is_day_name(day) else f"{day}T09:00"
        raise typer.BadParameter(f"'{text}' is a day: add a time, such as '{example}'")
    try:
        return datetime.fromisoformat(day.upper())
    except ValueError as error:
        raise _new_error(text) from error


def _new_error(text: str) -> typer.BadParameter:
    return typer.BadParameter(
        f"'{text}' is not a time: write 09:00, 9am, tomorrow 09:00, monday 9am, or 2026-01-31T08:00"
    )


def _is_day_name(word: str) -> bool:
    word = word.lower()
    is_weekday = len(word) >= _MIN_WEEKDAY_LETTERS and any(day.startswith(word) for day in _WEEKDAYS)
    return is_weekday or word in _DAYS_AHEAD
