"""Match the stop times of realtime replacement trips with those of the scheduled trips."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from fingerpost.transit.engine.raptor.journeys import BoardDeparture, Ride
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay, RideKey
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Timetable


class ScheduledTimes(NamedTuple):
    """Scheduled arrival and departure of a stop time, in Unix seconds."""

    arrival: int
    departure: int


class Replacements:
    """The replacement trips in an overlay, keyed by the trips that they replace.

    Stop times match if they serve the same stop or station in the same order.
    """

    def __init__(
        self, timetable: Timetable, overlay: Overlay, find_scheduled: Callable[[int, date, int], ScheduledTimes]
    ) -> None:
        self._timetable, self._added, self._find_scheduled = timetable, overlay.added, find_scheduled
        self._row_of = {ride.replaces: -1 - at for at, ride in enumerate(overlay.added) if ride.replaces is not None}
        self._find_matches = lru_cache(maxsize=None)(self._match)

    def find_ride(self, ride: Ride) -> Ride | None:
        """Return the replacement's ride between the same stops, without in-seat transfers."""
        key = (ride.trip_departure, ride.service_day.toordinal())
        trip_departure = self._row_of.get(key)
        if trip_departure is None:
            return None
        matches, added = self._find_matches(key), self._get(trip_departure)
        board, alight = matches.get(ride.board_stop_time), matches.get(ride.alight_stop_time)
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
        """Return the replacement's departure from the same stop, or None if riders cannot board there."""
        key = (call.trip_departure, call.service_day.toordinal())
        trip_departure = self._row_of.get(key)
        position = None if trip_departure is None else self._find_matches(key).get(call.stop_time)
        if trip_departure is None or position is None:
            return None
        added = self._get(trip_departure)
        if added.flags[position] & NO_BOARDING:
            return None
        return replace(
            call, trip_departure=trip_departure, stop_time=position, departure=int(added.departure[position])
        )

    def find_scheduled_stop_time(self, trip_departure: int, position: int) -> int | None:
        """Return the scheduled stop time (row) that an added trip replaces, or None if its stop is new."""
        key = self._get(trip_departure).replaces
        if key is None:
            return None
        return next((row for row, matched in self._find_matches(key).items() if matched == position), None)

    def find_scheduled(self, trip_departure: int, position: int) -> ScheduledTimes | None:
        key, stop_time = self._get(trip_departure).replaces, self.find_scheduled_stop_time(trip_departure, position)
        if key is None or stop_time is None:
            return None
        return self._find_scheduled(key[0], date.fromordinal(key[1]), stop_time)

    def _match(self, key: RideKey) -> dict[int, int]:
        table, added = self._timetable, self._get(self._row_of[key])
        trip = int(table.trip_departure_trip[key[0]])
        rows = range(int(table.trip_first_stop_time[trip]), int(table.trip_first_stop_time[trip + 1]))
        served = [at for at in range(len(added.stop)) if not added.is_skipped[at]]
        scheduled = [self._find_station(int(table.stop_time_stop[row])) for row in rows]
        expected = [self._find_station(int(added.stop[at])) for at in served]
        blocks = SequenceMatcher(None, scheduled, expected, autojunk=False).get_matching_blocks()
        return {rows[block.a + at]: served[block.b + at] for block in blocks for at in range(block.size)}

    def _find_station(self, stop: int) -> int:
        parent = int(self._timetable.stop_parent[stop])
        return parent if parent >= 0 else stop

    def _get(self, trip_departure: int) -> AddedRide:
        return self._added[-1 - trip_departure]
