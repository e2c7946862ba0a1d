"""Alerts that are in force while a rider is there, from the server's (rule B13)."""

import hashlib
from collections.abc import Iterable

from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.remote.motis.shapes import MotisAlert, TimeRange

_UNKNOWN = "UNKNOWN_EFFECT"


def list_in_force(alerts: Iterable[MotisAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the alerts that say something and hold at any time from ``begin`` to ``end``, each once.

    What has a code is a remark on the service, such as its power sockets, and no alert.
    """
    made = (_alert(each, begin, end) for each in alerts if each.code is None)
    told = {alert.id: alert for alert in made if alert is not None}
    return tuple(told.values())


def _alert(alert: MotisAlert, begin: int, end: int) -> ServiceAlert | None:
    header, text = (alert.header_text or "").strip(), (alert.description_text or "").strip()
    # Feeds that know one kind of period state it as the time in which the alert is to be shown.
    spans = alert.impact_period or alert.communication_period
    held = [each for each in spans if _overlaps(each, begin, end)]
    if not (header or text) or (spans and not held):
        return None
    span = held[0] if held else TimeRange()
    effect, url = alert.effect or _UNKNOWN, alert.url or None
    # The server's alerts have no id of their own.
    name = hashlib.sha256("\x00".join((header, text, effect, url or "")).encode()).hexdigest()[:16]
    return ServiceAlert(id=name, header=header, text=text, effect=effect, since=span.start, until=span.end, url=url)


def _overlaps(span: TimeRange, begin: int, end: int) -> bool:
    return (span.start is None or span.start <= end) and (span.end is None or begin < span.end)
