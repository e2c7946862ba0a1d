"""From the kernel's rows to journeys: slice times become instants, positions become the timetable's events."""

from datetime import date

from fingerpost.transit.raptor.arrays import Found
from fingerpost.transit.raptor.chains import DaySlice
from fingerpost.transit.raptor.journeys import Journey, Ride
from fingerpost.transit.timetable.timetable import Timetable


def journeys_of(timetable: Timetable, piece: DaySlice, found: Found, count: int) -> list[Journey]:
    """Return the first ``count`` journeys that a kernel found, turned round again where the slice is mirrored."""
    journeys = []
    for leave_s, arrive_s, rides, first_leg, _, last_m in found.journey[:count].tolist():
        legs = found.leg[first_leg : first_leg + rides].tolist()
        feet = [leg[4] for leg in legs] + [last_m]
        if piece.mirrored:
            legs.reverse()
            feet.reverse()
            leave_s, arrive_s = arrive_s, leave_s
        journeys.append(
            Journey(
                departure=piece.to_instant(leave_s),
                arrival=piece.to_instant(arrive_s),
                rides=tuple(_ride(timetable, piece, leg, foot_m) for leg, foot_m in zip(legs, feet, strict=False)),
                egress_m=feet[-1],
            )
        )
    return journeys


def _ride(timetable: Timetable, piece: DaySlice, leg: list[int], foot_m: int) -> Ride:
    chain, vehicle, board, alight, _ = leg
    chains = piece.chains
    length = int(chains.chain_first[chain + 1] - chains.chain_first[chain])
    times = int(chains.event_base[chain]) + vehicle * length
    row = int(chains.vehicle_first[chain]) + vehicle
    run = int(piece.vehicle_run[row])
    first_event = int(timetable.trip_first_event[timetable.run_trip[run]]) if run >= 0 else 0
    departure = piece.to_instant(int(chains.departure_s[times + board]))
    arrival = piece.to_instant(int(chains.arrival_s[times + alight]))
    if piece.mirrored:
        board, alight = length - 1 - alight, length - 1 - board
        departure, arrival = arrival, departure
    return Ride(
        run=run,
        service_day=date.fromordinal(int(piece.vehicle_day[row])),
        board_event=first_event + board,
        alight_event=first_event + alight,
        departure=departure,
        arrival=arrival,
        foot_m=foot_m,
    )
