"""The stop time updates of many trips as flat columns: each field is read once, and everything else is arithmetic."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Int32, Int64, UInt8

StopTimeProperties = TripUpdate.StopTimeUpdate.StopTimeProperties
_SHUT = StopTimeProperties.NONE

# No number is stated.
NONE = -(1 << 62)
# stop: no id is stated; an id is stated that the feed does not have.
NO_STOP, UNKNOWN_STOP = -1, -2

SCHEDULED, SKIPPED, NO_DATA, UNSCHEDULED = range(4)


class TripCalls(NamedTuple):
    """A trip update and the stops of its feed, by id."""

    update: TripUpdate
    stops: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallColumns:
    """Calls of trips; those of trip i are rows ``first[i] .. first[i + 1]``.

    ``arrival`` and ``departure`` are Unix seconds, ``_delay_s`` seconds and read only where there is no time;
    all are NONE where not stated. ``sequence`` is -1 where not stated. ``assigned`` is another stop than planned.
    ``opened`` and ``closed`` are the flags of events whose doors are stated to open, or to stay shut.
    """

    first: Int64
    sequence: Int64
    stop: Int32
    relationship: Int32
    arrival: Int64
    arrival_delay_s: Int64
    departure: Int64
    departure_delay_s: Int64
    assigned: Int32
    opened: UInt8
    closed: UInt8


def read_calls(trips: Iterable[TripCalls]) -> CallColumns:
    """Read the calls of trips."""
    counts: list[int] = []
    sequences: list[int] = []
    stops: list[int] = []
    relationships: list[int] = []
    arrivals: list[int] = []
    departures: list[int] = []
    # Few feeds state delays without times, or other stops: these are told apart by row.
    delays: dict[tuple[int, bool], int] = {}
    assigned: dict[int, int] = {}
    doors: dict[int, tuple[int, int]] = {}
    row = 0
    # One plain loop: it was measured faster than a comprehension for each field.
    for update, stop_rows in trips:
        calls = update.stop_time_update
        counts.append(len(calls))
        find_stop = stop_rows.get
        for call in calls:
            sequence = call.stop_sequence
            if not sequence and not call.HasField("stop_sequence"):
                sequence = -1
            sequences.append(sequence)
            stop_id = call.stop_id
            stops.append(find_stop(stop_id, UNKNOWN_STOP) if stop_id else NO_STOP)
            relationships.append(call.schedule_relationship)
            event = call.arrival
            time = event.time
            arrivals.append(time)
            if not time and event.HasField("delay"):
                delays[row, True] = event.delay
            event = call.departure
            time = event.time
            departures.append(time)
            if not time and event.HasField("delay"):
                delays[row, False] = event.delay
            if call.HasField("stop_time_properties"):
                properties = call.stop_time_properties
                doors[row] = read_doors(properties)
                stop_id = properties.assigned_stop_id
                if stop_id:
                    assigned[row] = find_stop(stop_id, UNKNOWN_STOP)
            row += 1
    first = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    arrival_delay_s, departure_delay_s = np.full(row, NONE, np.int64), np.full(row, NONE, np.int64)
    for (at, is_arrival), delay_s in delays.items():
        (arrival_delay_s if is_arrival else departure_delay_s)[at] = delay_s
    assigned_stop = np.full(row, NO_STOP, np.int32)
    assigned_stop[list(assigned)] = list(assigned.values())
    opened, closed = np.zeros(row, np.uint8), np.zeros(row, np.uint8)
    for at, (open_flags, shut_flags) in doors.items():
        opened[at], closed[at] = open_flags, shut_flags
    return CallColumns(
        first=first,
        sequence=np.array(sequences, np.int64),
        stop=np.array(stops, np.int32),
        relationship=np.array(relationships, np.int32),
        arrival=_stated(arrivals),
        arrival_delay_s=arrival_delay_s,
        departure=_stated(departures),
        departure_delay_s=departure_delay_s,
        assigned=assigned_stop,
        opened=opened,
        closed=closed,
    )


def read_doors(told: StopTimeProperties) -> tuple[int, int]:
    """Return the flags of events whose doors are stated to open, and of those that are to stay shut.

    StopTimeProperties.pickup_type and drop_off_type; by arrangement is open.
    """
    opened = closed = 0
    for name, flag in (("pickup_type", NO_BOARDING), ("drop_off_type", NO_ALIGHTING)):
        if told.HasField(name):
            if getattr(told, name) == _SHUT:
                closed |= flag
            else:
                opened |= flag
    return opened, closed


def _stated(times: list[int]) -> Int64:
    column = np.array(times, np.int64)
    column[column == 0] = NONE
    return column
