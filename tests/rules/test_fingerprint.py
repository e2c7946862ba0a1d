"""Fingerprints and deduplication (rule B7)."""

import hashlib
from dataclasses import replace

import pytest

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.rules.ranking import fingerprint
from tests.rules.drawing import point, ride, trip, walk


def sha1(text: str) -> str:
    return "sha1:" + hashlib.sha1(text.encode()).hexdigest()


def test_the_text_behind_a_fingerprint():
    """B7, P43, P64: mode, line and ends of each leg, ids before names, parts encoded, then the slot of the start."""
    itinerary = trip(
        walk("home ~ 1|2", "A", 1, 3),
        ride("7 Ä", "A", "B", 3, 9, mode=Mode.COACH),
    )

    actual = fingerprint(itinerary)

    assert actual == sha1("WALK||home%20%7E%201%7C2|T%3AA~BUS|7%20%C3%84|T%3AA|T%3AB|2022-02-22T06:00:00Z")


@pytest.mark.parametrize(("minute", "same"), [(119 / 60, True), (2, False)])
def test_starts_within_two_minutes_are_one(minute, same):
    """B7: 119 s after the slot begins is the same slot, 120 s is the next."""
    first, later = (trip(ride("7", "A", "B", departs, 9)) for departs in (0, minute))

    assert (fingerprint(first) == fingerprint(later)) is same


def test_delays_do_not_change_a_fingerprint():
    """B7: the scheduled start counts, so that a trip keeps its name while it gets later."""
    planned, late = (trip(ride("7", "A", "B", 0, 9, delay_s)) for delay_s in (None, 600))

    assert fingerprint(planned) == fingerprint(late)


def test_separators_in_names_do_not_confuse():
    """B7: a line called "7|T" from A is not a line 7 from T|A."""
    odd = trip(replace(ride("7|T", "A", "B", 0, 9), start=replace(point("A"), id="A")))
    even = trip(replace(ride("7", "A", "B", 0, 9), start=replace(point("A"), id="T|A")))

    assert fingerprint(odd) != fingerprint(even)
