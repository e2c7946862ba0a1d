"""Disruptions, alternatives and the limit (rules B5 and B11)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model.itinerary import Mode, Optimize
from fingerpost.transit.rules.disruption import (
    as_scheduled,
    find_leg_note,
    find_note,
    is_disrupted,
    merge_alternatives,
    name_disrupted,
)
from fingerpost.transit.rules.ranking import compute_fingerprint
from tests.rules.drawing import at, itineraries, ride, trip, walk


@pytest.mark.parametrize(
    ("leg", "note"),
    [
        (ride("7", "A", "B", 0, 9, cancelled=True), "Line 7 from A is cancelled."),
        (ride("7", "A", "B", 0, 9, 301, arrival_delay_s=720), "Line 7 from A leaves 5 min late."),
        (ride("7", "A", "B", 0, 9, 300, arrival_delay_s=301), "Line 7 from A arrives at B 5 min late."),
        (ride(None, "A", "B", 0, 9, cancelled=True, mode=Mode.FERRY), "The ferry from A is cancelled."),
        (ride("7", "A", "B", 0, 9, 300), None),
        (ride("7", "A", "B", 0, 9, -900), None),
        (walk("A", "B", 0, 9)._replace(departure_delay_s=900, arrival_delay_s=900), None),
    ],
)
def test_a_ride_is_disrupted_if_cancelled_or_over_300_s_late(leg, note):
    assert (find_leg_note(leg), is_disrupted(trip(leg))) == (note, note is not None)


def test_note_of_an_itinerary():
    itinerary = trip(
        ride("1", "A", "B", 0, 9, cancelled=True), ride("2", "B", "C", 10, 19, 0), ride("3", "C", "D", 20, 29, 360)
    )

    assert find_note(itinerary) == "Line 1 from A is cancelled. Line 3 from C leaves 6 min late."


def change(late_s, gap_s, change_s=None, line="9", walk_m=0):
    """Draw line 7, some seconds late, then another ride that leaves so many seconds after the promised arrival."""
    first = ride("7", "A", "B", 0, 10, 0, arrival_delay_s=late_s)
    between = [walk("B", "C", 10, 12, walk_m)] if walk_m else []
    return trip(first, *between, ride(line, "C" if walk_m else "B", "D", 10 + gap_s / 60, 30, 0, change_s=change_s))


TWO_MINUTES = {"change_s": 120}


@pytest.mark.parametrize(
    ("late_s", "gap_s", "more", "sentence"),
    [
        # A minute late is just in time; from three minutes on the next ride has left.
        (60, 180, TWO_MINUTES, None),
        (61, 180, TWO_MINUTES, "The change from line 7 to line 9 at B allows 119 s, but takes 120 s."),
        (179, 180, TWO_MINUTES, "The change from line 7 to line 9 at B allows 1 s, but takes 120 s."),
        (180, 180, TWO_MINUTES, "The change from line 7 to line 9 at B is missed by 2 min."),
        (240, 180, TWO_MINUTES, "The change from line 7 to line 9 at B is missed by 3 min."),
        (0, 120, {"walk_m": 100}, None),
        (1, 120, {"walk_m": 100}, "The change from line 7 to line 9 at C allows 119 s, but takes 120 s."),
        (0, 0, {}, None),
        (1, 0, {}, "The change from line 7 to line 9 at B is missed by 1 s."),
        (180, 180, {"change_s": 120, "line": None}, "The change from line 7 to the bus at B is missed by 2 min."),
        (149, 149, {"change_s": 59}, "The change from line 7 to line 9 at B is missed by 59 s."),
    ],
)
def test_a_missed_change(late_s, gap_s, more, sentence):
    """Without the source's transfer time, a change takes the time of its walk; short times are in seconds."""
    assert find_note(change(late_s, gap_s, **more)) == sentence


def test_the_times_of_the_timetable_for_every_leg():
    late = as_scheduled(change(600, 180, change_s=120))

    assert [(leg.departure, leg.arrival) for leg in late.legs] == [(at(0), at(10)), (at(13), at(30))]
    assert (late.duration_s, late.legs[0].arrival_delay_s) == (1800, 600)


