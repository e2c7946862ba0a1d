"""Compute the realtime fields in answers: the status of rides, the age of the data, and the delays of walks."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg
from fingerpost.transit.model.provenance import Provenance

ON_TIME_WITHIN_S = 60


class Status(StrEnum):
    CANCELLED = "cancelled"
    DELAYED = "delayed"
    ON_TIME = "on_time"
    SCHEDULED_ONLY = "scheduled_only"


def get_status(ride: Leg | Departure) -> Status:
    if ride.cancelled:
        return Status.CANCELLED
    if ride.departure_delay_s is None:
        return Status.SCHEDULED_ONLY
    return Status.DELAYED if abs(ride.departure_delay_s) > ON_TIME_WITHIN_S else Status.ON_TIME


class ScheduleType(StrEnum):
    REALTIME = "realtime"
    MIXED = "mixed"
    SCHEDULED = "scheduled"


def find_schedule_type(*itineraries: Itinerary) -> ScheduleType:
    has_realtime = {
        get_status(leg) is not Status.SCHEDULED_ONLY for itinerary in itineraries for leg in itinerary.rides
    }
    if has_realtime == {True}:
        return ScheduleType.REALTIME
    return ScheduleType.MIXED if True in has_realtime else ScheduleType.SCHEDULED


def uses_realtime(departures: Iterable[Departure]) -> bool:
    return any(get_status(departure) is not Status.SCHEDULED_ONLY for departure in departures)


STALE_AFTER_S = 90

# The seconds in a unit, the minimum age in seconds for which it is used, and its symbol.
_UNITS = ((86_400, 2 * 86_400, "days"), (3600, 2 * 3600, "h"), (60, 121, "min"))


def find_data_freshness(rows: Iterable[Leg | Departure], received: int) -> int:
    return max([received, *_list_update_times(rows)])


def find_realtime_age_s(rows: Iterable[Leg | Departure], provenance: Provenance, received: int) -> int | None:
    """Return the age of the oldest update or, without updates, of the source's realtime data; None if unknown."""
    oldest = min(_list_update_times(rows), default=provenance.realtime_updated)
    return None if oldest is None else max(0, received - oldest)


def find_stale_message(age_s: int | None, problems: Sequence[str]) -> str | None:
    is_stale = age_s is not None and age_s > STALE_AFTER_S
    sentences = [f"Realtime data is {format_age(age_s or 0)} old."] if is_stale else []
    if problems:
        sentences.append("Realtime data is missing or late: " + " ".join(problems))
    return " ".join(sentences) or None


def format_age(age_s: int) -> str:
    for unit_s, min_age_s, unit in _UNITS:
        if age_s >= min_age_s:
            return f"{age_s // unit_s:,} {unit}"
    return f"{age_s} s"


def _list_update_times(rows: Iterable[Leg | Departure]) -> list[int]:
    return [row.last_realtime_update for row in rows if row.last_realtime_update is not None]


def add_walk_delays(legs: Sequence[Leg]) -> tuple[Leg, ...]:
    """Set the delays of walks for which the source gives only expected times.

    The first walk has the delay of the next ride, and later walks have that of the previous ride. The walk of a
    transfer is scheduled to end no later than the next scheduled departure.
    """
    result: list[Leg] = []
    before: Leg | None = None
    for number, leg in enumerate(legs):
        after = next((later for later in legs[number + 1 :] if later.is_transit), None)
        if leg.is_transit:
            before = leg
        if leg.is_transit or leg.departure_delay_s is not None:
            result.append(leg)
            continue
        delay_s = before.arrival_delay_s if before is not None else after and after.departure_delay_s
        departure, arrival = leg.departure_scheduled - (delay_s or 0), leg.arrival_scheduled - (delay_s or 0)
        if before is not None and after is not None:
            arrival = max(departure, min(arrival, after.departure_scheduled))
        arrival_delay_s = leg.arrival_scheduled - arrival
        walk = leg._replace(
            departure_scheduled=departure,
            arrival_scheduled=arrival,
            departure_delay_s=delay_s,
            arrival_delay_s=arrival_delay_s if arrival_delay_s or delay_s is not None else None,
        )
        result.append(walk)
    return tuple(result)
