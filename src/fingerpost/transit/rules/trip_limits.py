"""Explain long walks, long waits and feeds out of service, and relax the limits of the second query (rules B5, B6)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.provenance import OutOfService
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.times import format_instant

UNMEASURED = "The server reports no length for some walks; straight-line distances are used instead."


def is_possible(itinerary: Itinerary) -> bool:
    return itinerary.duration_s >= 0 and all(
        leg.departure_scheduled <= leg.arrival_scheduled and leg.departure_expected <= leg.arrival_expected
        for leg in itinerary.legs
    )


def list_within_limits(itineraries: Iterable[Itinerary], query: JourneyQuery) -> list[Itinerary]:
    return [
        itinerary
        for itinerary in itineraries
        if itinerary.walk_m <= query.max_walk_m and itinerary.transfers <= query.max_transfers
    ]


LONG_WAIT_S = 3600


def find_long_offset(usable: Iterable[Itinerary], instant: int, zone: str, *, arrive_by: bool = False) -> str | None:
    """Return a message if the first departure, or last arrival, is over an hour from the requested time (rule B6)."""
    if arrive_by:
        last = max((itinerary.arrival for itinerary in usable), default=instant)
        message = "No usable trip arrives shortly before the requested time"
        message += f"; the last one arrives at {format_instant(last, zone)}."
        return message if instant - last > LONG_WAIT_S else None
    first = min((itinerary.departure for itinerary in usable), default=instant)
    message = f"No usable trip departs soon; the first one departs at {format_instant(first, zone)}."
    return message if first - instant > LONG_WAIT_S else None


def find_long_wait_message(shown: Iterable[Itinerary]) -> str | None:
    usable = (itinerary for itinerary in shown if not itinerary.is_unusable)
    wait_s, name = max(map(find_longest_wait, usable), default=(0, ""))
    if wait_s <= LONG_WAIT_S:
        return None
    hours, minutes = divmod(wait_s // 60, 60)
    longest = f"{hours} h {minutes} min" if hours > 1 else f"{wait_s // 60} min"
    return f"The longest wait between rides is {longest}, at {name}."


def find_longest_wait(itinerary: Itinerary) -> tuple[int, str]:
    waits = (
        (after.departure - before.arrival, after.start.name)
        for before, after in pairwise(itinerary.legs)
        if not after.stays_seated
    )
    return max(waits, default=(0, ""))


_MAX_FEEDS = 6


def find_out_of_service_message(out_of_service: Sequence[OutOfService]) -> str | None:
    if not out_of_service:
        return None
    named = _format_feeds(out_of_service)
    return f"No service on {out_of_service[0].day}, so trips of these feeds are missing: {named}."


def find_next_service_day(out_of_service: Sequence[OutOfService]) -> date | None:
    return min(filter(None, (out.feed.service.find_next_day(out.day) for out in out_of_service)), default=None)


def find_out_of_service_hint(out_of_service: Sequence[OutOfService], *, advice: str | None = None) -> str | None:
    """Return a hint about the feeds out of service, with ``advice`` or else the next day to try; None without feeds."""
    if not out_of_service:
        return None
    hint = f"No service on {out_of_service[0].day}: {_format_feeds(out_of_service)}"
    next_day = find_next_service_day(out_of_service)
    if next_day is not None:
        return f"{hint}. {advice or f'Try {next_day}'}"
    last = [day for out in out_of_service if (day := out.feed.service.last_day) is not None]
    return f"{hint}. Ask the operator for a newer timetable" + (f", or try a day up to {max(last)}" if last else "")


def _format_feeds(out_of_service: Sequence[OutOfService]) -> str:
    named = [
        f"{out.feed.title} ({out.feed.service.format_service_change(out.day)})" for out in out_of_service[:_MAX_FEEDS]
    ]
    more = len(out_of_service) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


RELAXED_BY = 1.25
MAX_WALK_M, MAX_TRANSFERS = 3000.0, 8


def relax_limits(query: JourneyQuery) -> JourneyQuery:
    max_walk_m = min(query.max_walk_m * RELAXED_BY, MAX_WALK_M)
    return replace(query, optimize=Optimize.BALANCED, max_walk_m=max_walk_m)


def find_long_walk_message(itineraries: Iterable[Itinerary], limit_m: float, *, is_default: bool = False) -> str | None:
    longest_m = max((itinerary.walk_m for itinerary in itineraries), default=0.0)
    if longest_m <= limit_m:
        return None
    limit = f"the default of {limit_m:g} m" if is_default else f"the requested {limit_m:g} m"
    return f"Up to {math.ceil(longest_m)} m of walking, more than {limit}."
