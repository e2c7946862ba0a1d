"""Format an answer's instants and durations for people."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from fingerpost import clock


def today_in(zone: str) -> date:
    """Return the present day in a network's zone."""
    return clock.now().astimezone(ZoneInfo(zone)).date()


def day_of(time: str, today: date) -> str:
    """Return the day of an ISO 8601 instant: ``today``, or weekday and date."""
    day = datetime.fromisoformat(time).date()
    return "today" if day == today else f"{day:%a} {day.day} {day:%b %Y}"


def clock_of(time: str, since: datetime) -> str:
    """Return HH:MM of an ISO 8601 instant of an answer that begins at ``since``, after its date on any other day.

    The offset stands behind it where clocks have been changed meanwhile.
    """
    instant = datetime.fromisoformat(time)
    changed = "" if instant.utcoffset() == since.utcoffset() else time[19:]
    if instant.date() == since.date():
        return f"{instant:%H:%M}{changed}"
    return f"{instant:%a} {instant.day} {instant:%b %H:%M}{changed}"


def minutes_of(seconds: float) -> str:
    """Return a duration: whole minutes, hours where there are any."""
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours else f"{minutes} min"


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds from one ISO 8601 instant to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
