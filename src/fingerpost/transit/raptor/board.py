"""The departure board of some stops, read from a slice."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from fingerpost.transit.raptor.chains import DaySlice
from fingerpost.transit.raptor.kernel.searching import list_calls
from fingerpost.transit.timetable.timetable import Timetable


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCall:
    """A vehicle that can be boarded; ``run`` and ``event`` as in ``journeys.Ride``."""

    run: int
    service_day: date
    event: int
    departure: int  # Unix seconds


def list_board_calls(
    timetable: Timetable, piece: DaySlice, stops: Sequence[int], instant: int, window_s: int, wanted: int | None = None
) -> tuple[list[BoardCall], int]:
    """Return the calls at the stops that leave in [instant, instant + window_s], both ends included, and their number.

    They come in the order in which they leave; ``wanted`` bounds how many of the first are returned.
    A call at which nobody may board is not a departure, and neither is the last call of a trip.
    """
    since_s = piece.to_slice_s(instant)
    rows = list_calls(piece.chains, np.array(sorted(set(stops)), np.int32), since_s, since_s + window_s)
    order = np.lexsort((rows[:, 0], rows[:, 2]))[:wanted]
    return [_board_call(timetable, piece, *row) for row in rows[order].tolist()], len(rows)


def _board_call(timetable: Timetable, piece: DaySlice, vehicle: int, position: int, departure_s: int) -> BoardCall:
    run = int(piece.vehicle_run[vehicle])
    first_event = int(timetable.trip_first_event[timetable.run_trip[run]]) if run >= 0 else 0
    return BoardCall(
        run=run,
        service_day=date.fromordinal(int(piece.vehicle_day[vehicle])),
        event=first_event + position,
        departure=piece.to_instant(departure_s),
    )
