"""Realtime status of a ride (rule B2)."""

from enum import StrEnum

from fingerpost.transit.model.itinerary import Departure, Leg

# A delay of this size, late or early, is still on time.
ON_TIME_WITHIN_S = 60


class Status(StrEnum):
    """The four words of the plan_trip and get_departures contracts, strongest first."""

    CANCELLED = "cancelled"
    DELAYED = "delayed"
    ON_TIME = "on_time"
    SCHEDULED_ONLY = "scheduled_only"


def status_of(leg: Leg) -> Status | None:
    """Return the status of a ride by its departure where it is boarded; None for a walk."""
    return _status(cancelled=leg.cancelled, delay_s=leg.departure_delay_s) if leg.is_transit else None


def status_of_departure(departure: Departure) -> Status:
    """Return the status of one row of a board."""
    return _status(cancelled=departure.cancelled, delay_s=departure.departure_delay_s)


def _status(*, cancelled: bool, delay_s: int | None) -> Status:
    if cancelled:
        return Status.CANCELLED
    if delay_s is None:
        return Status.SCHEDULED_ONLY
    return Status.DELAYED if abs(delay_s) > ON_TIME_WITHIN_S else Status.ON_TIME
