"""Differences between an alternative itinerary and the disrupted one that it replaces."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from fingerpost.transit.model.itinerary import Itinerary, ServiceAlert
from fingerpost.transit.rules.alerts import find_explanation
from fingerpost.transit.rules.disruption import Merged, is_disrupted_leg, name_disrupted
from fingerpost.transit.rules.ranking import fingerprint

# A change that leaves less time than this, beyond the walk, may be missed.
TIGHT_UNDER_S = 120


class ConnectionRisk(StrEnum):
    """Whether all changes of an itinerary leave time to spare."""

    OK = "ok"
    TIGHT = "tight"


@dataclass(frozen=True, slots=True)
class DisruptionCause:
    """What is wrong with the usual itinerary: a sentence, and the id of the alert that says why, else of the ride."""

    id: str
    sentence: str
    alert: ServiceAlert | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How an itinerary differs from the usual one, at the timetable's times.

    ``later_s`` is how much later it arrives, negative for earlier; ``more_walk_m`` and ``more_changes`` may be
    negative as well.
    """

    fingerprint: str
    instead_of: str
    cause: DisruptionCause
    later_s: int
    more_changes: int
    more_walk_m: float
    risk: ConnectionRisk


def find_differences(merged: Merged, say_time: Callable[[int], str]) -> list[Difference]:
    """Return one difference for every itinerary that is shown ahead of, or instead of, a disrupted one.

    ``say_time`` prints the planned departure of what is disrupted.
    """
    return [
        _difference(choice.itinerary, choice.instead_of, say_time)
        for choice in merged.choices
        if choice.instead_of is not None
    ]


def _difference(shown: Itinerary, usual: Itinerary, say_time: Callable[[int], str]) -> Difference:
    return Difference(
        fingerprint=fingerprint(shown),
        instead_of=fingerprint(usual),
        cause=_cause_of(usual, say_time),
        later_s=shown.arrival - usual.legs[-1].arrival_scheduled,
        more_changes=shown.transfers - usual.transfers,
        more_walk_m=shown.walk_m - usual.walk_m,
        risk=connection_risk(shown),
    )


def connection_risk(itinerary: Itinerary) -> ConnectionRisk:
    return (
        ConnectionRisk.TIGHT if min(_spare_s(itinerary), default=TIGHT_UNDER_S) < TIGHT_UNDER_S else ConnectionRisk.OK
    )


def _spare_s(itinerary: Itinerary) -> Iterator[int]:
    """Yield, for each change, the seconds between being at the stop and the next ride's departure."""
    there: int | None = None
    for leg in itinerary.legs:
        if leg.is_transit and there is not None and not leg.stays_seated:
            yield leg.departure - there
        if leg.is_transit or there is not None:
            there = leg.arrival


def _cause_of(itinerary: Itinerary, say_time: Callable[[int], str]) -> DisruptionCause:
    sentence = name_disrupted([itinerary], say_time)
    leg = next(filter(is_disrupted_leg, itinerary.legs), None)
    if leg is None:
        # A small delay that breaks a change.
        return DisruptionCause("", sentence)
    alert = find_explanation(leg)
    return DisruptionCause(leg.trip_id or "" if alert is None else alert.id, sentence, alert)
