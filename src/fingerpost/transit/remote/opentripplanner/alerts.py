"""Alerts that are in force while a rider is there, from the server's (rule B13)."""

from collections.abc import Iterable

from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.remote.opentripplanner.shapes import OwnAlert

_UNKNOWN = "UNKNOWN_EFFECT"


def list_in_force(alerts: Iterable[OwnAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the alerts that say something and hold at any time from ``begin`` to ``end``, each once."""
    told = {each.id: _alert(each) for each in alerts if _is_in_force(each, begin, end)}
    return tuple(alert for alert in told.values() if alert.header or alert.text)


def _alert(alert: OwnAlert) -> ServiceAlert:
    return ServiceAlert(
        id=alert.id,
        header=(alert.alert_header_text or "").strip(),
        text=(alert.alert_description_text or "").strip(),
        effect=alert.alert_effect or _UNKNOWN,
        since=alert.effective_start_date,
        until=alert.effective_end_date,
        url=alert.alert_url or None,
    )


def _is_in_force(alert: OwnAlert, begin: int, end: int) -> bool:
    return (alert.effective_start_date or 0) <= end and (
        alert.effective_end_date is None or begin < alert.effective_end_date
    )
