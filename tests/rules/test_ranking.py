"""Itinerary fingerprints, and the order of itineraries (rules B7, B8)."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model.itinerary import Mode, Optimize
from fingerpost.transit.rules.ranking import build_sort_key, compute_fingerprint, compute_route_id
from tests.rules.drawing import itineraries, ride, trip, walk


def sha1(text: str) -> str:
    return "sha1:" + hashlib.sha1(text.encode()).hexdigest()


def test_the_text_of_a_fingerprint():
    """B7, P43, P64: mode, line and ends of each leg, ids before names, parts encoded, then the slot of the start."""
    itinerary = trip(walk("home ~ 1|2", "A", 1, 3), ride("7 Ä", "A", "B", 3, 9, mode=Mode.COACH))

    actual = compute_fingerprint(itinerary)

    assert actual == sha1("WALK||home%20%7E%201%7C2|T%3AA~BUS|7%20%C3%84|T%3AA|T%3AB|2022-02-22T06:00:00Z")


@pytest.mark.parametrize(("minute", "same"), [(119 / 60, True), (2, False)])
def test_starts_within_two_minutes_are_one(minute, same):
    """B7: 119 s after the slot begins is the same slot, 120 s is the next."""
    first, later = (trip(ride("7", "A", "B", departs, 9)) for departs in (0, minute))

    assert (compute_fingerprint(first) == compute_fingerprint(later)) is same


def test_the_text_of_a_routes_id():
    """D3: the same legs and times have the same id in every version."""
    itinerary = trip(walk("home", "A", 1, 3), ride("7 Ä", "A", "B", 3, 9, mode=Mode.COACH))

    assert compute_route_id(itinerary) == "f1a3ec97255f8c5bbaea1882a014662c452f6cdea4aabac0c605ac51e95c95fe"


def test_delays_do_not_change_a_fingerprint():
    """B7: the scheduled start counts, so that a trip keeps its name while it gets later."""
    planned, late = (trip(ride("7", "A", "B", 0, 9, delay_s)) for delay_s in (None, 600))

    assert compute_fingerprint(planned) == compute_fingerprint(late)


def key(itinerary, optimize, *, arrive_by):
    return build_sort_key(itinerary, compute_fingerprint(itinerary), optimize, arrive_by=arrive_by)


def order(optimize: str, *trips, arrive_by: bool = False) -> str:
    ranked = sorted(trips, key=lambda each: key(each, Optimize(optimize), arrive_by=arrive_by))
    return " ".join(each.rides[0].line for each in ranked)


# A: one ride. B: one change. DETOUR: two changes, arriving with B.
A = trip(ride("A", "A", "C", 0, 30))
B = trip(ride("B", "A", "B", 0, 10), ride("9", "B", "C", 12, 24))
DETOUR = trip(ride("D", "A", "B", 0, 10), ride("9", "B", "C", 12, 17), ride("8", "C", "D", 18, 24))


@pytest.mark.parametrize(("optimize", "expected"), [("shortest_time", "B D A"), ("few_transfers", "A B D")])
def test_earlier_arrivals_or_fewer_changes_come_first(optimize, expected):
    assert order(optimize, DETOUR, A, B) == order(optimize, B, A, DETOUR) == expected


@pytest.mark.parametrize(("arrives", "expected"), [(25.1, "E B"), (24.9, "B E"), (25, "B E")])
def test_a_change_must_save_more_than_five_minutes(arrives, expected):
    direct = trip(ride("E", "A", "C", 0, 30))
    changing = trip(ride("B", "A", "B", 0, 10), ride("9", "B", "C", 12, arrives))

    assert order("balanced", changing, direct) == expected


@pytest.mark.parametrize(("arrives", "expected"), [(29, "R W"), (31, "W R")])
def test_walking_must_save_more_than_its_own_time(arrives, expected):
    walking = trip(ride("W", "A", "B", 0, 10), walk("B", "home", 10, 20, metres=700))
    riding = trip(ride("R", "A", "C", 0, arrives))

    assert order("balanced", walking, riding) == expected


@pytest.mark.parametrize("optimize", list(Optimize))
def test_leaving_later_is_better(optimize):
    early, late = trip(ride("E", "A", "B", 0, 20)), trip(ride("L", "A", "B", 8, 20))

    assert order(optimize, early, late) == "L E"


@pytest.mark.parametrize(
    ("optimize", "expected"), [("shortest_time", "L E"), ("few_transfers", "E L"), ("balanced", "L E")]
)
def test_for_a_wanted_arrival_the_latest_departure_comes_first(optimize, expected):
    early = trip(ride("E", "A", "C", 0, 50))
    late = trip(ride("L", "A", "B", 20, 30), ride("9", "B", "C", 35, 58))

    assert order(optimize, early, late, arrive_by=True) == expected


def test_the_expected_arrival_is_ranked_not_the_scheduled_one():
    late, punctual = trip(ride("L", "A", "B", 0, 20, 900)), trip(ride("P", "A", "B", 0, 25, 0))

    assert order("shortest_time", late, punctual) == "P L"


@settings(deadline=None)
@given(st.lists(itineraries(), max_size=8), st.sampled_from(Optimize), st.booleans())
def test_the_order_is_total(found, optimize, arrive_by):
    """B8: only itineraries of one fingerprint have equal keys, so the order of finding decides nothing."""
    keys = {key(each, optimize, arrive_by=arrive_by) for each in found}

    assert len(keys) >= len(set(map(compute_fingerprint, found)))
