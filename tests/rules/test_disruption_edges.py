"""What is no disruption though it is late, and which of two delays a note tells."""

import pytest

from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.rules.differences import ConnectionRisk, connection_risk
from fingerpost.transit.rules.disruption import find_leg_note, is_disrupted, merge_alternatives
from tests.rules.drawing import at, ride, trip, walk


def late_walk(delay_s):
    """Draw the walk from the last stop, as late as the bus before it."""
    before = walk("B", "home", 15, 20, 300)
    return type(before)(**{**{name: getattr(before, name) for name in before.__dataclass_fields__},
                           "departure_delay_s": delay_s, "arrival_delay_s": delay_s})  # fmt: skip


def test_a_late_walk_disrupts_nothing():
    """B5: only rides are late; the walk of somebody who was late anyway is none."""
    assert not is_disrupted(trip(late_walk(900)))


@pytest.mark.parametrize(
    ("departs_late_s", "arrives_late_s", "note"),
    [
        (300, 300, None),
        (300, 301, "Line 7 from A arrives at B 5 min late."),
        (301, 0, "Line 7 from A leaves 5 min late."),
        (0, 301, "Line 7 from A arrives at B 5 min late."),
        (360, 720, "Line 7 from A leaves 6 min late."),
    ],
)
def test_a_note_tells_the_delay_that_the_rider_meets_first(departs_late_s, arrives_late_s, note):
    """B5: leaving late where that is more than 300 s, else arriving late."""
    assert find_leg_note(ride("7", "A", "B", 5, 15, departs_late_s, arrival_delay_s=arrives_late_s)) == note


@pytest.mark.parametrize(("seated", "risk"), [(True, ConnectionRisk.OK), (False, ConnectionRisk.TIGHT)])
def test_who_stays_seated_can_miss_nothing(seated, risk):
    """The vehicle goes on at the second at which it arrives."""
    assert connection_risk(trip(ride("7", "A", "B", 5, 15), ride("9", "B", "C", 15, 25, stays_seated=seated))) == risk


@pytest.mark.parametrize(("gap_minutes", "risk"), [(2, ConnectionRisk.OK), (1.98, ConnectionRisk.TIGHT)])
def test_a_change_after_a_walk_counts_from_the_walks_end(gap_minutes, risk):
    """Three minutes on foot, then two minutes to spare: a second less is tight."""
    legs = ride("7", "A", "B", 5, 15), walk("B", "C", 15, 18, 200), ride("9", "C", "D", 18 + gap_minutes, 30)

    assert connection_risk(trip(*legs)) == risk


def merged(first, second=(), limit=3, wanted=None):
    return merge_alternatives(first, second, limit=limit, optimize=Optimize.SHORTEST_TIME, arrive_by=wanted is not None,
                              wanted_arrival=wanted)  # fmt: skip


BUS_9 = trip(ride("9", "A", "B", 7, 17))
LATE, OFF = trip(ride("7", "A", "B", 5, 15, 400)), trip(ride("8", "A", "B", 6, 16, cancelled=True))


def instead_of(first, second=()):
    """Return what the first choice stands in for."""
    return merged(first, second).choices[0].instead_of


def test_the_worst_of_what_is_replaced_is_compared_with_though_a_late_one_is_better():
    """Of two disrupted trips of the first result others stand in for the one that nobody can use."""
    assert instead_of([LATE, OFF, BUS_9]) is OFF
    assert instead_of([LATE, BUS_9]) is LATE
    assert instead_of([BUS_9]) is None


@pytest.mark.parametrize(("planned_minute", "is_replaced"), [(7, True), (5, False)])
def test_a_punctual_trip_stands_in_for_none_that_was_planned_after_it(planned_minute, is_replaced):
    """The cancelled bus is planned at minute 6: who takes the one before it loses nothing."""
    punctual = trip(ride("9", "A", "B", planned_minute, planned_minute + 10))

    assert instead_of([punctual, OFF]) is (OFF if is_replaced else None)


def test_what_only_the_second_question_found_stands_in_for_what_it_goes_before():
    """It would not have been shown at all, however early it is."""
    assert instead_of([OFF], [trip(ride("9", "A", "B", 3, 13))]) is OFF


def test_what_a_late_trip_still_goes_before_stands_in_for_nothing():
    """Two buses planned a minute apart, the first six minutes late and still the first to arrive."""
    late = trip(ride("7", "A", "B", 5, 15, 301))

    assert [each.instead_of for each in merged([late, trip(ride("9", "A", "B", 16, 26))]).choices] == [None, None]


@pytest.mark.parametrize(("wanted_minute", "is_usable"), [(15, True), (14, False)])
def test_what_is_too_late_for_the_wanted_arrival_is_not_usable_for_it(wanted_minute, is_usable):
    """B5, B8: arriving at the wanted minute is in time; a minute after it is not."""
    result = merged([trip(ride("7", "A", "B", 5, 15))], wanted=at(wanted_minute))

    assert (result.any_usable, result.choices[0].note) == (is_usable, None)
