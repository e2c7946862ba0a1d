"""What the search answers: rides and walks in integers, rows of the timetable."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """One ride. Events are rows of the timetable's event columns; instants are Unix seconds.

    ``run`` is a row of the timetable's runs, or -1 - i for the i-th added ride of the overlay that was searched;
    the events of an added ride are positions among its own calls.
    ``foot_m`` is walked before boarding: from the start for the first ride, else from the ride before.
    """

    run: int
    service_day: date
    board_event: int
    alight_event: int
    departure: int
    arrival: int
    foot_m: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """Rides from start to goal. Without rides it is the walk all the way, of ``egress_m``.

    ``departure`` is when to leave the start, ``arrival`` when the goal is reached (Unix seconds).
    """

    departure: int
    arrival: int
    rides: tuple[Ride, ...]
    egress_m: int

    @property
    def transfers(self) -> int:
        """Number of changes."""
        return max(0, len(self.rides) - 1)

    @property
    def walk_m(self) -> int:
        """Metres walked in all."""
        return self.egress_m + sum(ride.foot_m for ride in self.rides)
