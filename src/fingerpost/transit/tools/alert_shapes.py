"""Alerts of an answer, in its shape and in its text."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from fingerpost.contract.wire import WireDict, write_stated
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.port import DepartureBoard
from fingerpost.transit.rules.alerts import (
    HEADER_CHARS,
    MAX_ALERTS,
    TEXT_CHARS,
    ToldAlert,
    ToldAlerts,
    Touched,
    choose_alerts,
    say_effect,
)
from fingerpost.transit.rules.modes import is_ride, name_ride
from fingerpost.transit.rules.times import print_instant, print_utc

_MOST_NAMES = 4

# "from" is a keyword of Python: only this form of a TypedDict can have it as a key.
_From = TypedDict("_From", {"from": NotRequired[str]})


class WireAlert(WireDict, _From):
    """What the operator tells riders; ``touches`` are paths into the answer, such as itineraries/0/legs/1."""

    header: Annotated[str, Field(min_length=1, max_length=HEADER_CHARS)]
    text: NotRequired[Annotated[str, Field(max_length=TEXT_CHARS)]]
    effect: str
    until: NotRequired[str]
    url: NotRequired[str]
    touches: Annotated[list[str], Field(min_length=1)]


class AlertNotes(WireDict):
    """The alerts of an answer, each once, and how many more there are."""

    alerts: NotRequired[Annotated[list[WireAlert], Field(max_length=MAX_ALERTS)]]
    alertsNotShown: NotRequired[int]


def show_alerts(alerts: ToldAlerts, zone: str | None) -> AlertNotes:
    """Write alerts in a network's zone, in UTC where it is None; no field where there are none (rule A2)."""
    told = [_show_alert(each, zone) for each in alerts.told]
    return write_stated(AlertNotes, {"alerts": told or None, "alertsNotShown": alerts.more or None})


def show_board_alerts(
    board: DepartureBoard, shown: Sequence[Departure], stop_path: str, zone: str | None
) -> AlertNotes:
    """Write the alerts of the rows and of the stop of a board; ``stop_path`` is the path of the stop in the answer."""
    rows = [Touched(f"departures/{at}", departure.alerts) for at, departure in enumerate(shown)]
    return show_alerts(choose_alerts([*rows, Touched(stop_path, board.alerts)]), zone)


def _show_alert(told: ToldAlert, zone: str | None) -> WireAlert:
    alert = told.alert
    fields = {
        "header": alert.header,
        "effect": alert.effect,
        "touches": list(told.touches),
        "text": alert.text or None,
        "from": _print(alert.since, zone),
        "until": _print(alert.until, zone),
        "url": alert.url,
    }
    return write_stated(WireAlert, fields)


def _print(instant: int | None, zone: str | None) -> str | None:
    if instant is None:
        return None
    return print_utc(instant) if zone is None else print_instant(instant, zone)


def describe_alerts(meta: AlertNotes, parts: Sequence[tuple[str, str]], everything: str) -> list[str]:
    """Return one line an alert, then how many more there are.

    ``parts`` are the (path, name) of all that an alert may touch, and ``everything`` the name of all of them.
    """
    lines = [f"! {_line_of(alert, parts, everything)}" for alert in meta.get("alerts", ())]
    more = meta.get("alertsNotShown", 0)
    if more:
        lines.append(f"! {more} more {'alert is' if more == 1 else 'alerts are'} not shown.")
    return lines


def describe_trip_alerts(answer: Any) -> list[str]:
    parts = [
        (f"itineraries/{row}/legs/{at}", f"{row + 1}: {name_ride(leg['mode'], leg.get('line'))}")
        for row, itinerary in enumerate(answer["itineraries"])
        for at, leg in enumerate(itinerary["legs"])
        if is_ride(leg["mode"])
    ]
    return describe_alerts(answer["meta"], parts, "every ride")


def describe_board_alerts(answer: Any) -> list[str]:
    rows = enumerate(answer["departures"])
    parts = [(f"departures/{at}", f"{row['mode']} {row['line']} to {row['destination']}") for at, row in rows]
    return describe_alerts(answer["meta"], parts, "every departure")


def _line_of(alert: WireAlert, parts: Sequence[tuple[str, str]], everything: str) -> str:
    touched = set(alert["touches"])
    names = list(dict.fromkeys(name for path, name in parts if path in touched))
    if len(parts) > 1 and touched.issuperset(path for path, _ in parts):
        names = [everything]
    if "stopId" in touched:
        names.insert(0, "this stop")
    if not names:
        names = ["the disrupted trip"]
    named = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if (more := len(names) - _MOST_NAMES) > 0 else "")
    effect = say_effect(alert["effect"])
    said = [alert["header"], alert.get("text", ""), alert.get("url", "")]
    head = ", ".join(filter(None, [effect if effect != alert["header"] else "", _say_period(alert)]))
    return f"Alert for {named}{f' ({head})' if head else ''}: {' '.join(_sentences(said))}"


def _sentences(said: Sequence[str]) -> list[str]:
    """Return texts that can stand one behind the other."""
    given = [text for text in said if text]
    stops = (".", "!", "?", "…", ":")
    return [*(text if text.endswith(stops) else f"{text}." for text in given[:-1]), *given[-1:]]


def _say_period(alert: WireAlert) -> str:
    since, until = (text[:16].replace("T", " ") for text in (alert.get("from", ""), alert.get("until", "")))
    if since and until:
        return f"{since} to {until[11:] if until[:10] == since[:10] else until}"
    return f"since {since}" if since else f"until {until}" if until else ""
