"""Handles by which the embedded engine identifies the rides of its itineraries: timetable rows."""

from typing import NamedTuple


class TimetableRide(NamedTuple):
    """A ride on a scheduled trip: the trip's row, and the rows of the boarding and alighting stop times."""

    trip: int
    board_stop_time: int
    alight_stop_time: int


class UnplannedRide(NamedTuple):
    """A ride on a trip that real time added: the route's row (-1 if unknown), and the rows of its stops in order."""

    route: int
    stops: tuple[int, ...]
