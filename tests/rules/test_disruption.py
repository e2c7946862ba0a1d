"""Disruptions, alternatives and the limit (rulings B5 and B11)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model import Mode, Optimize
from fingerpost.transit.rules.disruption import find_leg_note, find_note, is_disrupted, merge_alternatives, name_dropped
from fingerpost.transit.rules.fingerprint import fingerprint
from tests.rules.drawing import itineraries, ride, trip, walk


@pytest.mark.parametrize(
    ("leg", "disrupted"),
    [
        (ride("7", "A", "B", 0, 9, 300), False),
        (ride("7", "A", "B", 0, 9, 301), True),
        (ride("7", "A", "B", 0, 9, 0, arrival_delay_s=300), False),
        (ride("7", "A", "B", 0, 9, 0, arrival_delay_s=301), True),
        (ride("7", "A", "B", 0, 9, -900), False),
        (ride("7", "A", "B", 0, 9), False),
        (ride("7", "A", "B", 0, 9, cancelled=True), True),
    ],
)
def test_what_disrupts(leg, disrupted):
    """B5, P44, P70: a cancellation, or leaving or arriving more than 300 s late; being early does not."""
    assert is_disrupted(trip(walk("home", "A", -5, 0), leg)) is disrupted


@pytest.mark.parametrize(
    ("leg", "note"),
    [
        (ride("7", "A", "B", 0, 9, cancelled=True), "Line 7 from A is cancelled."),
        (ride("7", "A", "B", 0, 9, 420), "Line 7 from A leaves 7 min late."),
        (ride("7", "A", "B", 0, 9, 0, arrival_delay_s=600), "Line 7 from A arrives at B 10 min late."),
        (ride(None, "A", "B", 0, 9, cancelled=True, mode=Mode.FERRY), "The ferry from A is cancelled."),
        (ride("7", "A", "B", 0, 9, 300), None),
        (walk("A", "B", 0, 9), None),
    ],
)
def test_note_of_a_leg(leg, note):
    """B5: the note names the line and the cause."""
    assert find_leg_note(leg) == note


def test_note_of_an_itinerary():
    """B5: every disrupted ride is named, the others are not."""
    itinerary = trip(
        ride("1", "A", "B", 0, 9, cancelled=True), ride("2", "B", "C", 10, 19, 0), ride("3", "C", "D", 20, 29, 360)
    )

    assert find_note(itinerary) == "Line 1 from A is cancelled. Line 3 from C leaves 6 min late."


def line(name: str, arrives: float, **more):
    return trip(ride(name, "A", "B", 0, arrives, **more))


SOON, LATER, LAST = line("1", 10, delay_s=0), line("2", 20), line("3", 30)
GONE = line("X", 8, cancelled=True)
NEW, NEWER = line("N", 15), line("M", 12)
NEW_BUT_GONE = line("Y", 5, cancelled=True)


def merge(first, second=(), limit=3, **more):
    return merge_alternatives(first, second, limit=limit, optimize=Optimize.SHORTEST_TIME, arrive_by=False, **more)


def shown(merged) -> str:
    """``!`` marks a flag, ``*`` a note."""
    marks = {(False, False): "", (True, False): "!", (False, True): "*", (True, True): "!*"}
    return " ".join(
        each.itinerary.rides[0].line + marks[each.flagged, each.note is not None] for each in merged.choices
    )


@pytest.mark.parametrize(
    ("first", "second", "limit", "expected"),
    [
        # Nothing is wrong: rank and cut.
        ([LATER, SOON], [], 3, "1 2"),
        ([LAST, LATER, SOON], [], 2, "1 2"),
        # The alternative stands in, the disrupted one goes last.
        ([GONE, LATER], [NEW], 3, "N! 2 X*"),
        # What the first search had found is no alternative, even if it is found again.
        ([GONE, SOON], [SOON, NEW], 3, "1 N! X*"),
        # The limit holds after insertion, and the disrupted one falls off.
        ([GONE, LATER], [NEW], 2, "N! 2"),
        ([GONE], [NEW, NEWER, LAST], 2, "M! N!"),
        # A new one that is disrupted itself stands in for nothing.
        ([GONE], [NEW_BUT_GONE], 3, "Y* X*"),
        # Nothing usable at all: the disrupted ones, marked.
        ([GONE], [], 2, "X*"),
        ([], [], 2, ""),
    ],
)
def test_alternatives(first, second, limit, expected):
    """B5, P14, P44, P47, P48, P70: usable before disrupted, then the limit; flags on new stand-ins only."""
    assert shown(merge(first, second, limit)) == expected


def test_without_alternatives_nothing_is_reordered():
    """B5, P14: the cancelled itinerary keeps the place that its arrival gives it, and nothing is flagged or dropped."""
    merged = merge([SOON, GONE, LATER], limit=2, with_alternatives=False)

    assert (shown(merged), merged.dropped) == ("X* 1", ())


def test_new_itineraries_without_any_disruption_carry_no_flag():
    """B5, P47: a flag means that something disrupted is replaced."""
    assert shown(merge([SOON], [NEW])) == "1 N"


def test_what_falls_off_is_named():
    """B5, P48: a disrupted itinerary of the first result that the limit cuts is named with its cause."""
    merged = merge([GONE, SOON], [NEW, NEW_BUT_GONE], limit=2)

    assert name_dropped(merged.dropped) == "Left out because it is disrupted: Line X from A is cancelled."


def test_what_is_shown_is_not_named_as_dropped():
    """B5: the warning is for what fell off only."""
    assert merge([GONE, SOON], [NEW]).dropped == ()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([SOON, LATER], [NEW], (3, None)),
        ([SOON, LATER], [SOON, NEW], (3, 4)),
        ([SOON, SOON], [], (1, 2)),
    ],
)
def test_counts(first, second, expected):
    """B7, B11, P32, P43, P50: unique itineraries of all searches, and the number before only if some were removed."""
    merged = merge(first, second)

    assert (merged.unique_found, merged.deduplicated_from) == expected


@pytest.mark.parametrize(("minutes", "expected"), [(1, "X"), (2, "X X*")])
def test_a_usable_trip_stands_before_its_disrupted_equal(minutes, expected):
    """Decision 0312: a cancelled trip hides none that runs a minute later; two minutes later it is another."""
    runs = trip(ride("X", "A", "B", minutes, 15))

    assert shown(merge([GONE, runs])) == shown(merge([runs, GONE])) == expected


FOUND = st.lists(itineraries(), max_size=6)


@settings(deadline=None)
@given(FOUND, FOUND, st.integers(1, 3), st.sampled_from(Optimize), st.booleans(), st.booleans())
def test_laws_of_merging(first, second, limit, optimize, arrive_by, with_alternatives):
    """B5, P13, P47, P48: whatever is found, the limit holds and is used, and flags and notes exclude each other."""
    merged = merge_alternatives(
        first, second, limit=limit, optimize=optimize, arrive_by=arrive_by, with_alternatives=with_alternatives
    )
    promised = {fingerprint(each) for each in first}
    flagged = [fingerprint(each.itinerary) for each in merged.choices if each.flagged]
    disrupted = [is_disrupted(each.itinerary) for each in merged.choices]

    assert len(merged.choices) == min(limit, merged.unique_found)
    assert [each.note is not None for each in merged.choices] == disrupted
    assert not any(each.flagged and each.note for each in merged.choices)
    assert not promised.intersection(flagged)
    assert not flagged or (with_alternatives and any(map(is_disrupted, first)))
    assert not with_alternatives or disrupted == sorted(disrupted)
    assert all(is_disrupted(each) for each in merged.dropped)
    assert not set(merged.dropped).intersection(each.itinerary for each in merged.choices)
