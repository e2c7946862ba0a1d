"""Trip- and route-specific transfers of a search timetable: which rules matter, and to which stop times."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.raptor.search_timetable.trip_instances import TripInstances
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Int32, Int64, Timetable

Mask = npt.NDArray[np.bool_]


class RuledStopTimes(NamedTuple):
    """Stop times at stops with specific rules; ``row`` is the instances', trip and route are -1 where unknown."""

    row: Int64
    stop: Int64
    trip: Int64
    route: Int64
    arrival_s: Int32
    departure_s: Int32


def list_ruled_stop_times(timetable: Timetable, instances: TripInstances, overlay: Overlay | None) -> RuledStopTimes:
    """Return the stop times of laid-out instances at stops with specific rules."""
    is_ruled = np.zeros(timetable.stop_count, np.bool_)
    is_ruled[timetable.specific_transfer_from_stop] = is_ruled[timetable.specific_transfer_to_stop] = True
    row = np.flatnonzero(is_ruled[instances.stop])
    trip_departure = instances.trip_departure[np.searchsorted(instances.begin, row, "right") - 1]
    trip = np.where(trip_departure >= 0, timetable.trip_departure_trip[np.maximum(trip_departure, 0)], -1).astype(
        np.int64
    )
    route = np.where(trip_departure >= 0, timetable.trip_route[np.maximum(trip, 0)], -1).astype(np.int64)
    if overlay is not None and overlay.added:
        added = np.array([ride.route for ride in overlay.added], np.int64)
        route = np.where(trip_departure < 0, added[np.clip(-1 - trip_departure, 0, len(added) - 1)], route)
    stop = instances.stop[row].astype(np.int64)
    return RuledStopTimes(row, stop, trip, route, instances.arrival_s[row], instances.departure_s[row])


def list_effective(timetable: Timetable, stop_times: RuledStopTimes) -> Int64:
    """Return the rows of the specific rules that make a difference to what connection can be caught.

    A rule between two trips alone is compared with their stop times here; every other rule is kept.
    """
    count = timetable.stop_count
    pair = timetable.specific_transfer_from_stop.astype(np.int64) * count + timetable.specific_transfer_to_stop
    is_of_trips = (timetable.specific_transfer_from_trip >= 0) & (timetable.specific_transfer_to_trip >= 0)
    # Where wider rules hold as well, what holds without the rule is not just how the stops are linked.
    is_alone = is_of_trips & ~np.isin(pair, pair[~is_of_trips])
    kept = ~is_alone
    times = _Times(stop_times)
    links = _Links(timetable)
    last = {
        (
            int(pair[rule]),
            int(timetable.specific_transfer_from_trip[rule]),
            int(timetable.specific_transfer_to_trip[rule]),
        ): rule
        for rule in np.flatnonzero(is_alone).tolist()
    }
    for (stops, from_trip, to_trip), rule in last.items():
        begin, end = divmod(stops, count)
        arrival_s, departure_s = times.find(begin, from_trip), times.find(end, to_trip)
        if arrival_s is None or departure_s is None:
            continue
        wait_s = departure_s[1][None, :] - arrival_s[0][:, None]
        kept[rule] = (
            _is_caught(wait_s, int(timetable.specific_transfer_s[rule])) != _is_caught(wait_s, links.find(begin, end))
        ).any()
    return np.flatnonzero(kept)


def _is_caught(wait_s: npt.NDArray[np.int64], needs_s: int) -> Mask:
    """Mark the waits that are long enough; -1 is needed where none is."""
    marks: Mask = (wait_s >= needs_s) & (needs_s >= 0)
    return marks


