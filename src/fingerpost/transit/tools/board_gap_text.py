"""Why a board or a timetable is empty, as a sentence."""

from collections.abc import Callable

from fingerpost.transit.port import BoardGap


def say_gap(gap: BoardGap, print_time: Callable[[int], str]) -> str:
    """Return when something leaves, or that nothing does."""
    if gap.next_departure is not None:
        return f"The next departure is at {print_time(gap.next_departure)}."
    if gap.next_day is not None:
        return f"The next departures are on {gap.next_day}."
    if gap.cancelled_until is not None:
        return f"All departures from here until {gap.cancelled_until} are cancelled."
    if gap.last_day is not None:
        return f"The timetable has no departures from here after {gap.last_day}."
    return "The timetable has no departures from here on any day."
