"""Report inaccessible parts and walking distances of itineraries as notes and warnings (rule B9)."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from fingerpost.transit.model.itinerary import Access, Itinerary, Leg
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  # the contract's own name

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
