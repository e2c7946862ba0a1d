"""Stop times as columns, and the interpolation of missing times."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Float32, Int32, Int64, UInt8

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTimeColumns:
    """Stop times of trips as columns of one length. Times are seconds, negative where missing.

    ``row`` is the row of the table that each comes from, None where every row is here, in the table's order.
    ``shape_dist`` is shape_dist_traveled, NaN where missing; it and ``headsign`` are None where they were not read.
    """

    row: Int32 | None
    trip: Int32
    sequence: Int32
    stop: Int32
    arrival_s: Int32
    departure_s: Int32
    flags: UInt8
    headsign: Int32 | None = None
    shape_dist: Float32 | None = None

    def at(self, index: Int64 | Mask) -> "StopTimeColumns":
        columns: dict[str, Any] = {column.name: getattr(self, column.name) for column in fields(self)}
        columns = {name: None if values is None else values[index] for name, values in columns.items()}
        if self.row is None:
            columns["row"] = np.arange(len(self.trip), dtype=np.int32)[index]
        return StopTimeColumns(**columns)

    def rows_at(self, positions: Int64) -> Int32:
        return positions.astype(np.int32) if self.row is None else self.row[positions]


def fill_times(stop_times: StopTimeColumns) -> tuple[StopTimeColumns, Int64]:
    """Fill missing times of stop times sorted by trip and sequence; return where a time was worked out.

    Where one of the two times is given it is both. Where none is, the time lies on a straight line, stop by stop,
    between the departure before and the arrival after, rounded down to a whole second.
    Stop times before a trip's first time or after its last stay without one.
    """
    if not ((stop_times.arrival_s < 0).any() or (stop_times.departure_s < 0).any()):
        return stop_times, np.zeros(0, np.int64)
    arrival_s = np.where(stop_times.arrival_s < 0, stop_times.departure_s, stop_times.arrival_s)
    departure_s = np.where(stop_times.departure_s < 0, stop_times.arrival_s, stop_times.departure_s)
    blank = np.flatnonzero(arrival_s < 0)
    if len(blank) == 0:
        return replace(stop_times, arrival_s=arrival_s, departure_s=departure_s), blank
    position = np.arange(len(arrival_s))
    timed = arrival_s >= 0
    before = np.maximum.accumulate(np.where(timed, position, -1))[blank]
    after = np.minimum.accumulate(np.where(timed, position, len(position))[::-1])[::-1][blank]
    inside = (before >= 0) & (after < len(position))
    inside[inside] = (stop_times.trip[before[inside]] == stop_times.trip[blank[inside]]) & (
        stop_times.trip[after[inside]] == stop_times.trip[blank[inside]]
    )
    blank, before, after = blank[inside], before[inside], after[inside]
    start_s, end_s = departure_s[before].astype(np.int64), arrival_s[after].astype(np.int64)
    between_s = start_s + (end_s - start_s) * (blank - before) // (after - before)
    arrival_s[blank] = departure_s[blank] = between_s.astype(np.int32)
    return replace(stop_times, arrival_s=arrival_s, departure_s=departure_s), blank
