"""``stop_times.txt``: the calls of every trip, straight into arrays.

Times are seconds from noon minus 12 h of the service day (GTFS Schedule reference, field type "Time").
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.call_times import Calls, fill_times, mark_backward_trips, mark_trips_without_ends
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.headsigns import Headsigns
from fingerpost.transit.gtfs.stops import Stops
from fingerpost.transit.gtfs.table import Table, find_integer, find_time_s
from fingerpost.transit.gtfs.trips import LEFT_OUT, Trips
from fingerpost.transit.timetable.timetable import BY_ARRANGEMENT, NO_ALIGHTING, NO_BOARDING, STOP, Int32, UInt8

_BLANK = -1
_UNREADABLE = -3
_UNKNOWN = -4

# Nobody rides a trip that calls once.
_FEWEST_CALLS = 2

# pickup_type and drop_off_type
_REGULAR, _NONE, _PHONE, _DRIVER = range(4)
_COLUMNS = (
    "trip_id",
    "stop_id",
    "stop_sequence",
    "arrival_time",
    "departure_time",
    "pickup_type",
    "drop_off_type",
    "stop_headsign",
)


class Events(NamedTuple):
    """Calls of one feed's trips, trip after trip, each in calling order; ``per_trip`` says how many each trip has."""

    per_trip: Int32
    stop: Int32
    sequence: Int32
    arrival_s: Int32
    departure_s: Int32
    flags: UInt8
    headsign: Int32


class _Meanings(dict[str, int]):
    """What each text of a column means: worked out when first met, looked up ever after."""

    def __init__(self, mean: Callable[[str], int]) -> None:
        super().__init__()
        self._mean = mean

    def __missing__(self, text: str) -> int:
        value = self[text] = self._mean(text.strip())
        return value

    def column(self, texts: list[str]) -> Int32:
        return np.fromiter(map(self.__getitem__, texts), np.int32, count=len(texts))


def read_stop_times(
    archive: Archive, stops: Stops, trips: Trips, headsigns: Headsigns, findings: Findings
) -> tuple[Trips, Events]:
    """Read the calls; return them with the trips that have enough of them to carry anybody.

    Rows need not be sorted. Where one of a call's two times is given it is both.

    Raises:
        FeedUnusable: a sequence or a time cannot be read.
    """
    table = archive.get_table("stop_times.txt", "trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time")
    columns = _read_columns(table, stops.row_of, trips.row_of, headsigns)
    _check_readable(table, columns)
    calls = _usable_calls(table, columns, stops, findings)
    calls = _in_order(table, calls, findings)
    filled, worked_out = fill_times(calls)
    _add_first(table, findings, Reason.CALL_TIME_WORKED_OUT, calls.row[worked_out])
    kept = _usable_trips(filled, trips, findings)
    calls = filled.where(kept[filled.trip])
    count = np.bincount(calls.trip, minlength=len(trips.rows))[kept].astype(np.int32)
    times = (calls.arrival_s, calls.departure_s)
    return trips.keep(kept), Events(count, calls.stop, calls.sequence, *times, calls.flags, calls.headsign)


def _read_columns(
    table: Table, stop_index: Mapping[str, int], trip_index: Mapping[str, int], headsigns: Headsigns
) -> dict[str, Int32]:
    meanings = {
        "trip_id": _Meanings(lambda text: trip_index.get(text, _UNKNOWN)),
        "stop_id": _Meanings(lambda text: stop_index.get(text, _UNKNOWN)),
        "stop_sequence": _Meanings(_sequence),
        "arrival_time": _Meanings(_time_s),
        "departure_time": _Meanings(_time_s),
        "pickup_type": _Meanings(_boarding),
        "drop_off_type": _Meanings(_boarding),
        "stop_headsign": _Meanings(headsigns.row),
    }
    parts: dict[str, list[Int32]] = {name: [np.zeros(0, np.int32)] for name in _COLUMNS}
    for chunk in table.chunks(*_COLUMNS):
        for name, texts in zip(_COLUMNS, chunk, strict=True):
            parts[name].append(meanings[name].column(texts))
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _sequence(text: str) -> int:
    value = find_integer(text)
    return _UNREADABLE if value is None or value < 0 else value


def _time_s(text: str) -> int:
    if not text:
        return _BLANK
    value = find_time_s(text)
    return _UNREADABLE if value is None else value


