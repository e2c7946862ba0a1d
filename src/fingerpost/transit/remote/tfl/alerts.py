"""Alerts from TfL's statuses of lines, disruptions of stops and lifts, and what it says of legs (rule B13)."""

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.remote.kit.journeys import UNKNOWN_EFFECT, is_in_force, once
from fingerpost.transit.remote.tfl.shapes import (
    Disruption,
    LiftDisruption,
    LineStatus,
    StopDisruption,
    TflLine,
)

# Severities that say that nothing is wrong; they are names, not a scale: 20 is closed.
_GOOD = frozenset({10, 18})
_CLOSED, _REDUCED, _DELAYED, _DIVERTED, _STEPS, _CHANGED = (
    "NO_SERVICE",
    "REDUCED_SERVICE",
    "SIGNIFICANT_DELAYS",
    "DETOUR",
    "ACCESSIBILITY_ISSUE",
    "MODIFIED_SERVICE",
)
_EFFECTS: Mapping[int, str] = MappingProxyType(
    {
        1: _CLOSED,
        2: _CLOSED,
        4: _CLOSED,
        16: _CLOSED,
        20: _CLOSED,
        3: _REDUCED,
        5: _REDUCED,
        7: _REDUCED,
        11: _REDUCED,
        6: _DELAYED,
        9: _DELAYED,
        15: _DIVERTED,
        13: _STEPS,
        8: _CHANGED,
        14: _CHANGED,
    }
)


def list_line_alerts(lines: Iterable[TflLine], line_id: str, begin: int, end: int) -> tuple[ServiceAlert, ...]:
    found = [
        _line_alert(line, status, begin, end)
        for line in lines
        if line.id.lower() == line_id.lower()
        for status in line.line_statuses
        if status.status_severity not in _GOOD
    ]
    return once(found)


def list_lift_alerts(lifts: Iterable[LiftDisruption], stations: Iterable[str | None]) -> tuple[ServiceAlert, ...]:
    """Return which lifts are out of order at stations, by NaPTAN code; TfL tells those of now alone."""
    wanted = {each.upper() for each in stations if each}
    return once(_alert(lift.message, _STEPS) for lift in lifts if lift.station in wanted and lift.message)


def list_stop_alerts(disruptions: Iterable[StopDisruption], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    return once(
        _alert(each.description, UNKNOWN_EFFECT, each.from_date, each.to_date)
        for each in disruptions
        if each.description and is_in_force(each.from_date, each.to_date, begin, end)
    )


def list_leg_alerts(disruptions: Iterable[Disruption]) -> tuple[ServiceAlert, ...]:
    return once(_alert(each.description, UNKNOWN_EFFECT) for each in disruptions if each.description)


def _line_alert(line: TflLine, status: LineStatus, begin: int, end: int) -> ServiceAlert | None:
    """Return the alert of a status, None where it holds at another time; without a period it holds now."""
    since = until = None
    if status.validity_periods:
        holding = [
            period for period in status.validity_periods if is_in_force(period.from_date, period.to_date, begin, end)
        ]
        if not holding:
            return None
        since, until = holding[0].from_date, holding[0].to_date
    effect = _EFFECTS.get(status.status_severity, UNKNOWN_EFFECT)
    said = status.reason or f"{line.name or line.id}: {status.status_severity_description or 'disrupted'}"
    return _alert(said, effect, since, until)


def _alert(said: str, effect: str, since: int | None = None, until: int | None = None) -> ServiceAlert:
    """Return an alert: TfL writes no headlines, so its first sentence is one, and the text where there are more."""
    text = " ".join(said.split())
    first, stop, rest = text.partition(". ")
    # TfL gives its disruptions no ids; the same words are the same alert.
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    return ServiceAlert(
        id=f"tfl-{name}",
        header=first + stop.strip() if rest else text,
        text=text if rest else "",
        effect=effect,
        since=since,
        until=until,
    )
