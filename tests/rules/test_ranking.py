"""The order of itineraries (rule B8)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.rules.ranking import fingerprint, sort_key
from tests.rules.drawing import itineraries, ride, trip, walk


def key(itinerary, optimize, *, arrive_by):
    return sort_key(itinerary, fingerprint(itinerary), optimize, arrive_by=arrive_by)


def rank(found, optimize, *, arrive_by):
    return sorted(found, key=lambda each: key(each, optimize, arrive_by=arrive_by))


def names(ranked) -> str:
    return " ".join(each.rides[0].line for each in ranked)


def order(optimize: str, *trips, arrive_by: bool = False) -> str:
    return names(rank(trips, Optimize(optimize), arrive_by=arrive_by))


# A: one ride. B: one change. DETOUR: two changes, arriving with B.
A = trip(ride("A", "A", "C", 0, 30))
B = trip(ride("B", "A", "B", 0, 10), ride("9", "B", "C", 12, 24))
DETOUR = trip(ride("D", "A", "B", 0, 10), ride("9", "B", "C", 12, 17), ride("8", "C", "D", 18, 24))


def test_shortest_time():
    """B8, P7: earlier arrival first, then fewer changes."""
    assert order("shortest_time", A, DETOUR, B) == "B D A"


def test_few_transfers():
    """B8, P7: fewer changes first, then earlier arrival."""
    assert order("few_transfers", DETOUR, B, A) == "A B D"


@pytest.mark.parametrize(("arrives", "expected"), [(25.1, "E B"), (24.9, "B E"), (25, "B E")])
def test_balanced_changes(arrives, expected):
    """B8, P7: a change must save more than five minutes; at equal cost the earlier arrival wins."""
    direct = trip(ride("E", "A", "C", 0, 30))
    changing = trip(ride("B", "A", "B", 0, 10), ride("9", "B", "C", 12, arrives))

    assert order("balanced", changing, direct) == expected


@pytest.mark.parametrize(("arrives", "expected"), [(29, "R W"), (31, "W R")])
def test_balanced_walking(arrives, expected):
    """B8, P7: ten minutes on foot must save more than ten minutes."""
    walking = trip(ride("W", "A", "B", 0, 10), walk("B", "home", 10, 20, metres=700))
    riding = trip(ride("R", "A", "C", 0, arrives))

    assert order("balanced", walking, riding) == expected


@pytest.mark.parametrize("optimize", list(Optimize))
def test_leaving_later_is_better(optimize):
    """B8: of itineraries that arrive together with as many changes, the one that leaves later is first."""
    early, late = trip(ride("E", "A", "B", 0, 20)), trip(ride("L", "A", "B", 8, 20))

    assert order(optimize, early, late) == "L E"


@pytest.mark.parametrize(
    ("optimize", "expected"),
    [("shortest_time", "L E"), ("few_transfers", "E L"), ("balanced", "L E")],
)
def test_arrive_by(optimize, expected):
    """B8, P6: towards a wanted arrival the latest departure takes the place of the arrival."""
    early = trip(ride("E", "A", "C", 0, 50))
    late = trip(ride("L", "A", "B", 20, 30), ride("9", "B", "C", 35, 58))

    assert order(optimize, early, late, arrive_by=True) == expected


def test_delays_count():
    """B8: the expected arrival is ranked, not the promised one."""
    late, punctual = trip(ride("L", "A", "B", 0, 20, 900)), trip(ride("P", "A", "B", 0, 25, 0))

    assert order("shortest_time", late, punctual) == "P L"


@settings(deadline=None)
@given(st.lists(itineraries(), max_size=8), st.sampled_from(Optimize), st.booleans())
def test_the_order_is_total(found, optimize, arrive_by):
    """B8: only itineraries of one fingerprint have equal keys, so the order of finding decides nothing."""
    keys = {key(each, optimize, arrive_by=arrive_by) for each in found}

    assert len(keys) >= len(set(map(fingerprint, found)))
