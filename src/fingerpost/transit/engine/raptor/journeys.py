"""Journeys as the search returns them: rides and walks as rows of the timetable."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """One ride on one trip. Stop times are rows of the timetable's columns; instants are Unix seconds.

    ``trip_departure`` is a row of the timetable's trip departures, or -1 - i for the i-th added ride of the overlay
    that was searched; the stop times of an added ride are positions among its own.
    ``foot_m`` is walked before boarding: from the start for the first ride, else from the ride before.
    ``stays_seated`` says that one comes from the ride before without leaving the vehicle.
    """

    trip_departure: int
    service_day: date
    board_stop_time: int
    alight_stop_time: int
    departure: int
    arrival: int
    foot_m: int
    stays_seated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """Rides from origin to destination. Without rides it is the walk all the way, of ``egress_m``.

    ``departure`` is when to leave the origin, ``arrival`` when the destination is reached (Unix seconds).
    ``stays`` is the number of rides for which one stays seated.
    """

    departure: int
    arrival: int
    rides: tuple[Ride, ...]
    egress_m: int
    stays: int = 0

    @property
    def boardings(self) -> int:
        """How many times one boards; a ride for which one stays seated does not count."""
        return len(self.rides) - self.stays

    @property
    def transfers(self) -> int:
        """Number of changes."""
        return max(0, self.boardings - 1)

    @property
    def walk_m(self) -> int:
        """Metres walked in all."""
        return self.egress_m + sum(ride.foot_m for ride in self.rides)
