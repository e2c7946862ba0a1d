"""Limits of a trip: walking, long waits and feeds out of service, and the relaxed second query (rules B5 and B6)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.provenance import OutOfService
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.times import format_instant

UNMEASURED = "The server does not say how long some walks are; they are counted as straight lines."


def is_possible(itinerary: Itinerary) -> bool:
    return itinerary.duration_s >= 0 and all(
        leg.departure_scheduled <= leg.arrival_scheduled and leg.departure_expected <= leg.arrival_expected
        for leg in itinerary.legs
    )


def list_kept(itineraries: Iterable[Itinerary], query: JourneyQuery) -> list[Itinerary]:
    return [
        itinerary
        for itinerary in itineraries
        if itinerary.walk_m <= query.max_walk_m and itinerary.transfers <= query.max_transfers
    ]


LONG_WAIT_S = 3600


def list_long_waits(
    found: Iterable[Itinerary], shown: Iterable[Itinerary], instant: int, zone: str, *, arrive_by: bool = False
) -> list[str]:
    """Return sentences on waits of over an hour before, after and within itineraries (rule B6)."""
    usable = [itinerary for itinerary in found if not itinerary.is_unusable]
    offset = _find_long_offset(usable, instant, zone, arrive_by=arrive_by)
    return [sentence for sentence in (offset, find_long_change(shown)) if sentence is not None]


def _find_long_offset(usable: Sequence[Itinerary], instant: int, zone: str, *, arrive_by: bool) -> str | None:
    if arrive_by:
        last = max((itinerary.arrival for itinerary in usable), default=instant)
        if instant - last > LONG_WAIT_S:
            told = "Nothing that can be used arrives shortly before the time asked for"
            return f"{told}: the last trip found arrives at {format_instant(last, zone)}."
        return None
    first = min((itinerary.departure for itinerary in usable), default=instant)
    if first - instant > LONG_WAIT_S:
        return f"Nothing that can be used leaves soon: the first trip found leaves at {format_instant(first, zone)}."
    return None


def find_long_change(shown: Iterable[Itinerary]) -> str | None:
    usable = (itinerary for itinerary in shown if not itinerary.is_unusable)
    wait_s, name = max(map(find_longest_wait, usable), default=(0, ""))
    if wait_s <= LONG_WAIT_S:
        return None
    hours, minutes = divmod(wait_s // 60, 60)
    waiting = f"{hours} h {minutes} min" if hours > 1 else f"{wait_s // 60} min"
    return f"Up to {waiting} of waiting on the way, at {name}."


def find_longest_wait(itinerary: Itinerary) -> tuple[int, str]:
    waits = (
        (after.departure - before.arrival, after.start.name)
        for before, after in pairwise(itinerary.legs)
        if not after.stays_seated
    )
    return max(waits, default=(0, ""))


_MOST_NAMED = 6


def find_out_of_service_message(out_of_service: Sequence[OutOfService]) -> str | None:
    if not out_of_service:
        return None
    named = _name(out_of_service)
    return f"No service on {out_of_service[0].day}, so what these run is missing here: {named}."


def find_out_of_service_hint(out_of_service: Sequence[OutOfService]) -> str | None:
    if not out_of_service:
        return None
    hint = f"No service on {out_of_service[0].day}: {_name(out_of_service)}"
    later = [next_day for out in out_of_service if (next_day := out.feed.service.find_next_day(out.day))]
    if later:
        return f"{hint}. Try {min(later)}"
    last = [day for out in out_of_service if (day := out.feed.service.last_day) is not None]
    return f"{hint}. Ask the operator for a newer timetable" + (f", or try a day up to {max(last)}" if last else "")


def _name(out_of_service: Sequence[OutOfService]) -> str:
    named = [
        f"{out.feed.title} ({out.feed.service.format_service_change(out.day)})" for out in out_of_service[:_MOST_NAMED]
    ]
    more = len(out_of_service) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


RELAXED_BY = 1.25
LONGEST_WALK_M = 3000.0


def relax(question: JourneyQuery) -> JourneyQuery:
    max_walk_m = min(question.max_walk_m * RELAXED_BY, LONGEST_WALK_M)
    return replace(question, optimize=Optimize.BALANCED, max_walk_m=max_walk_m)


def find_walk_unmet(itineraries: Iterable[Itinerary], most_m: float, *, is_default: bool = False) -> str | None:
    longest_m = max((itinerary.walk_m for itinerary in itineraries), default=0.0)
    if longest_m <= most_m:
        return None
    limit = f"the default of {most_m:g} m" if is_default else f"the {most_m:g} m asked for"
    return f"Up to {math.ceil(longest_m)} m of walking, more than {limit}."
