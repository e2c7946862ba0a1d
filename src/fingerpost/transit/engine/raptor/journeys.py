"""Build journeys (rides and walks) from the rows that the RAPTOR kernels write."""

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from fingerpost.transit.engine.raptor.arrays import JourneyRows
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable
from fingerpost.transit.engine.raptor.search_timetable.in_seat import Parts
from fingerpost.transit.engine.timetable.timetable import Timetable


@dataclass(frozen=True, slots=True, kw_only=True)
class Ride:
    """One ride on one trip. Stop times are rows of the timetable's columns; instants are Unix seconds.

    ``trip_departure`` is a row of the timetable's trip departures, or -1 - i for the i-th added ride of the overlay,
    whose stop times are positions. ``foot_m`` is walked before boarding. ``stays_seated`` means that riders come
    from the previous ride by an in-seat transfer.
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
    """Rides from origin to destination, or a direct walk of ``egress_m``. Instants are Unix seconds."""

    departure: int
    arrival: int
    rides: tuple[Ride, ...]
    egress_m: int
    stays: int = 0  # rides with ``stays_seated``

    @property
    def boardings(self) -> int:
        return len(self.rides) - self.stays

    @property
    def walk_m(self) -> int:
        return self.egress_m + sum(ride.foot_m for ride in self.rides)


class FoundJourney(NamedTuple):
    """A journey as a kernel writes it, in search timetable seconds; the legs are those of ``JourneyRows``."""

    leave_s: int
    arrive_s: int
    legs: list[list[int]]
    egress_m: int

    @property
    def walk_m(self) -> int:
        return self.egress_m + sum(leg[4] for leg in self.legs)


def list_found(rows: JourneyRows, count: int) -> list[FoundJourney]:
    legs = rows.leg[: int(rows.journey[:count, 2].sum())].tolist()
    return [
        FoundJourney(leave_s, arrive_s, legs[first_leg : first_leg + boardings], egress_m)
        for leave_s, arrive_s, boardings, first_leg, _, egress_m in rows.journey[:count].tolist()
    ]


def read_journey(timetable: Timetable, search_timetable: SearchTimetable, found: FoundJourney) -> Journey:
    leave_s, arrive_s, legs, egress_m = found
    walks_m = [*(leg[4] for leg in legs), egress_m]
    if search_timetable.is_reverse:
        leave_s, arrive_s, legs, walks_m = arrive_s, leave_s, legs[::-1], walks_m[::-1]
    rides = [
        ride
        for leg, foot_m in zip(legs, walks_m, strict=False)
        for ride in _build_rides(timetable, search_timetable, leg, foot_m)
    ]
    return Journey(
        departure=search_timetable.to_instant(leave_s),
        arrival=search_timetable.to_instant(arrive_s),
        rides=tuple(rides),
        egress_m=walks_m[-1],
        stays=len(rides) - len(legs),
    )


def _build_rides(timetable: Timetable, search_timetable: SearchTimetable, leg: list[int], foot_m: int) -> list[Ride]:
    """Return the rides of one trip instance from boarding to alighting, one per trip joined by in-seat transfers."""
    pattern, instance, board, alight, _ = leg
    patterns, parts = search_timetable.patterns, search_timetable.parts
    length = int(patterns.pattern_first[pattern + 1] - patterns.pattern_first[pattern])
    times = int(patterns.stop_time_base[pattern]) + instance * length
    row = int(search_timetable.instance_parts[int(patterns.instance_first[pattern]) + instance])
    if search_timetable.is_reverse:
        board, alight = length - 1 - alight, length - 1 - board
    rides: list[Ride] = []
    for part, begin, end in _split_by_part(parts, row, board, alight):
        trip_departure = int(parts.trip_departure[part])
        if search_timetable.is_reverse:
            departure_s = int(patterns.arrival_s[times + length - 1 - begin])
            arrival_s = int(patterns.departure_s[times + length - 1 - end])
        else:
            departure_s, arrival_s = int(patterns.departure_s[times + begin]), int(patterns.arrival_s[times + end])
        first_stop_time = timetable.find_first_stop_time(trip_departure) - int(parts.position[part])
        rides.append(
            Ride(
                trip_departure=trip_departure,
                service_day=date.fromordinal(int(parts.day[part])),
                board_stop_time=first_stop_time + begin,
                alight_stop_time=first_stop_time + end,
                departure=search_timetable.to_instant(departure_s),
                arrival=search_timetable.to_instant(arrival_s),
                foot_m=0 if rides else foot_m,
                stays_seated=bool(rides),
            )
        )
    return rides


def _split_by_part(parts: Parts, instance: int, board: int, alight: int) -> list[tuple[int, int, int]]:
    if parts.is_plain:
        return [(instance, board, alight)]
    first, end = int(parts.first[instance]), int(parts.first[instance + 1])
    begins = [*parts.position[first:end].tolist(), alight + 1]
    return [
        (first + index, max(board, begin), min(alight, next_begin - 1))
        for index, (begin, next_begin) in enumerate(pairwise(begins))
        if begin < alight and board < next_begin - 1
    ]
