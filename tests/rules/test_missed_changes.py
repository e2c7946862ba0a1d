"""What is said of a change that is missed: which one, and by how much (rule B5)."""

import pytest

from fingerpost.transit.rules.disruption import as_promised, list_missed_changes, print_duration, ride_name
from tests.rules.drawing import at, ride, trip, walk


def change(late_s, gap_s, change_s=None, line="9", walk_m=0):
    """Draw line 7, some seconds late, then another ride that leaves so many seconds after the promised arrival."""
    first = ride("7", "A", "B", 0, 10, 0, arrival_delay_s=late_s)
    between = [walk("B", "C", 10, 12, walk_m)] if walk_m else []
    return trip(first, *between, ride(line, "C" if walk_m else "B", "D", 10 + gap_s / 60, 30, 0, change_s=change_s))


def said(itinerary):
    return [each.sentence for each in list_missed_changes(itinerary)]


@pytest.mark.parametrize(
    ("late_s", "sentence"),
    [
        (60, None),
        (61, "The change from line 7 to line 9 at B has 119 s of the 120 s that it takes."),
        (179, "The change from line 7 to line 9 at B has 1 s of the 120 s that it takes."),
        (180, "The change from line 7 to line 9 at B is missed by 2 min."),
        (240, "The change from line 7 to line 9 at B is missed by 3 min."),
    ],
)
def test_a_change_of_two_minutes_with_three_minutes_to_make_it(late_s, sentence):
    """A minute late is just in time; from three minutes on the next ride has left."""
    assert said(change(late_s, 180, change_s=120)) == ([sentence] if sentence else [])


def test_without_a_word_of_the_source_the_walk_is_what_a_change_takes():
    """Two minutes on foot between the two stops."""
    assert said(change(0, 120, walk_m=100)) == []
    assert said(change(1, 120, walk_m=100)) == [
        "The change from line 7 to line 9 at C has 119 s of the 120 s that it takes."
    ]
    assert said(change(0, 0)) == []
    assert said(change(1, 0)) == ["The change from line 7 to line 9 at B is missed by 1 s."]


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (89, "1 min"), (91, "2 min")])
def test_durations_are_minutes_from_one_minute_on(seconds, text):
    """A rider counts in minutes."""
    assert print_duration(seconds) == text


def test_a_ride_without_a_line_is_what_it_is():
    """``The bus``, in a sentence ``the bus``."""
    assert (ride_name(ride("7", "A", "B", 0, 1)), ride_name(ride(None, "A", "B", 0, 1))) == ("Line 7", "The bus")
    assert said(change(180, 180, change_s=120, line=None)) == [
        "The change from line 7 to the bus at B is missed by 2 min."
    ]


def test_as_promised_means_the_times_of_the_timetable_for_every_leg():
    """The delays are still there to be told."""
    late = as_promised(change(600, 180, change_s=120))

    assert [(leg.departure, leg.arrival) for leg in late.legs] == [(at(0), at(10)), (at(13), at(30))]
    assert (late.duration_s, late.legs[0].arrival_delay_s) == (1800, 600)
