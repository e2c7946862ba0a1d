"""The departure board of some stops, read from a slice."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fingerpost.transit.raptor.chains import DaySlice
from fingerpost.transit.raptor.kernel.searching import first_vehicle
from fingerpost.transit.timetable.timetable import NO_BOARDING, Timetable


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCall:
    """A vehicle that can be boarded; ``run`` and ``event`` as in ``journeys.Ride``."""

    run: int
    service_day: date
    event: int
    departure: int  # Unix seconds


def list_board_calls(
    timetable: Timetable, piece: DaySlice, stops: Sequence[int], instant: int, window_s: int
) -> list[BoardCall]:
    """Return the calls at the stops that leave in [instant, instant + window_s], both ends included.

    A call at which nobody may board is not a departure, and neither is the last call of a trip.
    """
    chains = piece.chains
    since_s = piece.to_slice_s(instant)
    calls = []
    for stop in sorted(set(stops)):
        for pair in range(int(chains.stop_first[stop]), int(chains.stop_first[stop + 1])):
            chain, position = int(chains.stop_chain[pair]), int(chains.stop_position[pair])
            first = int(chains.chain_first[chain])
            length = int(chains.chain_first[chain + 1]) - first
            if position == length - 1 or int(chains.position_flags[first + position]) & NO_BOARDING:
                continue
            rows = int(chains.vehicle_first[chain]), int(chains.vehicle_first[chain + 1])
            base = int(chains.event_base[chain]) + position
            vehicle = first_vehicle(chains, chain, position, since_s, rows[1] - rows[0])
            while vehicle < rows[1] - rows[0]:
                leaves_s = int(chains.departure_s[base + vehicle * length])
                if leaves_s > since_s + window_s:
                    break
                row = rows[0] + vehicle
                run = int(piece.vehicle_run[row])
                calls.append(
                    BoardCall(
                        run=run,
                        service_day=date.fromordinal(int(piece.vehicle_day[row])),
                        event=(int(timetable.trip_first_event[timetable.run_trip[run]]) if run >= 0 else 0) + position,
                        departure=piece.to_instant(leaves_s),
                    )
                )
                vehicle += 1
    return calls
