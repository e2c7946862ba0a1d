"""The departure board of some stops, read from a slice."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from fingerpost.transit.raptor.kernel.range_raptor import list_calls
from fingerpost.transit.raptor.search_timetable.build import DaySlice
from fingerpost.transit.timetable.timetable import Int32, Int64, Timetable


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
    wanted_stops = piece.changing.expand(np.array(sorted(set(stops)), np.int32))[1]
    rows = list_calls(piece.chains, wanted_stops, since_s, since_s + window_s)
    part, position = _parts_of(piece, rows)
    if not piece.parts.is_plain:
        # A ride may be part of several vehicles: its calls are there once for each.
        once = np.unique(np.column_stack([piece.parts.ride[part], position]), axis=0, return_index=True)[1]
        rows, part, position = rows[once], part[once], position[once]
    order = np.lexsort((rows[:, 0], rows[:, 2]))[:wanted]
    calls = zip(part[order].tolist(), position[order].tolist(), rows[order, 2].tolist(), strict=True)
    return [_board_call(timetable, piece, *call) for call in calls], len(rows)


def _parts_of(piece: DaySlice, rows: Int32) -> tuple[Int64, Int64]:
    """Return, for each call of a vehicle, its ride as a row of the slice's parts, and the position in the ride."""
    parts, vehicle = piece.parts, piece.vehicle_parts[rows[:, 0]]
    position = rows[:, 1].astype(np.int64)
    if parts.is_plain:
        return vehicle, position
    # Parts stand in the order of their vehicles, and each vehicle's in the order in which it runs.
    longest = np.int64(piece.longest_chain + 1)
    key = np.repeat(np.arange(len(parts.first) - 1), np.diff(parts.first)) * longest + parts.position
    part = np.searchsorted(key, vehicle * longest + position, "right") - 1
    return part, position - parts.position[part]


def _board_call(timetable: Timetable, piece: DaySlice, part: int, position: int, departure_s: int) -> BoardCall:
    run = int(piece.parts.run[part])
    first_event = int(timetable.trip_first_event[timetable.run_trip[run]]) if run >= 0 else 0
    return BoardCall(
        run=run,
        service_day=date.fromordinal(int(piece.parts.day[part])),
        event=first_event + position,
        departure=piece.to_instant(departure_s),
    )
