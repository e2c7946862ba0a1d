"""Read GTFS ``stop_times.txt`` and ``frequencies.txt``: the stop times and departures of trips.

Times are in seconds after noon minus 12 h on the service day (GTFS Schedule reference, field type "Time").
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.field_values import parse_integer, parse_time_s
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.kernel import BLANK, UNREADABLE
from fingerpost.transit.engine.gtfs.csv.table import Block, ColumnBuffer, IdIndex, Table
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import NO_INT32, NO_UINT8, mark_rows, take_rows, to_columns
from fingerpost.transit.engine.timetable.draft import StopTimeColumns, TripDepartureColumns
from fingerpost.transit.engine.timetable.timetable import (
    BY_ARRANGEMENT,
    INTERPOLATED,
    NO_ALIGHTING,
    NO_BOARDING,
    STOP,
    Bool,
    Int32,
    Int64,
    UInt8,
)
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE

_MIN_STOP_TIMES = 2

# Values of pickup_type and drop_off_type.
_REGULAR, _NONE, _PHONE, _DRIVER = range(4)
_COLUMNS = (
    "trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time",
    "pickup_type", "drop_off_type", "stop_headsign",
    # GTFS-Flex: an area instead of a stop, and a window instead of a time.
    "location_id", "location_group_id", "start_pickup_drop_off_window", "end_pickup_drop_off_window",
)  # fmt: skip
_PICKUP, _DROP_OFF, _HEADSIGN = range(5, 8)
_FLEX = slice(8, 12)
# Limits on the departures generated from one row and in one feed; larger numbers are publishers' errors.
MAX_DEPARTURES_PER_ROW = 10_000
MAX_DEPARTURES_PER_FEED = 5_000_000


class StopTimes(NamedTuple):
    """Columns of stop times during the import; ``line`` is the line in the file. Missing times are negative."""

    line: Int32 = NO_INT32
    trip: Int32 = NO_INT32
    stop: Int32 = NO_INT32
    sequence: Int32 = NO_INT32
    arrival_s: Int32 = NO_INT32
    departure_s: Int32 = NO_INT32
    flags: UInt8 = NO_UINT8
    headsign: Int32 = NO_INT32


def fill_times(stop_times: StopTimes, stops: Stops) -> tuple[StopTimes, Int64]:
    """Interpolate missing times; return the stop times and the rows that were interpolated.

    The stop times must be sorted by trip and sequence. Times are interpolated in proportion to the straight-line
    distance between the previous departure and the next arrival. With equal time steps instead, a trip could reach a
    distant stop within a minute. Times before a trip's first given time or after its last one remain missing.
    """
    if not ((stop_times.arrival_s < 0).any() or (stop_times.departure_s < 0).any()):
        return stop_times, np.zeros(0, np.int64)
    arrival_s = np.where(stop_times.arrival_s < 0, stop_times.departure_s, stop_times.arrival_s)
    departure_s = np.where(stop_times.departure_s < 0, stop_times.arrival_s, stop_times.departure_s)
    blank = np.flatnonzero(arrival_s < 0)
    position = np.arange(len(arrival_s))
    is_timed = arrival_s >= 0
    previous = np.maximum.accumulate(np.where(is_timed, position, -1))[blank]
    following = np.minimum.accumulate(np.where(is_timed, position, len(position))[::-1])[::-1][blank]
    is_enclosed = (previous >= 0) & (following < len(position))
    is_enclosed[is_enclosed] = (stop_times.trip[previous[is_enclosed]] == stop_times.trip[blank[is_enclosed]]) & (
        stop_times.trip[following[is_enclosed]] == stop_times.trip[blank[is_enclosed]]
    )
    blank, previous, following = blank[is_enclosed], previous[is_enclosed], following[is_enclosed]
    start_s, end_s = departure_s[previous].astype(np.int64), arrival_s[following].astype(np.int64)
    # Only trips with missing times need positions; a large feed may have few such trips.
    rows = np.flatnonzero(mark_rows(int(stop_times.trip.max()) + 1, stop_times.trip[blank])[stop_times.trip])
    cumulative_m = np.zeros(len(arrival_s))
    positions = np.array([(row.lat, row.lon) for row in stops.rows], np.float64).reshape(-1, 2)[stop_times.stop[rows]]
    north, east = np.diff(positions, axis=0, prepend=positions[:1]).T
    cumulative_m[rows] = np.cumsum(np.hypot(north, east * np.cos(np.radians(positions[:, 0]))) * METRES_PER_DEGREE)
    covered_m, total_m = cumulative_m[blank] - cumulative_m[previous], cumulative_m[following] - cumulative_m[previous]
    # Use equal steps between stops at the same position.
    covered_m, total_m = np.where(total_m < 1.0, (blank - previous, following - previous), (covered_m, total_m))
    # Rounding errors may put a time just below a whole second.
    interpolated_s = start_s + np.floor((end_s - start_s) * covered_m / total_m + 1e-3).astype(np.int64)
    arrival_s[blank] = departure_s[blank] = interpolated_s.astype(np.int32)
    flags = stop_times.flags.copy()
    flags[blank] |= INTERPOLATED
    return stop_times._replace(arrival_s=arrival_s, departure_s=departure_s, flags=flags), blank


def read_stop_times(archive: Archive, stops: Stops, trips: Trips, headsigns: IdIndex) -> tuple[Trips, StopTimeColumns]:
    """Read stop times, sorted or not; return the usable trips and their stop times.

    Stop times in an area or within a time window are on demand (GTFS-Flex); they are skipped, and their trips reported.
    """
    table = archive.get_table("stop_times.txt", "trip_id", "stop_sequence")
    is_flex = any(name in table.columns for name in _COLUMNS[_FLEX])
    if not is_flex:
        table.require(("stop_id", "arrival_time") if "departure_time" not in table.columns else ("stop_id",))
    stop_times, is_on_demand = _read_rows(table, stops, trips, headsigns, is_flex=is_flex)
    stop_times = _sort_rows(table, stop_times)
    filled, interpolated = fill_times(stop_times, stops)
    table.note_rows(Reason.CALL_TIME_WORKED_OUT, stop_times.line[interpolated], "arrival_time")
    is_usable, count = _mark_usable_trips(archive, filled, trips, is_on_demand)
    stop_times = filled if is_usable.all() else take_rows(filled, is_usable[filled.trip])
    trips = replace(trips.select(is_usable), stop_time_count=count[is_usable].astype(np.int32))
    return trips, StopTimeColumns(*stop_times[2:])


def _read_rows(
    table: Table, stops: Stops, trips: Trips, headsigns: IdIndex, *, is_flex: bool
) -> tuple[StopTimes, Bool]:
    """Return the stop times of known trips at boardable stops, in file order, and a mask of the on-demand trips."""
    stop_ids = IdIndex(stops.row_by_id)
    boardable = np.array([row.kind == STOP for row in stops.rows] + [False], np.bool_)
    is_on_demand = np.zeros(len(trips) + 1, np.bool_)
    buffer = ColumnBuffer({name: empty.dtype for name, empty in StopTimes._field_defaults.items()})
    for block in table.read_blocks(*(_COLUMNS if is_flex else _COLUMNS[: _FLEX.start])):
        trip, stop = trips.ids.find(block, 0), stop_ids.find(block, 1)
        usable = np.ones(len(trip), np.bool_)
        if is_flex:
            flex = np.logical_or.reduce([block.is_filled(column) for column in range(_FLEX.start, _FLEX.stop)])
            is_on_demand[trip[flex & (trip >= 0)]] = True
            usable &= ~flex
        is_skipped = trip < 0
        if is_skipped.any():
            is_skipped = trips.skipped.find(block, 0) >= 0
        sequence, no_sequence = block.read_integers(2, -1)
        faults = (
            (Reason.CALL_OF_SKIPPED_TRIP, "trip_id", is_skipped),
            (Reason.CALL_OF_UNKNOWN_TRIP, "trip_id", trip < 0),
            (Reason.CALL_AT_UNKNOWN_STOP, "stop_id", stop < 0),
            (Reason.CALL_AT_STATION_ENTRANCE_OR_NODE, "stop_id", (stop >= 0) & ~boardable[np.maximum(stop, -1)]),
            (Reason.CALL_SEQUENCE_UNREADABLE, "stop_sequence", no_sequence | (sequence < 0)),
        )
        usable = table.drop_faulty(block.lines, usable, faults)
        columns: dict[str, Any] = {
            "line": block.lines,
            "trip": trip,
            "sequence": sequence,
            "stop": stop,
            "arrival_s": _read_times_s(table, block, 3, usable),
            "departure_s": _read_times_s(table, block, 4, usable),
            "flags": _read_flags(table, block, usable),
            "headsign": headsigns.intern(block, _HEADSIGN),
        }
        buffer.append(columns, usable)
    return StopTimes(**buffer.finish()), is_on_demand[:-1]


def _read_times_s(table: Table, block: Block, column: int, usable: Bool) -> Int32:
    times_s = block.read_times_s(column)
    faulty = times_s == UNREADABLE
    if faulty.any():
        table.note_rows(Reason.CALL_TIME_UNREADABLE_ASSUMED, block.lines[faulty & usable], _COLUMNS[column])
        times_s[faulty] = BLANK
    return times_s


def _read_flags(table: Table, block: Block, usable: Bool) -> UInt8:
    flags = np.zeros(len(block.lines), np.uint8)
    for column, flag in ((_PICKUP, NO_BOARDING), (_DROP_OFF, NO_ALIGHTING)):
        if _COLUMNS[column] not in table.columns:
            continue
        kind = table.read_choices(block, column, _COLUMNS[column], _REGULAR, range(_REGULAR, _DRIVER + 1), usable)
        flags[kind == _NONE] |= flag
        flags[kind >= _PHONE] |= BY_ARRANGEMENT
    return flags


def _sort_rows(table: Table, stop_times: StopTimes) -> StopTimes:
    """Sort by trip, then sequence; equal sequences in a trip remain in file order and are reported."""
    key = stop_times.trip.astype(np.int64) << 32 | stop_times.sequence
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key, kind="stable")
        stop_times, key = take_rows(stop_times, order), key[order]
    repeated = 1 + np.flatnonzero(key[1:] == key[:-1])
    table.note_rows(Reason.CALL_ORDER_ASSUMED, stop_times.line[repeated], "stop_sequence")
    return stop_times


def _mark_usable_trips(archive: Archive, stop_times: StopTimes, trips: Trips, is_on_demand: Bool) -> tuple[Bool, Int64]:
    """Return a mask of the usable trips, and each trip's number of stop times; report the other trips."""
    trip, arrival_s, departure_s = stop_times.trip, stop_times.arrival_s, stop_times.departure_s
    count = np.bincount(trip, minlength=len(trips))
    is_backward = departure_s < arrival_s
    is_backward[1:] |= (trip[1:] == trip[:-1]) & (arrival_s[1:] < departure_s[:-1])
    is_short = count < _MIN_STOP_TIMES
    faults = (
        (Reason.TRIP_ON_DEMAND_UNSUPPORTED, "", is_on_demand & is_short),
        (Reason.TRIP_WITH_FEWER_THAN_TWO_CALLS, "", is_short),
        (Reason.TRIP_WITHOUT_END_TIMES, "", mark_rows(len(trips), trip[arrival_s < 0])),
        (Reason.TRIP_RUNS_BACKWARDS, "", mark_rows(len(trips), trip[is_backward])),
    )
    is_usable = archive.findings.drop_faulty("trips.txt", trips.lines, np.ones(len(trips), np.bool_), faults)
    archive.findings.add_many(Reason.TRIP_DETOURS_UNSUPPORTED, "trips.txt", trips.lines[is_on_demand & is_usable])
    return is_usable, count


