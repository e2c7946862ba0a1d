"""Format days and durations for people."""

from datetime import date
from zoneinfo import ZoneInfo

from fingerpost import clock


def today_in(zone: str) -> date:
    return clock.now().astimezone(ZoneInfo(zone)).date()


def minutes_of(seconds: float) -> str:
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours else f"{minutes} min"
