"""Replacement trips: match their stop times with the scheduled ones."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideKey
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Timetable


class Scheduled(NamedTuple):
    """The times of the timetable at a stop time, in Unix seconds."""

    arrival: int
    departure: int


class Replacements:
    """The replacements of an overlay, by the rides that they replace.

    A replacement keeps a scheduled stop time if it calls at its stop, or at another platform of its station. As many
    are kept as the order of both allows: of several pairings the one with most calls at the same stops, then the one
    with the nearest times. ``find_scheduled`` returns the times of a trip departure on a day at a stop time (row).
    """

    def __init__(
        self, timetable: Timetable, overlay: Overlay, find_scheduled: Callable[[int, date, int], Scheduled]
    ) -> None:
        self._timetable, self._added, self._find_scheduled = timetable, overlay.added, find_scheduled
        self._row_of = {each.replaces: -1 - at for at, each in enumerate(overlay.added) if each.replaces is not None}
        self._keep = lru_cache(maxsize=None)(self._match)

    def find_ride(self, ride: Ride) -> Ride | None:
        """Return the replacement's ride between the same stops; seats were promised in the replaced vehicle only."""
        key = (ride.trip_departure, ride.service_day.toordinal())
        trip_departure = self._row_of.get(key)
        if trip_departure is None:
            return None
        kept, added = self._keep(key), self._get(trip_departure)
        board, alight = kept.get(ride.board_stop_time), kept.get(ride.alight_stop_time)
        if board is None or alight is None:
            return None
        if added.flags[board] & NO_BOARDING or added.flags[alight] & NO_ALIGHTING:
            return None
        return replace(
            ride,
            trip_departure=trip_departure,
            board_stop_time=board,
            alight_stop_time=alight,
            departure=int(added.departure[board]),
            arrival=int(added.arrival[alight]),
            stays_seated=False,
        )

    def find_departure(self, call: BoardDeparture) -> BoardDeparture | None:
        """Return the replacement's departure at the same stop, None if nobody can board there."""
        key = (call.trip_departure, call.service_day.toordinal())
        trip_departure = self._row_of.get(key)
        position = None if trip_departure is None else self._keep(key).get(call.stop_time)
        if trip_departure is None or position is None:
            return None
        added = self._get(trip_departure)
        if added.flags[position] & NO_BOARDING:
            return None
        return replace(
            call, trip_departure=trip_departure, stop_time=position, departure=int(added.departure[position])
        )

    def find_kept(self, trip_departure: int, position: int) -> int | None:
        """Return the scheduled stop time (row) that an added ride keeps at a position, None if it is new."""
        key = self._get(trip_departure).replaces
        if key is None:
            return None
        return next((stop_time for stop_time, kept in self._keep(key).items() if kept == position), None)

    def find_scheduled(self, trip_departure: int, position: int) -> Scheduled | None:
        key, stop_time = self._get(trip_departure).replaces, self.find_kept(trip_departure, position)
        if key is None or stop_time is None:
            return None
        return self._find_scheduled(key[0], date.fromordinal(key[1]), stop_time)

    def _match(self, key: RideKey) -> dict[int, int]:
        table, added, day = self._timetable, self._get(self._row_of[key]), date.fromordinal(key[1])
        trip = int(table.trip_departure_trip[key[0]])
        rows = range(int(table.trip_first_stop_time[trip]), int(table.trip_first_stop_time[trip + 1]))
        scheduled = [
            self._locate(int(table.stop_time_stop[row]), self._find_scheduled(key[0], day, row).departure)
            for row in rows
        ]
        served = [at for at in range(len(added.stop)) if not added.is_skipped[at]]
        expected = [self._locate(int(added.stop[at]), int(added.departure[at])) for at in served]
        return {rows[one]: served[other] for one, other in _pair(scheduled, expected)}

    def _locate(self, stop: int, departure: int) -> "_TimedStop":
        parent = int(self._timetable.stop_parent[stop])
        return _TimedStop(stop, parent if parent >= 0 else stop, departure)

    def _get(self, trip_departure: int) -> AddedRide:
        return self._added[-1 - trip_departure]


class _TimedStop(NamedTuple):
    stop: int
    station: int
    departure: int


class _Pairing(NamedTuple):
    """Pairs of positions, ranked by their number, by how many are at the same stop, and by minus seconds apart."""

    rank: tuple[int, int, int]
    pairs: tuple[tuple[int, int], ...]


def _pair(scheduled: Sequence[_TimedStop], expected: Sequence[_TimedStop]) -> tuple[tuple[int, int], ...]:
    before = [_Pairing((0, 0, 0), ())] * (len(expected) + 1)
    for one, call in enumerate(scheduled):
        row = before[:1]
        for other, candidate in enumerate(expected):
            best = max(before[other + 1], row[other], key=lambda pairing: pairing.rank)
            if call.station == candidate.station:
                (count, unmoved, minus_s), pairs = before[other]
                apart_s = abs(call.departure - candidate.departure)
                rank = (count + 1, unmoved + (call.stop == candidate.stop), minus_s - apart_s)
                best = max(best, _Pairing(rank, (*pairs, (one, other))), key=lambda pairing: pairing.rank)
            row.append(best)
        before = row
    return before[-1].pairs
