"""Build journeys (rides and walks) and departure boards from the rows that the RAPTOR kernels write."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.raptor.arrays import JourneyRows
from fingerpost.transit.engine.raptor.kernel.range_raptor import list_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable
from fingerpost.transit.engine.raptor.search_timetable.in_seat import Parts
from fingerpost.transit.engine.timetable.timetable import Int32, Int64, Timetable
from fingerpost.transit.engine.timetable.walks import StopWalks


class Ride(NamedTuple):
    """A ride on one trip. Stop times are rows of the timetable; the departure and arrival are Unix seconds.

    ``trip_departure`` is a row of the timetable's trip departures, or -1 - i for the i-th added ride of the overlay,
    whose stop times are positions within the ride. ``foot_m`` is the length of the walk before boarding.
    ``stays_seated`` marks an in-seat transfer from the previous ride.
    """

    trip_departure: int
    service_day: date
    board_stop_time: int
    alight_stop_time: int
    departure: int
    arrival: int
    foot_m: int
    stays_seated: bool = False


class Journey(NamedTuple):
    """Rides from origin to destination, or a direct walk of ``egress_m``; times are Unix seconds."""

    departure: int
    arrival: int
    rides: tuple[Ride, ...]
    egress_m: int

    @property
    def boardings(self) -> int:
        return sum(not ride.stays_seated for ride in self.rides)

    @property
    def walk_m(self) -> int:
        return self.egress_m + sum(ride.foot_m for ride in self.rides)


class FoundJourney(NamedTuple):
    """A journey as a kernel writes it, in search timetable seconds; ``legs`` has rows of ``JourneyRows.leg``."""

    leave_s: int
    arrive_s: int
    legs: list[list[int]]
    walk_m: int
    egress_m: int


def list_found(rows: JourneyRows, count: int) -> list[FoundJourney]:
    journeys = rows.journey[:count].tolist()
    legs = rows.leg[: sum(journey[2] for journey in journeys)].tolist()
    return [
        FoundJourney(leave_s, arrive_s, legs[first_leg : first_leg + boardings], walk_m, egress_m)
        for leave_s, arrive_s, boardings, first_leg, walk_m, egress_m in journeys
    ]


def read_journey(timetable: Timetable, search_timetable: SearchTimetable, found: FoundJourney) -> Journey:
    leave_s, arrive_s, legs, _, egress_m = found
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
    )


def _build_rides(timetable: Timetable, search_timetable: SearchTimetable, leg: list[int], foot_m: int) -> list[Ride]:
    """Return the rides of a leg; a trip instance with in-seat transfers has one ride per trip."""
    pattern, instance, board, alight, _ = leg
    patterns, parts = search_timetable.patterns, search_timetable.parts
    length = patterns.pattern_first.item(pattern + 1) - patterns.pattern_first.item(pattern)
    first, step = patterns.stop_time_base.item(pattern) + instance * length, 1
    row = search_timetable.instance_parts.item(patterns.instance_first.item(pattern) + instance)
    departures_s, arrivals_s = patterns.departure_s, patterns.arrival_s
    if search_timetable.is_reverse:
        board, alight = length - 1 - alight, length - 1 - board
        departures_s, arrivals_s, first, step = arrivals_s, departures_s, first + length - 1, -1
    rides: list[Ride] = []
    for part, begin, end in _split_by_part(parts, row, board, alight):
        trip_departure = parts.trip_departure.item(part)
        first_stop_time = timetable.find_first_stop_time(trip_departure) - parts.position.item(part)
        rides.append(
            Ride(
                trip_departure=trip_departure,
                service_day=date.fromordinal(parts.day.item(part)),
                board_stop_time=first_stop_time + begin,
                alight_stop_time=first_stop_time + end,
                departure=search_timetable.to_instant(departures_s.item(first + step * begin)),
                arrival=search_timetable.to_instant(arrivals_s.item(first + step * end)),
                foot_m=0 if rides else foot_m,
                stays_seated=bool(rides),
            )
        )
    return rides


def _split_by_part(parts: Parts, instance: int, board: int, alight: int) -> list[tuple[int, int, int]]:
    if parts.is_plain:
        return [(instance, board, alight)]
    first, end = int(parts.first[instance]), int(parts.first[instance + 1])
    part_begins = [*parts.position[first:end].tolist(), alight + 1]
    return [
        (first + index, max(board, begin), min(alight, next_begin - 1))
        for index, (begin, next_begin) in enumerate(pairwise(part_begins))
        if begin < alight and board < next_begin - 1
    ]


class BoardDeparture(NamedTuple):
    trip_departure: int  # this and ``stop_time`` are as in ``Ride``
    service_day: date
    stop_time: int
    departure: int  # Unix seconds


def list_board_departures(
    timetable: Timetable,
    search_timetable: SearchTimetable,
    stops: Sequence[int],
    instant: int,
    window_s: int,
    wanted: int | None = None,
) -> tuple[list[BoardDeparture], int]:
    """Return the departures in [instant, instant + window_s], in chronological order, and their total number.

    If ``wanted`` is given, return only that many, plus those that leave in the same second as the last one. Stop times
    without pickup, or without a later drop-off, are skipped.
    """
    begin_s = search_timetable.to_search_s(instant)
    rows = np.array(sorted(set(stops)), np.int32)
    boarded = search_timetable.search_stops.expand(StopWalks(rows, *np.zeros((2, len(rows)), np.int32)))
    found = list_departures(search_timetable.patterns, boarded.stop, boarded.seconds, begin_s, begin_s + window_s)
    departs_s, pattern, instance, position, _ = found.T
    row = search_timetable.patterns.instance_first[pattern] + instance
    part, position = _find_parts(search_timetable, row, position.astype(np.int64))
    if not search_timetable.parts.is_plain:
        # A trip with in-seat transfers may be part of several instances.
        unique = np.unique(np.column_stack([search_timetable.parts.ride[part], position]), axis=0, return_index=True)[1]
        row, departs_s, part, position = row[unique], departs_s[unique], part[unique], position[unique]
    order = np.lexsort((row, departs_s))
    if wanted is not None and 0 < wanted < len(order):
        order = order[: np.searchsorted(departs_s[order], departs_s[order[wanted - 1]], "right")]
    part, parts = part[order], search_timetable.parts
    columns = parts.trip_departure[part], parts.day[part], position[order], departs_s[order]
    departures = [
        BoardDeparture(
            trip_departure,
            date.fromordinal(day),
            timetable.find_first_stop_time(trip_departure) + position_in_trip,
            search_timetable.to_instant(departure_s),
        )
        for trip_departure, day, position_in_trip, departure_s in zip(*map(np.ndarray.tolist, columns), strict=True)
    ]
    return departures, len(row)


# More positions than any trip instance has.
_MAX_POSITIONS = np.int64(1 << 32)


def _find_parts(search_timetable: SearchTimetable, row: Int32, position: Int64) -> tuple[Int64, Int64]:
    """For each instance (a row), return the part that contains a position, and the position within that part."""
    parts = search_timetable.parts
    instance = search_timetable.instance_parts[row]
    if parts.is_plain:
        return instance, position
    # Parts are sorted by instance, then by position.
    key = np.repeat(np.arange(len(parts.first) - 1), np.diff(parts.first)) * _MAX_POSITIONS + parts.position
    part = np.searchsorted(key, instance * _MAX_POSITIONS + position, "right") - 1
    return part, position - parts.position[part]