class _Times:
    """Arrivals and departures of each trip at each stop."""

    def __init__(self, stop_times: RuledStopTimes) -> None:
        self._order = np.lexsort((stop_times.trip, stop_times.stop))
        self._stop_times = stop_times
        named = np.column_stack([stop_times.stop, stop_times.trip])[self._order]
        is_new = np.append(True, (named[1:] != named[:-1]).any(axis=1))[: len(named)]
        begins = np.flatnonzero(is_new).tolist()
        ends = [*begins[1:], len(named)]
        self._spans = {
            (int(named[begin, 0]), int(named[begin, 1])): (begin, end) for begin, end in zip(begins, ends, strict=False)
        }

    def find(self, stop: int, trip: int) -> tuple[Int64, Int64] | None:
        """Return arrivals and departures, None where the trip does not serve the stop here."""
        span = self._spans.get((stop, trip))
        if span is None:
            return None
        rows = self._order[span[0] : span[1]]
        return self._stop_times.arrival_s[rows].astype(np.int64), self._stop_times.departure_s[rows].astype(np.int64)


class _Links:
    """How long changing takes between two stops where no specific rule holds."""

    def __init__(self, timetable: Timetable) -> None:
        self._table = timetable
        self._known: dict[tuple[int, int], int] = {}

    def find(self, begin: int, end: int) -> int:
        """Return seconds, -1 where one cannot change."""
        if (begin, end) not in self._known:
            table = self._table
            if begin == end:
                seconds = int(table.change_s[begin])
            else:
                first = int(table.foot_first[begin])
                paths = np.flatnonzero(table.foot_to[first : int(table.foot_first[begin + 1])] == end)
                seconds = int(table.foot_s[first + paths[0]]) if len(paths) else -1
            self._known[begin, end] = seconds
        return self._known[begin, end]


class SpecificTransfers:
    """Some of the specific rules; each side is a number that the stop times it applies to bear as well.

    ``sides`` are columns: arriving route, arriving trip, departing route, departing trip; -1 where any will do.
    """

    def __init__(self, timetable: Timetable, rows: Int64) -> None:
        table = timetable
        self.seconds, self.metres = table.specific_transfer_s[rows], table.specific_transfer_m[rows]
        self.ends = np.column_stack(
            [table.specific_transfer_from_stop[rows], table.specific_transfer_to_stop[rows]]
        ).astype(np.int64)
        columns = [
            table.specific_transfer_from_route,
            table.specific_transfer_from_trip,
            table.specific_transfer_to_route,
            table.specific_transfer_to_trip,
        ]
        named = [column[rows] for column in columns]
        stops = [self.ends[:, 0], self.ends[:, 0], self.ends[:, 1], self.ends[:, 1]]
        # More than there are routes or trips, so that a pair of rows is one number.
        self._base = 1 + max(len(table.trip_route), len(table.route_type))
        self._keys = [np.unique((stop * self._base + row)[row >= 0]) for stop, row in zip(stops, named, strict=True)]
        self.sides = np.column_stack(
            [self._find(column, stop, row) for column, (stop, row) in enumerate(zip(stops, named, strict=True))]
        )

    def _find(self, column: int, stop: Int64, row: Int32 | Int64) -> Int64:
        """Return the number of each stop and route or trip that rules name together, -1 where none does."""
        keys = self._keys[column]
        if not len(keys):
            return np.full(len(stop), -1, np.int64)
        wanted = stop * self._base + row
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found: Int64 = np.where((row >= 0) & (keys[at] == wanted), at, -1)
        return found

    def kinds(self, stop_times: RuledStopTimes) -> Int64:
        """Return the kind of each stop time: its stop, and four numbers as in ``sides``."""
        named = (stop_times.route, stop_times.trip, stop_times.route, stop_times.trip)
        return np.column_stack(
            [stop_times.stop, *(self._find(column, stop_times.stop, row) for column, row in enumerate(named))]
        )

    def by_pair(self, is_split: Mask) -> dict[tuple[int, int], list[int]]:
        """Return, for each pair of stops, the rules that may apply where these stops are split, the strongest last."""
        needs = [(self.sides[:, side : side + 2] >= 0).any(axis=1) for side in (0, 2)]
        alive = (~needs[0] | is_split[self.ends[:, 0]]) & (~needs[1] | is_split[self.ends[:, 1]])
        rules: dict[tuple[int, int], list[int]] = {}
        for rule in np.flatnonzero(alive).tolist():
            rules.setdefault((int(self.ends[rule, 0]), int(self.ends[rule, 1])), []).append(rule)
        return rules
