"""Accessibility of itineraries: the weakest link, obstacles and walking distance, as notes and warnings (rule B9)."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from fingerpost.transit.model.itinerary import Access, Itinerary, Leg, WalkObstacles
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  # the contract's own name

LOW_WALK_M = 500.0

_WEAKEST_FIRST = (Access.NO, Access.UNKNOWN, Access.YES)


class WeakestLink(NamedTuple):
    access: Access
    name: str


def weakest_link(itinerary: Itinerary) -> WeakestLink:
    links = [link for leg in itinerary.legs for link in _list_links(leg)]
    return min(
        links, key=lambda link: _WEAKEST_FIRST.index(link.access), default=WeakestLink(Access.UNKNOWN, "the walk")
    )


def _list_links(leg: Leg) -> list[WeakestLink]:
    if leg.is_transit:
        return [
            WeakestLink(leg.start.wheelchair, leg.start.name),
            WeakestLink(leg.wheelchair, f"line {leg.line}" if leg.line else leg.mode.value.lower()),
            WeakestLink(leg.end.wheelchair, leg.end.name),
        ]
    if leg.wheelchair is Access.NO:
        return [WeakestLink(Access.NO, _name_walk(leg))]
    has_unknown_kerbs = leg.obstacles is not None and leg.obstacles.unknown_kerbs
    return [WeakestLink(Access.UNKNOWN, f"a kerb on {_name_walk(leg)}")] if has_unknown_kerbs else []


def _name_walk(leg: Leg) -> str:
    return f"the walk from {leg.start.name} to {leg.end.name}"


def list_walk_notes(itinerary: Itinerary) -> list[str]:
    return [
        f"{_capitalize(_name_walk(leg))} {_join(obstacles)}."
        for leg in itinerary.legs
        if leg.obstacles is not None and (obstacles := _list_obstacles(leg.obstacles))
    ]


def _list_obstacles(obstacles: WalkObstacles) -> list[str]:
    counted = (
        ("crosses", obstacles.crossings, "a road", "roads"),
        ("takes", obstacles.lifts, "a lift", "lifts"),
        ("goes up or down", obstacles.slopes, "a slope", "slopes"),
        ("meets", obstacles.unknown_kerbs, "a kerb of unknown height", "kerbs of unknown height"),
    )
    return [f"{verb} {one if count == 1 else f'{count} {many}'}" for verb, count, one, many in counted if count]


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def find_step_free_warning(itineraries: Iterable[Itinerary], *, supported: bool) -> Warning | None:
    if not supported:
        text = "Step-free travel could not be considered: this source has no wheelchair data."
        return Warning(WarningCode.UNSUPPORTED_ACCESSIBILITY_FLAG, text)
    weak = list_weak_links(itineraries)
    return Warning(WarningCode.PREFERENCE_UNMET, " ".join(f"{link}." for link in weak)) if weak else None


def list_weak_links(itineraries: Iterable[Itinerary]) -> list[str]:
    """Return a clause for each link that is not step-free, or not known to be."""
    weak = dict.fromkeys(link for link in map(weakest_link, itineraries) if link.access is not Access.YES)
    words = {Access.NO: "is not step-free", Access.UNKNOWN: "is not known to be step-free"}
    return [f"{_capitalize(name)} {words[access]}" for access, name in weak]


def low_walking_notes(shown: Iterable[Itinerary], found: Iterable[Itinerary]) -> list[str]:
    least = f"the least found is {math.ceil(_least_walk_m(found))} m."
    return [f"Walking {math.ceil(itinerary.walk_m)} m; {least}" for itinerary in shown]


def find_low_walking_warning(found: Iterable[Itinerary]) -> Warning | None:
    least_m = _least_walk_m(found)
    if least_m <= LOW_WALK_M:
        return None
    text = f"Even the least walking found is {math.ceil(least_m)} m, more than {LOW_WALK_M:g} m."
    return Warning(WarningCode.PREFERENCE_UNMET, text)


def _least_walk_m(found: Iterable[Itinerary]) -> float:
    return min(((itinerary.is_unusable, itinerary.walk_m) for itinerary in found), default=(False, 0.0))[1]


def _capitalize(name: str) -> str:
    return name[:1].upper() + name[1:]
