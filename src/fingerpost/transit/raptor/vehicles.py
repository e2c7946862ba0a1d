"""The vehicles of a slice before they become chains: which run on which day, and every call, as columns."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from fingerpost.transit.raptor.arrays import Bool
from fingerpost.transit.raptor.kernel.chaining import gather_calls
from fingerpost.transit.timetable.service_days import service_day_start, services_on
from fingerpost.transit.timetable.timetable import (
    NO_ALIGHTING,
    NO_BOARDING,
    WHEELCHAIR_NO,
    Int32,
    Int64,
    Timetable,
    UInt8,
)

DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Vehicles:
    """Vehicles and their calls. Calls of vehicle v are rows ``first[v] .. first[v + 1]``.

    ``run`` is a row of the timetable's runs, or -1 - i for the i-th added ride of an overlay.
    ``day`` is the service day (date.toordinal). Times are seconds from the start of the slice's day.
    """

    run: Int64
    day: Int32
    first: Int64
    stop: Int32
    flags: UInt8
    arrival_s: Int32
    departure_s: Int32

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return len(self.run)


def starts_of(sizes: Int64) -> Int64:
    """Return where each of a row of blocks begins, and the end."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def rows_of(first: Int64, vehicles: Int64) -> Int64:
    """Return the rows of the calls of some vehicles, one behind the other."""
    length = first[vehicles + 1] - first[vehicles]
    begin = starts_of(length)
    rows: Int64 = np.repeat(first[vehicles] - begin[:-1], length) + np.arange(begin[-1])
    return rows


def gather_vehicles(timetable: Timetable, day: date, start: int, since_s: int, until_s: int) -> Vehicles:
    """Return all vehicles of the timetable that are under way in [since_s, until_s] of a day.

    ``start`` is the Unix second at which that day begins.
    """
    run, shift_s, ordinal = _list_vehicles(timetable, day, start, since_s, until_s)
    trip = timetable.run_trip[run].astype(np.int64)
    first = starts_of(timetable.trip_first_event[trip + 1] - timetable.trip_first_event[trip])
    count = int(first[-1])
    stop, flags = np.empty(count, np.int32), np.empty(count, np.uint8)
    arrival_s, departure_s = np.empty(count, np.int32), np.empty(count, np.int32)
    gather_calls(
        trip, shift_s, timetable.trip_first_event, timetable.event_stop, timetable.event_flags,
        timetable.event_arrival_s, timetable.event_departure_s, first, stop, flags, arrival_s, departure_s,
    )  # fmt: skip
    return Vehicles(
        run=run, day=ordinal, first=first, stop=stop, flags=flags, arrival_s=arrival_s, departure_s=departure_s
    )


def _list_vehicles(
    timetable: Timetable, day: date, start: int, since_s: int, until_s: int
) -> tuple[Int64, Int64, Int32]:
    """Return run, time shift and service day of the vehicles."""
    first_event, last_event = timetable.trip_first_event[:-1], timetable.trip_first_event[1:] - 1
    rideable = last_event > first_event
    trip = timetable.run_trip
    begins_s = np.zeros(len(rideable), np.int64)
    ends_s = np.zeros(len(rideable), np.int64)
    begins_s[rideable] = timetable.event_departure_s[first_event[rideable]]
    ends_s[rideable] = timetable.event_arrival_s[last_event[rideable]]
    run_begins_s = begins_s[trip] + timetable.run_shift_s
    run_ends_s = ends_s[trip] + timetable.run_shift_s
    longest_s = int(run_ends_s.max(initial=0))
    runs, shifts, ordinals = [], [], []
    current = day + timedelta(days=since_s // DAY_S - longest_s // DAY_S - 1)
    while current <= day + timedelta(days=until_s // DAY_S):
        active = services_on(timetable, current)
        for feed_index, feed in enumerate(timetable.feeds):
            day_shift_s = service_day_start(current, feed.zone) - start
            chosen = np.flatnonzero(
                (active[timetable.trip_service[trip]] == 1)
                & (timetable.service_feed[timetable.trip_service[trip]] == feed_index)
                & rideable[trip]
                & (run_begins_s + day_shift_s <= until_s)
                & (run_ends_s + day_shift_s >= since_s)
            )
            runs.append(chosen)
            shifts.append(timetable.run_shift_s[chosen].astype(np.int64) + day_shift_s)
            ordinals.append(np.full(len(chosen), current.toordinal(), np.int32))
        current += timedelta(days=1)
    return np.concatenate(runs), np.concatenate(shifts), np.concatenate(ordinals)


def keep_vehicles(vehicles: Vehicles, kept: Bool) -> Vehicles:
    """Return some of the vehicles."""
    chosen = np.flatnonzero(kept)
    row = rows_of(vehicles.first, chosen)
    return Vehicles(
        run=vehicles.run[chosen],
        day=vehicles.day[chosen],
        first=starts_of(np.diff(vehicles.first)[chosen]),
        stop=vehicles.stop[row],
        flags=vehicles.flags[row],
        arrival_s=vehicles.arrival_s[row],
        departure_s=vehicles.departure_s[row],
    )


def without_steps(timetable: Timetable, vehicles: Vehicles, closed: frozenset[int]) -> Vehicles:
    """Leave out vehicles, and close stops, that are known not to take a wheelchair; the unknown stays.

    ``closed`` are further stops that cannot be used, such as those whose lift is out of order.
    """
    trip = timetable.run_trip[np.maximum(vehicles.run, 0)]
    kept = keep_vehicles(vehicles, (timetable.trip_wheelchair[trip] != WHEELCHAIR_NO) | (vehicles.run < 0))
    shut = timetable.stop_wheelchair == WHEELCHAIR_NO
    shut[list(closed)] = True
    both = np.uint8(NO_BOARDING | NO_ALIGHTING)
    return replace(kept, flags=np.where(shut[kept.stop], both, kept.flags))


def mirror(vehicles: Vehicles) -> Vehicles:
    """Return the vehicles running backwards in time: last call first, boarding and alighting exchanged."""
    length = np.diff(vehicles.first)
    within = np.arange(vehicles.first[-1]) - np.repeat(vehicles.first[:-1], length)
    backwards = np.repeat(vehicles.first[1:], length) - 1 - within
    flags = vehicles.flags[backwards]
    return replace(
        vehicles,
        stop=vehicles.stop[backwards],
        flags=((flags & NO_BOARDING) * 2 + (flags & NO_ALIGHTING) // 2).astype(np.uint8),
        arrival_s=-vehicles.departure_s[backwards],
        departure_s=-vehicles.arrival_s[backwards],
    )
