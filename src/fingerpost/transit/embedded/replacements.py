"""Rides that replace rides of the timetable: which of the planned stop times they keep, and when these were planned."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideKey
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Timetable


class Scheduled(NamedTuple):
    """The times of the timetable at a stop time, in Unix seconds."""

    arrival: int
    departure: int


FindScheduled = Callable[[int, date, int], Scheduled]
"""Returns the times of a trip departure on a day at a stop time (row)."""


class Replacements:
    """The replacements of an overlay, by the rides that they replace.

    A planned stop time is kept where the replacement calls at its stop, or at another platform of its station. As many
    are kept as the order of both allows, and of several ways to pair them the one that leaves most at their stops, then
    the one whose times are nearest; what calls beside them is new.
    """

    def __init__(self, timetable: Timetable, overlay: Overlay, find_scheduled: FindScheduled) -> None:
        self._timetable, self._added, self._find_scheduled = timetable, overlay.added, find_scheduled
        self._run_of = {each.replaces: -1 - at for at, each in enumerate(overlay.added) if each.replaces is not None}
        self._kept: dict[RideKey, dict[int, int]] = {}

    def find_ride(self, ride: Ride) -> Ride | None:
        """Return how the replacement of a ride of the timetable makes the same way; None where there is no such way.

        Nobody stays seated into it or on it: that was promised of the vehicle that it replaces.
        """
        key = (ride.trip_departure, ride.service_day.toordinal())
        run = self._run_of.get(key)
        if run is None:
            return None
        kept, added = self._keep(key), self._get(run)
        board, alight = kept.get(ride.board_stop_time), kept.get(ride.alight_stop_time)
        if board is None or alight is None:
            return None
        if added.flags[board] & NO_BOARDING or added.flags[alight] & NO_ALIGHTING:
            return None
        return replace(
            ride,
            trip_departure=run,
            board_stop_time=board,
            alight_stop_time=alight,
            departure=int(added.departure[board]),
            arrival=int(added.arrival[alight]),
            stays_seated=False,
        )

    def find_departure(self, call: BoardDeparture) -> BoardDeparture | None:
        """Return how the replacement of a ride leaves where the ride was to; None where it cannot be boarded there."""
        key = (call.trip_departure, call.service_day.toordinal())
        run = self._run_of.get(key)
        position = None if run is None else self._keep(key).get(call.stop_time)
        if run is None or position is None:
            return None
        added = self._get(run)
        if added.flags[position] & NO_BOARDING:
            return None
        return replace(call, trip_departure=run, stop_time=position, departure=int(added.departure[position]))

    def find_kept(self, run: int, position: int) -> int | None:
        """Return the stop time (row) that a stop time of an added ride keeps; None where it is new."""
        key = self._get(run).replaces
        if key is None:
            return None
        return next((event for event, kept in self._keep(key).items() if kept == position), None)

    def find_scheduled(self, run: int, position: int) -> Scheduled | None:
        """Return when a stop time of an added ride was planned; None where it is new, or replaces nothing."""
        key, event = self._get(run).replaces, self.find_kept(run, position)
        if key is None or event is None:
            return None
        return self._find_scheduled(key[0], date.fromordinal(key[1]), event)

    def _keep(self, key: RideKey) -> dict[int, int]:
        """Return the positions of a replacement by the stop times (rows) that they keep."""
        if key not in self._kept:
            self._kept[key] = self._match(key, self._get(self._run_of[key]))
        return self._kept[key]

    def _match(self, key: RideKey, added: AddedRide) -> dict[int, int]:
        table, day = self._timetable, date.fromordinal(key[1])
        trip = int(table.trip_departure_trip[key[0]])
        events = range(int(table.trip_first_stop_time[trip]), int(table.trip_first_stop_time[trip + 1]))
        planned = [
            _TimedStop(
                *self._locate(int(table.stop_time_stop[each])),
                self._find_scheduled(key[0], day, each).departure,
            )
            for each in events
        ]
        served = [at for at in range(len(added.stop)) if not added.is_skipped[at]]
        told = [_TimedStop(*self._locate(int(added.stop[at])), int(added.departure[at])) for at in served]
        return {events[one]: served[other] for one, other in _pair(planned, told)}

    def _locate(self, stop: int) -> tuple[int, int]:
        parent = int(self._timetable.stop_parent[stop])
        return stop, parent if parent >= 0 else stop

    def _get(self, run: int) -> AddedRide:
        return self._added[-1 - run]


class _TimedStop(NamedTuple):
    stop: int
    station: int
    departure: int


class _Pairing(NamedTuple):
    """Some pairs; of two pairings the greater has more pairs, then more at the same stops, then nearer times."""

    kept: int
    unmoved: int
    minus_seconds: int
    pairs: tuple[tuple[int, int], ...]

    def with_pair(self, one: int, other: int, planned: _TimedStop, told: _TimedStop) -> "_Pairing":
        return _Pairing(
            self.kept + 1,
            self.unmoved + (planned.stop == told.stop),
            self.minus_seconds - abs(planned.departure - told.departure),
            (*self.pairs, (one, other)),
        )


def _pair(planned: Sequence[_TimedStop], told: Sequence[_TimedStop]) -> tuple[tuple[int, int], ...]:
    """Return the positions of calls at the same places, in the order of both: the greatest pairing."""
    before = [_Pairing(0, 0, 0, ())] * (len(told) + 1)
    for one, call in enumerate(planned):
        row = before[:1]
        for other, candidate in enumerate(told):
            best = max(before[other + 1], row[other], key=lambda each: each[:3])
            if call.station == candidate.station:
                paired = before[other].with_pair(one, other, call, candidate)
                best = max(best, paired, key=lambda each: each[:3])
            row.append(best)
        before = row
    return before[-1].pairs
