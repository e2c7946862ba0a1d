"""Fingerprints of itineraries, for deduplication (rule B7)."""

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote

from fingerpost.transit.model.itinerary import Itinerary, Leg, StopPoint
from fingerpost.transit.rules.instants import print_utc
from fingerpost.transit.rules.modes import trip_word

# Scheduled starts within one such slot are one way of travelling.
SLOT_S = 120


def fingerprint(itinerary: Itinerary) -> str:
    """Return ``sha1:`` and the hexadecimal SHA-1 of ``mode|line|from|to~...|start``.

    The mode is the word of the plan_trip contract, a missing line is empty, an end is its stop id, else its name.
    Each part is percent-encoded, unreserved characters but ``~`` excepted.
    The start is the scheduled one, rounded down to the slot, as ``YYYY-MM-DDTHH:MM:SSZ``.
    """
    start = itinerary.departure_scheduled
    text = "~".join(map(_describe, itinerary.legs)) + "|" + print_utc(start - start % SLOT_S)
    return "sha1:" + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def deduplicate_named(
    named: Iterable[tuple[str, Itinerary]], order: Callable[[Itinerary], int] | None = None
) -> dict[str, Itinerary]:
    """Return itineraries by the fingerprint that stands beside each, of equals the one to keep.

    It is the one with fewer changes, then the shorter, then the one for which ``order`` is smaller. Of the same rides
    twice, equal in both, the first is kept: what runs stands before what the timetable promised.
    """
    kept: dict[str, Itinerary] = {}
    for name, itinerary in named:
        rival = kept.get(name)
        if rival is None or _is_preferred(itinerary, rival, order):
            kept[name] = itinerary
    return kept


def _is_preferred(itinerary: Itinerary, rival: Itinerary, order: Callable[[Itinerary], int] | None) -> bool:
    mine, its = _preference(itinerary), _preference(rival)
    if mine != its or order is None:
        return mine < its
    return _rides_of(itinerary) != _rides_of(rival) and order(itinerary) < order(rival)


def _preference(itinerary: Itinerary) -> tuple[int, int]:
    return itinerary.transfers, itinerary.duration_s


def _rides_of(itinerary: Itinerary) -> list[tuple[str | None, int]]:
    return [(leg.trip_id, leg.departure_scheduled) for leg in itinerary.rides]


def _describe(leg: Leg) -> str:
    return _join(trip_word(leg.mode), leg.line or "", _end(leg.start), _end(leg.end))


@lru_cache(maxsize=16_384)
def _join(*parts: str) -> str:
    return "|".join(map(_encode, parts))


def _end(point: StopPoint) -> str:
    return point.id or point.name


def _encode(part: str) -> str:
    return quote(part, safe="").replace("~", "%7E")
