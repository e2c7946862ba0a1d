"""Relaxed constraints for a second query, after one that found nothing or only disruptions (rules B5 and B6)."""

import math
from collections.abc import Iterable
from dataclasses import replace

from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.port import JourneyQuery

RELAXED_BY = 1.25
LONGEST_WALK_M = 3000.0


def relaxed_walk_m(asked_m: float) -> float:
    """Return the walking limit of the relaxed query in metres, at most the contract's maximum."""
    return min(asked_m * RELAXED_BY, LONGEST_WALK_M)


def relax(question: JourneyQuery) -> JourneyQuery:
    """Return the relaxed question: balanced, with the relaxed walking limit."""
    return replace(question, optimize=Optimize.BALANCED, max_walk_m=relaxed_walk_m(question.max_walk_m))


def find_walk_unmet(itineraries: Iterable[Itinerary], asked_m: float) -> str | None:
    """Return the sentence for ``preference-unmet``, naming the asked and the longest walk, or None if all keep it."""
    longest_m = max((itinerary.walk_m for itinerary in itineraries), default=0.0)
    if longest_m <= asked_m:
        return None
    return f"Up to {math.ceil(longest_m)} m of walking, more than the {asked_m:g} m asked for."
