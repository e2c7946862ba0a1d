"""List the next departures from the given stops, using a search timetable (a departure board)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from fingerpost.transit.engine.raptor.kernel.range_raptor import list_departures
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable
from fingerpost.transit.engine.timetable.timetable import Int32, Int64, Timetable


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardDeparture:
    trip_departure: int  # this and ``stop_time`` are as in ``journeys.Ride``
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
    """Return the departures in [instant, instant + window_s], both inclusive, in chronological order, and their number.

    If ``wanted`` is given, only that many are returned, plus any that leave in the same second as the last of them.
    Stop times without pickup, or without a later drop-off, are left out.
    """
    since_s = search_timetable.to_search_s(instant)
    board_stops = search_timetable.search_stops.expand(np.array(sorted(set(stops)), np.int32))[1]
    patterns, no_walk = search_timetable.patterns, np.zeros(len(board_stops), np.int32)
    found = list_departures(patterns, board_stops, no_walk, since_s, since_s + window_s)
    departs_s, pattern, instance, position, _ = found.T
    row = patterns.instance_first[pattern] + instance
    part, position = _find_parts(search_timetable, row, position.astype(np.int64))
    if not search_timetable.parts.is_plain:
        # A trip with in-seat transfers may be part of several instances.
        unique = np.unique(np.column_stack([search_timetable.parts.ride[part], position]), axis=0, return_index=True)[1]
        row, departs_s, part, position = row[unique], departs_s[unique], part[unique], position[unique]
    order = np.lexsort((row, departs_s))
    if wanted is not None and 0 < wanted < len(order):
        order = order[: np.searchsorted(departs_s[order], departs_s[order[wanted - 1]], "right")]
    stop_times = zip(part[order].tolist(), position[order].tolist(), departs_s[order].tolist(), strict=True)
    departures = [
        BoardDeparture(
            trip_departure=(trip_departure := int(search_timetable.parts.trip_departure[part_row])),
            service_day=date.fromordinal(int(search_timetable.parts.day[part_row])),
            stop_time=timetable.find_first_stop_time(trip_departure) + position_in_trip,
            departure=search_timetable.to_instant(departure_s),
        )
        for part_row, position_in_trip, departure_s in stop_times
    ]
    return departures, len(row)


def _find_parts(search_timetable: SearchTimetable, row: Int32, position: Int64) -> tuple[Int64, Int64]:
    """Return the part of each instance (a row) in which a position is, and the position in that part."""
    parts, instance = search_timetable.parts, search_timetable.instance_parts[row]
    if parts.is_plain:
        return instance, position
    # Parts are sorted by instance, then by position.
    longest = np.int64(search_timetable.longest_pattern + 1)
    key = np.repeat(np.arange(len(parts.first) - 1), np.diff(parts.first)) * longest + parts.position
    part = np.searchsorted(key, instance * longest + position, "right") - 1
    return part, position - parts.position[part]
