"""From the kernel's rows to journeys: slice times become instants, positions become the timetable's events."""

from datetime import date
from itertools import pairwise

from fingerpost.transit.raptor.arrays import Found
from fingerpost.transit.raptor.journeys import Journey, Ride
from fingerpost.transit.raptor.search_timetable.build import DaySlice
from fingerpost.transit.raptor.search_timetable.in_seat import Parts
from fingerpost.transit.timetable.timetable import Timetable


def journeys_of(timetable: Timetable, piece: DaySlice, found: Found, count: int) -> list[Journey]:
    """Return the first ``count`` journeys that a kernel found, turned round again where the slice is mirrored."""
    journeys = []
    for leave_s, arrive_s, boardings, first_leg, _, last_m in found.journey[:count].tolist():
        legs = found.leg[first_leg : first_leg + boardings].tolist()
        feet = [leg[4] for leg in legs] + [last_m]
        if piece.mirrored:
            legs.reverse()
            feet.reverse()
            leave_s, arrive_s = arrive_s, leave_s
        rides = [
            ride for leg, foot_m in zip(legs, feet, strict=False) for ride in _rides(timetable, piece, leg, foot_m)
        ]
        journeys.append(
            Journey(
                departure=piece.to_instant(leave_s),
                arrival=piece.to_instant(arrive_s),
                rides=tuple(rides),
                egress_m=feet[-1],
                stays=len(rides) - boardings,
            )
        )
    return journeys


def _rides(timetable: Timetable, piece: DaySlice, leg: list[int], foot_m: int) -> list[Ride]:
    """Return the rides of one vehicle from boarding to alighting: several where it goes on with the rider seated."""
    chain, vehicle, board, alight, _ = leg
    chains, parts = piece.chains, piece.parts
    length = int(chains.chain_first[chain + 1] - chains.chain_first[chain])
    times = int(chains.event_base[chain]) + vehicle * length
    row = int(piece.vehicle_parts[int(chains.vehicle_first[chain]) + vehicle])
    if piece.mirrored:
        board, alight = length - 1 - alight, length - 1 - board
    rides: list[Ride] = []
    for part, begin, end in _stretches(parts, row, board, alight):
        run = int(parts.run[part])
        first_event = int(timetable.trip_first_event[timetable.run_trip[run]]) if run >= 0 else 0
        if piece.mirrored:
            departure_s = int(chains.arrival_s[times + length - 1 - begin])
            arrival_s = int(chains.departure_s[times + length - 1 - end])
        else:
            departure_s, arrival_s = int(chains.departure_s[times + begin]), int(chains.arrival_s[times + end])
        first_event -= int(parts.position[part])
        rides.append(
            Ride(
                run=run,
                service_day=date.fromordinal(int(parts.day[part])),
                board_event=first_event + begin,
                alight_event=first_event + end,
                departure=piece.to_instant(departure_s),
                arrival=piece.to_instant(arrival_s),
                foot_m=0 if rides else foot_m,
                stays_seated=bool(rides),
            )
        )
    return rides


def _stretches(parts: Parts, vehicle: int, board: int, alight: int) -> list[tuple[int, int, int]]:
    """Return, for each part of a vehicle that is ridden, its row and the positions between which it is."""
    if parts.is_plain:
        return [(vehicle, board, alight)]
    first, end = int(parts.first[vehicle]), int(parts.first[vehicle + 1])
    begins = [*parts.position[first:end].tolist(), alight + 1]
    return [
        (first + at, max(board, begin), min(alight, then - 1))
        for at, (begin, then) in enumerate(pairwise(begins))
        if begin < alight and board < then - 1
    ]