def print_minute(instant: int) -> str:
    return str((instant - at(0)) // 60)


def line(name: str, arrives: float, **more):
    return trip(ride(name, "A", "B", 0, arrives, **more))


SOON, LATER, LAST = line("1", 10, delay_s=0), line("2", 20), line("3", 30)
GONE = line("X", 8, cancelled=True)
NEW, NEWER = line("N", 15), line("M", 12)
NEW_BUT_GONE = line("Y", 5, cancelled=True)


def merge(first, second=(), limit=3, *, arrive_by=False, wanted_arrival=None, optimize=Optimize.SHORTEST_TIME):
    if arrive_by and wanted_arrival is None:
        wanted_arrival = at(10_000)
    return merge_alternatives(first, second, limit=limit, optimize=optimize, wanted_arrival=wanted_arrival)


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
        # A flag means that something disrupted is replaced.
        ([SOON], [NEW], 3, "1 N"),
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
def test_usable_itineraries_come_first_and_new_ones_are_flagged(first, second, limit, expected):
    assert shown(merge(first, second, limit)) == expected


LATE_BUT_FIRST, LATE_AND_LAST = line("4", 2, delay_s=360), line("5", 30, delay_s=360)


@pytest.mark.parametrize(
    ("first", "second", "limit", "expected"),
    [
        # 08:08 for being late, and still the first to be there.
        ([SOON, LATE_BUT_FIRST], [], 3, "4* 1"),
        # What stands behind it stands in for nothing; what stands ahead of it does.
        ([LATE_BUT_FIRST], [NEWER], 3, "4* M"),
        ([LATE_AND_LAST], [NEWER], 3, "M! 5*"),
        ([GONE, LATE_BUT_FIRST], [NEWER], 3, "4* M! X*"),
        # A new one that is late is noted, not flagged.
        ([GONE], [LATE_BUT_FIRST], 3, "4* X*"),
        # The limit takes the late trip that is later than others, not the one that is earlier.
        ([SOON, LATER, LATE_BUT_FIRST, LATE_AND_LAST], [], 2, "4* 1"),
    ],
)
def test_a_late_trip_is_sorted_by_its_expected_times(first, second, limit, expected):
    """B5, B8, P48: late is not unusable, so expected times alone decide."""
    assert shown(merge(first, second, limit)) == expected


@pytest.mark.parametrize(("wanted_minute", "expected"), [(36, "5* 1"), (35, "1 5*")])
def test_a_trip_late_for_the_requested_arrival_comes_last(wanted_minute, expected):
    """B5, B8: a trip that arrives at 08:36 is first for 08:36, and last for 08:35."""
    merged = merge([SOON, LATE_AND_LAST], arrive_by=True, wanted_arrival=at(wanted_minute))

    assert shown(merged) == expected


def test_a_trip_late_for_the_requested_arrival_states_by_how_much():
    merged = merge([LATE_AND_LAST], arrive_by=True, wanted_arrival=at(32))

    assert merged.choices[0].note == "Line 5 from A leaves 6 min late. It arrives 4 min after the requested time."


def test_dropped_parts_are_named():
    merged = merge([GONE, SOON], [NEW, NEW_BUT_GONE], limit=2)

    assert name_disrupted(merged.dropped, print_minute) == "Line X from A is cancelled (0)."


def test_of_one_line_the_rides_are_named_together():
    gone = [trip(ride("X", "A", "B", minute, minute + 10, cancelled=True)) for minute in (5, 35)]
    missed = trip(ride("1", "A", "B", 0, 10, 120), ride("2", "B", "C", 11, 20))

    assert name_disrupted([*gone, missed], print_minute) == (
        "Line X from A is cancelled (5, 35). The change from line 1 to line 2 at B is missed by 1 min (11)."
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [([SOON, LATER], [NEW], (3, None)), ([SOON, LATER], [SOON, NEW], (3, 4)), ([SOON, SOON], [], (1, 2))],
)
def test_itineraries_are_counted_with_and_without_duplicates(first, second, expected):
    merged = merge(first, second)

    assert (len(merged.found), merged.deduplicated_from) == expected


@pytest.mark.parametrize(("minutes", "expected"), [(1, "X"), (2, "X X*")])
def test_a_usable_trip_comes_before_its_disrupted_equal(minutes, expected):
    runs = trip(ride("X", "A", "B", minutes, 15))

    assert shown(merge([GONE, runs])) == shown(merge([runs, GONE])) == expected


@pytest.mark.parametrize(("arrive_by", "leaves_at_s"), [(False, 10), (True, 80)])
def test_the_better_of_equally_long_trips_stays(arrive_by, leaves_at_s):
    """B7, B8, B14: the first arrival or, for a requested arrival, the last departure, in any order of input."""
    first, next_one = trip(ride("X", "A", "B", 10 / 60, 15)), trip(ride("X", "A", "B", 80 / 60, 15 + 70 / 60))

    for found in ([first, next_one], [next_one, first]):
        merged = merge(found, arrive_by=arrive_by)
        assert [each.itinerary.departure - at(0) for each in merged.choices] == [leaves_at_s]


def test_of_equals_the_shorter_stays():
    slow, quick = (trip(ride("7", "A", "B", 0, arrives)) for arrives in (12, 9))

    assert merge([slow, quick]).found == merge([quick, slow], [slow]).found == (quick,)


def _is_unusable_by_hand(itinerary) -> bool:
    """Nothing is walked between two rides that are drawn, so the second must leave when the first is there."""
    rides = [leg for leg in itinerary.legs if leg.line]
    late = [(leg.arrival_scheduled + (leg.arrival_delay_s or 0), leg.departure_scheduled + (leg.departure_delay_s or 0))
            for leg in rides]  # fmt: skip
    if any(leg.cancelled for leg in rides):
        return True
    return len(rides) == 2 and late[0][0] > late[1][1]


FOUND = st.lists(itineraries(), max_size=6)


@settings(deadline=None)
@given(FOUND, FOUND, st.integers(1, 3), st.sampled_from(Optimize), st.booleans())
def test_laws_of_merging(first, second, limit, optimize, arrive_by):
    """B5, B14, P13, P47, P48: the limit cuts one list, nothing unusable stands first, a flag has no note."""
    merged = merge(first, second, limit, optimize=optimize, arrive_by=arrive_by)
    whole = merge(first, second, 99, optimize=optimize, arrive_by=arrive_by)
    promised = {compute_fingerprint(each) for each in first}
    flagged = [compute_fingerprint(each.itinerary) for each in merged.choices if each.flagged]
    disrupted = [is_disrupted(each.itinerary) for each in merged.choices]

    unusable = [_is_unusable_by_hand(each.itinerary) for each in merged.choices]

    assert merged.choices == whole.choices[:limit]
    assert merged.found == whole.found == tuple(each.itinerary for each in whole.choices)
    assert unusable == sorted(unusable)
    assert [each.note is not None for each in merged.choices] == disrupted
    assert not any(each.flagged and each.note for each in merged.choices)
    assert not promised.intersection(flagged)
    assert not flagged or any(map(is_disrupted, first))
    assert all(is_disrupted(each) for each in merged.dropped)
    assert not set(merged.dropped).intersection(each.itinerary for each in merged.choices)


BUS_9 = trip(ride("9", "A", "B", 7, 17))
LATE, OFF = trip(ride("7", "A", "B", 5, 15, 400)), trip(ride("8", "A", "B", 6, 16, cancelled=True))


@pytest.mark.parametrize(
    ("first", "second", "replaced"),
    [
        # Of two disrupted trips the one that nobody can use is replaced.
        ([LATE, OFF, BUS_9], [], OFF),
        ([LATE, BUS_9], [], LATE),
        ([BUS_9], [], None),
        # The cancelled bus is planned at minute 6: riders of the bus before it lose nothing.
        ([BUS_9, OFF], [], OFF),
        ([trip(ride("9", "A", "B", 5, 15)), OFF], [], None),
        # Only the second query found it, so it would not have been shown at all, however early it is.
        ([OFF], [trip(ride("9", "A", "B", 3, 13))], OFF),
    ],
)
def test_the_first_choice_is_replaced(first, second, replaced):
    assert merge(first, second).choices[0].instead_of is replaced


def test_a_stop_before_a_late_trip_replaces_nothing():
    """Two buses planned a minute apart, the first six minutes late and still the first to arrive."""
    late = trip(ride("7", "A", "B", 5, 15, 301))

    assert [each.instead_of for each in merge([late, trip(ride("9", "A", "B", 16, 26))]).choices] == [None, None]


@pytest.mark.parametrize(("wanted_minute", "is_usable"), [(15, True), (14, False)])
def test_a_trip_too_late_for_the_requested_arrival_is_not_usable_for_it(wanted_minute, is_usable):
    """B5, B8: a trip that arrives at the requested minute is usable, one a minute later is not."""
    result = merge([trip(ride("7", "A", "B", 5, 15))], arrive_by=True, wanted_arrival=at(wanted_minute))

    assert (result.any_usable, result.choices[0].note) == (is_usable, None)
