"""Select the first rows of a board within its window (rules B14 and D3)."""

from dataclasses import replace

import pytest

from fingerpost.transit.remote.kit.network import list_in_window, take_first
from tests.rules.drawing import at, departure


def row(line: str, minute: float, delay_s: int | None = None):
    return replace(departure(delay_s), line=line, scheduled=at(minute))


def lines(rows) -> str:
    return " ".join(each.line for each in rows)


LATE, EARLY, ON_TIME = row("late", 9, 120), row("early", 11, -120), row("on-time", 10)


@pytest.mark.parametrize(
    ("first", "last", "expected", "scheduled"),
    [
        (9, 11, "early on-time late", "late on-time early"),
        (9, 10, "early on-time", "late on-time"),
        (10, 11, "on-time late", "on-time early"),
        (10.5, 11, "late", "early"),
        (12, 13, "", ""),
    ],
)
def test_departures_within_a_window_with_its_ends(first, last, expected, scheduled):
    """One row leaves at 9 instead of 11, another at 11 instead of 9."""
    rows = [LATE, ON_TIME, EARLY]

    assert lines(list_in_window(rows, at(first), at(last))) == expected
    assert lines(list_in_window(rows, at(first), at(last), by_schedule=True)) == scheduled


def test_departures_in_the_same_second_are_sorted_by_line():
    """As text, so 10 stands before 9."""
    assert lines(list_in_window([row("9", 5), row("10", 5), row("1", 6)], at(0), at(10))) == "10 9 1"


@pytest.mark.parametrize(("wanted", "kept"), [(0, "a b c d"), (1, "a"), (2, "a b c"), (3, "a b c"), (4, "a b c d")])
def test_the_first_rows_and_any_that_leaves_with_the_last_of_them(wanted, kept):
    """Two rows leave at minute 2, so 2 rows become 3; 0 means all."""
    rows = [row("a", 1), row("b", 2), row("c", 2), row("d", 3)]

    assert lines(take_first(rows, wanted)) == kept


def test_the_first_rows_by_the_timetable_go_by_its_times():
    rows = [row("a", 2, 60), row("b", 2), row("c", 3, -60)]

    assert (lines(take_first(rows, 1, by_schedule=True)), lines(take_first(rows, 1))) == ("a b", "a b c")