def _boarding(text: str) -> int:
    value = find_integer(text) if text else _REGULAR
    return _UNREADABLE if value is None or not _REGULAR <= value <= _DRIVER else value


def _check_readable(table: Table, columns: dict[str, Int32]) -> None:
    wanted = {
        "stop_sequence": "a whole number, 0 or more",
        "arrival_time": "a time written H:MM:SS",
        "departure_time": "a time written H:MM:SS",
        "pickup_type": "0, 1, 2 or 3",
        "drop_off_type": "0, 1, 2 or 3",
    }
    for name, what in wanted.items():
        faulty = np.flatnonzero(columns[name] == _UNREADABLE)
        if len(faulty):
            row = int(faulty[0])
            line = table.lines_of([row])[row]
            text = next(fields[0] for at, fields in table.rows(name) if at == line)
            raise table.fault(line, name, text, what)


def _usable_calls(table: Table, columns: dict[str, Int32], stops: Stops, findings: Findings) -> Calls:
    """Leave out calls of no trip and calls where nobody can board, and count each under its first reason."""
    trip, stop = columns["trip_id"], columns["stop_id"]
    kinds = np.array([row.kind for row in stops.rows], np.int8)
    boardable = np.zeros(len(stop), np.bool_)
    known = stop >= 0
    boardable[known] = kinds[stop[known]] == STOP
    usable = np.ones(len(trip), np.bool_)
    for reason, faulty in (
        (Reason.CALL_OF_UNKNOWN_TRIP, trip == _UNKNOWN),
        (Reason.CALL_OF_LEFT_OUT_TRIP, trip == LEFT_OUT),
        (Reason.CALL_AT_UNKNOWN_STOP, stop == _UNKNOWN),
        (Reason.CALL_AT_LEFT_OUT_STOP, stop == LEFT_OUT),
        (Reason.CALL_WHERE_NOBODY_BOARDS, known & ~boardable),
    ):
        _add_first(table, findings, reason, np.flatnonzero(usable & faulty))
        usable &= ~faulty
    pickup, drop_off = columns["pickup_type"], columns["drop_off_type"]
    flags = np.where(pickup == _NONE, NO_BOARDING, 0) | np.where(drop_off == _NONE, NO_ALIGHTING, 0)
    flags |= np.where((pickup >= _PHONE) | (drop_off >= _PHONE), BY_ARRANGEMENT, 0)
    return Calls(
        row=np.arange(len(trip)),
        trip=trip,
        sequence=columns["stop_sequence"],
        stop=stop,
        arrival_s=columns["arrival_time"],
        departure_s=columns["departure_time"],
        flags=flags.astype(np.uint8),
        headsign=columns["stop_headsign"],
    ).where(usable)


def _in_order(table: Table, calls: Calls, findings: Findings) -> Calls:
    """Sort by trip, then sequence; equal sequences of a trip stay in the order of the file, and are counted."""
    key = calls.trip.astype(np.int64) << 32 | calls.sequence
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key, kind="stable")
        calls, key = calls.at(order), key[order]
    _add_first(table, findings, Reason.CALL_ORDER_ASSUMED, calls.row[1:][key[1:] == key[:-1]])
    return calls


def _usable_trips(calls: Calls, trips: Trips, findings: Findings) -> npt.NDArray[np.bool_]:
    kept = np.ones(len(trips.rows), np.bool_)
    few = np.bincount(calls.trip, minlength=len(kept)) < _FEWEST_CALLS
    for reason, faulty in (
        (Reason.TRIP_WITH_FEWER_THAN_TWO_CALLS, few),
        (Reason.TRIP_WITHOUT_END_TIMES, mark_trips_without_ends(calls, len(kept))),
        (Reason.TRIP_RUNS_BACKWARDS, mark_backward_trips(calls, len(kept))),
    ):
        rows = np.flatnonzero(kept & faulty)
        if len(rows):
            findings.add(reason, "trips.txt", trips.lines[int(rows[0])], len(rows))
        kept &= ~faulty
    return kept


def _add_first(table: Table, findings: Findings, reason: Reason, rows: npt.NDArray[np.int64]) -> None:
    """Count rows of the table, and name the line of the earliest."""
    if len(rows):
        first = int(rows.min())
        findings.add(reason, table.name, table.lines_of([first])[first], len(rows))
