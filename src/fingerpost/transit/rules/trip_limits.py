"""Limits of a trip: walking, long waits, networks out of service, and which limits a second search relaxes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.provenance import OutOfService
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.times import print_instant

UNMEASURED = "The server does not say how long some walks are; they are counted as straight lines."


def is_possible(itinerary: Itinerary) -> bool:
    """Whether neither the whole nor a leg ends before it begins, by the timetable and by what is expected."""
    return itinerary.duration_s >= 0 and all(
        leg.departure_scheduled <= leg.arrival_scheduled and leg.departure_expected <= leg.arrival_expected
        for leg in itinerary.legs
    )


def list_kept(itineraries: Iterable[Itinerary], query: JourneyQuery) -> list[Itinerary]:
    return [each for each in itineraries if each.walk_m <= query.max_walk_m and each.transfers <= query.max_transfers]


LONG_WAIT_S = 8 * 3600


def find_long_wait(found: Iterable[Itinerary], since: int, zone: str) -> str | None:
    """Return when the first of all usable itineraries that were found leaves, None where that is soon or there is none.

    ``since`` is when the rider would leave, in Unix seconds. What only the limit cut off counts too: it can be had.
    """
    first = min((each.departure for each in found if not each.is_unusable), default=since)
    if first - since <= LONG_WAIT_S:
        return None
    return f"Nothing that can be used leaves soon: the first trip found leaves at {print_instant(first, zone)}."


# So many feeds are named; of more, the number is enough.
_MOST_NAMED = 6


def find_out_of_service_message(out_of_service: Sequence[OutOfService]) -> str | None:
    """Return the warning's message, naming each feed and since or until when it has no service; None for no feed."""
    if not out_of_service:
        return None
    named = _name(out_of_service)
    return f"No service on {out_of_service[0].day}, so what these run is missing here: {named}."


def find_out_of_service_hint(out_of_service: Sequence[OutOfService]) -> str | None:
    """Return what to do where nothing was found on a day on which feeds have no service; None for no feed."""
    if not out_of_service:
        return None
    hint = f"No service on {out_of_service[0].day}: {_name(out_of_service)}"
    later = [next_day for each in out_of_service if (next_day := each.feed.service.find_next_day(each.day))]
    if later:
        return f"{hint}. Try {min(later)}"
    last = [each.feed.last_day for each in out_of_service if each.feed.last_day is not None]
    return f"{hint}. Ask the operator for a newer timetable" + (f", or try a day up to {max(last)}" if last else "")


def _name(out_of_service: Sequence[OutOfService]) -> str:
    told = [f"{each.feed.title} ({each.feed.service.say_turn_from(each.day)})" for each in out_of_service[:_MOST_NAMED]]
    more = len(out_of_service) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")


RELAXED_BY = 1.25
LONGEST_WALK_M = 3000.0


def relax(question: JourneyQuery) -> JourneyQuery:
    """Return the relaxed question: balanced, with a longer walk, at most the contract's maximum."""
    max_walk_m = min(question.max_walk_m * RELAXED_BY, LONGEST_WALK_M)
    return replace(question, optimize=Optimize.BALANCED, max_walk_m=max_walk_m)


def find_walk_unmet(itineraries: Iterable[Itinerary], asked_m: float) -> str | None:
    """Return the sentence for ``preference-unmet``, naming the asked and the longest walk, or None if all keep it."""
    longest_m = max((itinerary.walk_m for itinerary in itineraries), default=0.0)
    if longest_m <= asked_m:
        return None
    return f"Up to {math.ceil(longest_m)} m of walking, more than the {asked_m:g} m asked for."
