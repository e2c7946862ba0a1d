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
_MIN_LETTERS = 3
_TIME = re.compile(r"(?:(?P<day>[a-z]+)\s+)?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)?")
_DATE = re.compile(r"\d{4}-?(?:\d{2}-?\d{2}|W\d{2}(?:-?\d)?)")


class ClockTime(NamedTuple):
    """A time of day, and the word for a day before it, if any."""

    day: str | None
    at: time

    def find_next(self, now: datetime) -> datetime:
        """Return the first such instant from ``now`` (aware) on, on the named day if there is one.

        A time that has just passed still means now (rule B12).
        """
        if self.day is None:
            days = [-1, 0, 1]
        elif self.day in _DAYS_AHEAD:
            days = [_DAYS_AHEAD[self.day]]
        else:
            weekday = next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(self.day))
            days = [(weekday - now.weekday()) % 7 + week for week in (0, 7)]
        instants = [datetime.combine(now.date() + timedelta(days=ahead), self.at, now.tzinfo) for ahead in days]
        # As timestamps, because datetimes of one zone are compared by what clocks show.
        earliest = now.timestamp() - PAST_AFTER_S
        return next((instant for instant in instants if instant.timestamp() >= earliest), instants[-1])


def find_clock_time(text: str) -> ClockTime | None:
    """Parse a time of day, with or without a word for a day before it; return None for other texts."""
    parts = _TIME.fullmatch(text.strip().lower())
    if parts is None or not (parts["minute"] or parts["half"]) or (parts["day"] and not _is_day(parts["day"])):
        return None
    shown = f"{parts['hour']}:{parts['minute'] or '00'}{parts['half'] or ''}"
    try:
        parsed = datetime.strptime(shown, "%I:%M%p" if parts["half"] else "%H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise _refuse(text) from error
    return ClockTime(parts["day"], parsed.time())


def read_typed_time(text: str, find_zone: Callable[[], tzinfo]) -> datetime:
    """Return a typed time, without a zone if it is ISO 8601 without an offset; only a time of day needs the zone."""
    clock_time = find_clock_time(text)
    if clock_time is not None:
        return clock_time.find_next(clock.now().astimezone(find_zone()))
    day = text.strip()
    if _is_day(day) or _DATE.fullmatch(day):
        example = f"{day} 09:00" if _is_day(day) else f"{day}T09:00"
        raise typer.BadParameter(f"'{text}' is a day: write a time with it, as '{example}'")
    try:
        return datetime.fromisoformat(day.upper())
    except ValueError as error:
        raise _refuse(text) from error


def _refuse(text: str) -> typer.BadParameter:
    return typer.BadParameter(f"'{text}' is no time: write 09:00, 9am, tomorrow 09:00, monday 9am, or 2026-01-31T08:00")


def _is_day(word: str) -> bool:
    word = word.lower()
    is_weekday = len(word) >= _MIN_LETTERS and any(day.startswith(word) for day in _WEEKDAYS)
    return is_weekday or word in _DAYS_AHEAD