def read_trip_departures(archive: Archive, trips: Trips, stop_times: StopTimeColumns) -> TripDepartureColumns:
    """Return the trip departures of all trips, in trip order; a trip without frequencies departs once."""
    table = archive.find_optional_table("frequencies.txt", "trip_id", "start_time", "end_time", "headway_secs")
    departs_once = np.ones(len(trips), np.bool_)
    trip_departures: list[tuple[int, int, int]] = []
    if table is not None:
        first_departure_s = stop_times.departure_s[trips.stop_time_count.cumsum() - trips.stop_time_count].tolist()
        rows = {trip_id: row for row, trip_id in enumerate(trips.ids.to_texts())}
        columns = ("trip_id", "start_time", "end_time", "headway_secs", "exact_times")
        for line, (trip_id, start_text, end_text, headway_text, exact_text) in table.read_rows(*columns):
            start_s, end_s, headway_s = parse_time_s(start_text), parse_time_s(end_text), parse_integer(headway_text)
            trip = rows.get(trip_id)
            if trip is None:
                table.note(Reason.FREQUENCY_OF_UNKNOWN_TRIP, line, "trip_id")
                continue
            if start_s is None or end_s is None or headway_s is None or headway_s <= 0:
                column = "start_time" if start_s is None else "end_time" if end_s is None else "headway_secs"
                table.note(Reason.FREQUENCY_UNREADABLE, line, column)
                continue
            if exact_text not in {"", "0", "1"}:
                table.note(Reason.VALUE_UNREADABLE_ASSUMED, line, "exact_times")
            starts_s = range(start_s, end_s, headway_s)
            if len(starts_s) > MAX_DEPARTURES_PER_ROW or len(trip_departures) + len(starts_s) > MAX_DEPARTURES_PER_FEED:
                table.note(Reason.FREQUENCY_UNREADABLE, line, "headway_secs")
                continue
            departs_once[trip] = False
            if not starts_s:
                table.note(Reason.FREQUENCY_UNREADABLE, line, "end_time")
            stored_headway_s = 0 if exact_text == "1" else headway_s
            trip_departures += [(trip, time_s - first_departure_s[trip], stored_headway_s) for time_s in starts_s]
    single = np.flatnonzero(departs_once)
    repeated = np.array(trip_departures, np.int32).reshape(-1, 3)
    all_departures = np.concatenate([np.column_stack([single, np.zeros((len(single), 2), np.int32)]), repeated])
    all_departures = all_departures[np.argsort(all_departures[:, 0], kind="stable")]
    return to_columns(TripDepartureColumns, dict(zip(TripDepartureColumns._fields, all_departures.T, strict=True)))
