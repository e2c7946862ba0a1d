"""Schedule type of an answer: scheduled, realtime or mixed (rules B3 and C1)."""

from collections.abc import Iterable
from enum import StrEnum

from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg
from fingerpost.transit.rules.status import Status, status_of, status_of_departure


class ScheduleType(StrEnum):
    """The three words of the plan_trip contract."""

    REALTIME = "realtime"
    MIXED = "mixed"
    SCHEDULED = "scheduled"


def schedule_type_of(itinerary: Itinerary) -> ScheduleType:
    """Return the word for one itinerary; without rides it is scheduled."""
    return _schedule_type(itinerary.rides)


def schedule_type_of_all(itineraries: Iterable[Itinerary]) -> ScheduleType:
    """Return the word for all rides of all returned itineraries (``realtimeUsed`` of the plan_trip contract)."""
    return _schedule_type(leg for itinerary in itineraries for leg in itinerary.rides)


def uses_realtime(departures: Iterable[Departure]) -> bool:
    """Whether any returned row knows of realtime or a cancellation.

    ``realtimeUsed`` of the get_departures contract.
    """
    return any(status_of_departure(departure) is not Status.SCHEDULED_ONLY for departure in departures)


def _schedule_type(rides: Iterable[Leg]) -> ScheduleType:
    known = {status_of(leg) is not Status.SCHEDULED_ONLY for leg in rides}
    if known == {True}:
        return ScheduleType.REALTIME
    return ScheduleType.MIXED if True in known else ScheduleType.SCHEDULED
