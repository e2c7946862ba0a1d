"""Explain limits and preferences that trips do not meet: walking, waits, steps and feeds (rules B5, B6, B9)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from fingerpost.errors import list_first
from fingerpost.transit.model.itinerary import Access, Itinerary, Leg, Optimize
from fingerpost.transit.model.provenance import OutOfService
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.times import format_instant
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  # the contract's own name

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


def find_out_of_service_hint(out_of_service: Sequence[OutOfService], *, advice: str | None) -> str | None:
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
    return list_first(
        [f"{out.feed.title} ({out.feed.service.format_service_change(out.day)})" for out in out_of_service], _MAX_FEEDS
    )


RELAXED_BY = 1.25
MAX_WALK_M, MAX_TRANSFERS = 3000.0, 8


def relax_limits(query: JourneyQuery) -> JourneyQuery:
    max_walk_m = min(query.max_walk_m * RELAXED_BY, MAX_WALK_M)
    return replace(query, optimize=Optimize.BALANCED, max_walk_m=max_walk_m)


def find_long_walk_message(itineraries: Iterable[Itinerary], limit_m: float, *, is_default: bool) -> str | None:
    longest_m = max((itinerary.walk_m for itinerary in itineraries), default=0.0)
    if longest_m <= limit_m:
        return None
    limit = f"the default of {limit_m:g} m" if is_default else f"the requested {limit_m:g} m"
    return f"Up to {math.ceil(longest_m)} m of walking, more than {limit}."


LOW_WALK_M = 500.0

_ACCESS_WEAKEST_FIRST = (Access.NO, Access.UNKNOWN, Access.YES)


class AccessLink(NamedTuple):
    access: Access
    name: str


def find_weakest_link(itinerary: Itinerary) -> AccessLink:
    links = [link for leg in itinerary.legs for link in _list_links(leg)]
    return min(
        links, key=lambda link: _ACCESS_WEAKEST_FIRST.index(link.access), default=AccessLink(Access.UNKNOWN, "the walk")
    )


def _list_links(leg: Leg) -> list[AccessLink]:
    if leg.is_transit:
        return [
            AccessLink(leg.start.wheelchair, leg.start.name),
            AccessLink(leg.wheelchair, f"line {leg.line}" if leg.line else leg.mode.value.lower()),
            AccessLink(leg.end.wheelchair, leg.end.name),
        ]
    walk = f"the walk from {leg.start.name} to {leg.end.name}"
    if leg.wheelchair is Access.NO:
        return [AccessLink(Access.NO, walk)]
    return [AccessLink(Access.UNKNOWN, f"a kerb on {walk}")] if leg.has_unknown_kerbs else []


def find_step_free_warning(itineraries: Iterable[Itinerary], *, supported: bool) -> Warning | None:
    if not supported:
        text = "Step-free travel could not be considered: this source has no wheelchair data."
        return Warning(WarningCode.UNSUPPORTED_ACCESSIBILITY_FLAG, text)
    itineraries = list(itineraries)
    weak = list_weak_links(itineraries)
    if itineraries and all(find_weakest_link(each).access is Access.NO for each in itineraries):
        weak.insert(0, "No step-free trip was found")
    return Warning(WarningCode.PREFERENCE_UNMET, " ".join(f"{link}." for link in weak)) if weak else None


def list_weak_links(itineraries: Iterable[Itinerary]) -> list[str]:
    """Return a clause for the least accessible part of each itinerary that is not known to be step-free."""
    weak = dict.fromkeys(link for link in map(find_weakest_link, itineraries) if link.access is not Access.YES)
    verdicts = {Access.NO: "is not step-free", Access.UNKNOWN: "is not known to be step-free"}
    return [f"{name[:1].upper()}{name[1:]} {verdicts[access]}" for access, name in weak]


def list_walking_notes(shown: Iterable[Itinerary], found: Iterable[Itinerary]) -> list[str]:
    least = f"the itinerary with the least walking requires {math.ceil(_find_least_walk_m(found))} m."
    return [f"Walking {math.ceil(itinerary.walk_m)} m; {least}" for itinerary in shown]


def find_low_walking_warning(found: Iterable[Itinerary]) -> Warning | None:
    least_m = _find_least_walk_m(found)
    if least_m <= LOW_WALK_M:
        return None
    text = f"Even the itinerary with the least walking requires {math.ceil(least_m)} m, more than {LOW_WALK_M:g} m."
    return Warning(WarningCode.PREFERENCE_UNMET, text)


def _find_least_walk_m(found: Iterable[Itinerary]) -> float:
    return min(((itinerary.is_unusable, itinerary.walk_m) for itinerary in found), default=(False, 0.0))[1]
