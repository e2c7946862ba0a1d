"""Parse typed times (09:00, 9am, tomorrow 09:00, saturday 9am, or ISO 8601), and find their time zone."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import typer

from fingerpost import clock
from fingerpost.apps.cli.application import run_search
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.places.resolver import PlaceResolver, TextQuery
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.rules.times import PAST_AFTER_S, is_now

_DAYS_AHEAD = {"today": 0, "tonight": 0, "tomorrow": 1}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MAX_DATE_CHARS = len("2026-W01-1")
_DAY = "|".join((*_DAYS_AHEAD, "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"))
_TIME = re.compile(rf"(?:(?P<day>{_DAY})\s+)?(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}))?\s*(?P<half>[ap]m)?")


def parse_time(text: str, find_zone: Callable[[], tzinfo]) -> datetime:
    """Parse a typed time; the result is naive for ISO 8601 without an offset.

    ``find_zone`` is called only for ``now`` and for times of day. A time of day, alone or with a weekday, means its
    next occurrence.
    """
    lowered = text.strip().lower()
    if is_now(lowered):
        return clock.now().astimezone(find_zone())
    parts = _TIME.fullmatch(lowered)
    try:
        if parts is None or not (parts["minute"] or parts["half"]):
            if len(lowered) <= _MAX_DATE_CHARS:
                raise ValueError
            return datetime.fromisoformat(lowered.upper())
        clock_text = f"{parts['hour']}:{parts['minute'] or '00'}{parts['half'] or ''}"
        wall_time = datetime.strptime(clock_text, "%I:%M%p" if parts["half"] else "%H:%M").replace(tzinfo=UTC).time()
    except ValueError as error:
        raise typer.BadParameter(
            f"'{text}' is not a time: write now, 09:00, 9am, tomorrow 09:00, saturday 9am, or 2026-01-31T08:00"
        ) from error
    return _find_next(parts["day"], wall_time, clock.now().astimezone(find_zone()))


def _find_next(day: str | None, wall_time: time, begin: datetime) -> datetime:
    """Return the next instant with this wall-clock time, on ``day`` if given; for ``today``, possibly before ``begin``.

    A time that has just passed counts as now (rule B12).
    """
    if day is None:
        days_ahead = [-1, 0, 1]
    elif day in _DAYS_AHEAD:
        days_ahead = [_DAYS_AHEAD[day]]
    else:
        weekday = (_WEEKDAYS.index(day[:3]) - begin.weekday()) % 7
        days_ahead = [weekday, weekday + 7]
    instants = [datetime.combine(begin.date() + timedelta(days=ahead), wall_time, begin.tzinfo) for ahead in days_ahead]
    # Compare timestamps, because Python compares datetimes in the same zone by wall-clock time.
    earliest = begin.timestamp() - PAST_AFTER_S
    return next((instant for instant in instants if instant.timestamp() >= earliest), instants[-1])


def find_trip_zone(application: Application, origin: str, destination: str) -> tzinfo:
    """Return the time zone of the network that would plan a trip; UTC if a place is invalid (the tool reports that)."""
    places = PlaceResolver(application.networks, application.variables)
    now, user = int(clock.now().timestamp()), application.settings.user
    ends = TextQuery(text=origin), TextQuery(text=destination)
    try:
        journeys, _ = run_search(application, resolve_journey(places, *ends, JourneyParameters(instant=now), user=user))
    except ToolError:
        return UTC
    return ZoneInfo(journeys[0].network.profile.zone)


def find_stop_zone(application: Application, label: str) -> tzinfo:
    """Return the time zone of a stop's network; UTC if no stop matches (the tool reports that)."""
    places = PlaceResolver(application.networks, application.variables)
    now, user = int(clock.now().timestamp()), application.settings.user
    try:
        found = run_search(application, places.get_stop(label, is_label=True, user=user, language="en", instant=now))
    except ToolError:
        return UTC
    return ZoneInfo(found.networks[0].profile.zone)
