"""How the embedded engine knows the rides of its own itineraries again: rows of the timetable."""

from typing import NamedTuple


class TimetableRide(NamedTuple):
    """A ride of the timetable: a trip's row, and the rows of the events where the ride begins and ends."""

    trip: int
    board_stop_time: int
    alight_stop_time: int


class UnplannedRide(NamedTuple):
    """A ride that real time added: its route's row, -1 where unknown, and the rows of its stops in order."""

    route: int
    stops: tuple[int, ...]
