"""In-seat transfers, stated in transfers.txt or implied by block_id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv import Archive, Mask, Reason
from fingerpost.transit.engine.gtfs.stop_times import StopTimes
from fingerpost.transit.engine.gtfs.transfers import IN_SEAT
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import InSeatColumns, StopRow, TripDepartureColumns
from fingerpost.transit.engine.timetable.timetable import Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The block, route and service of each trip departure; block -1 for none."""

    block: Int32
    route: Int32
    service: Int32


class Candidates(NamedTuple):
    """Trip departures that follow one another in their block.

    ``days`` holds, by position, the service days on which they do, where these are not all on which the first runs.
    """

    first: Int32
    then: Int32
    days: Mapping[int, Int32]


def list_candidates(blocks: Blocks, begin_s: Int64, end_s: Int64, is_exact: Mask, days: Sequence[Int32]) -> Candidates:
    """Return the consecutive pairs of trip departures in each block and service day.

    A block may have trips of several services. Where no two of them share a day, each makes blocks of its own.
    """
    rows = np.flatnonzero((blocks.block >= 0) & is_exact)
    rows = rows[np.lexsort((rows, end_s[rows], begin_s[rows], blocks.service[rows], blocks.block[rows]))]
    block, service = blocks.block[rows], blocks.service[rows]
    is_mixed = _mix_days(block, service, days)[block] if len(block) else np.zeros(0, np.bool_)
    follows = (block[1:] == block[:-1]) & (service[1:] == service[:-1]) & ~is_mixed[1:]
    first, then = rows[:-1][follows].tolist(), rows[1:][follows].tolist()
    on_days: dict[int, Int32] = {}
    mixed = rows[is_mixed]
    mixed = mixed[np.lexsort((mixed, end_s[mixed], begin_s[mixed], blocks.block[mixed]))]
    for of_block in np.split(mixed, np.flatnonzero(np.diff(blocks.block[mixed])) + 1):
        for one, other, shared in _follow_by_day(of_block.tolist(), blocks.service, days):
            on_days[len(first)] = shared
            first.append(one)
            then.append(other)
    return Candidates(np.array(first, np.int32), np.array(then, np.int32), on_days)


def _mix_days(block: Int32, service: Int32, days: Sequence[Int32]) -> Mask:
    marks = np.zeros(int(block.max()) + 1, np.bool_)
    pairs = np.unique(np.column_stack([block, service]), axis=0)
    known: dict[tuple[int, ...], bool] = {}
    for of_block in np.split(pairs, np.flatnonzero(np.diff(pairs[:, 0])) + 1):
        if len(of_block) > 1:
            services = tuple(of_block[:, 1].tolist())
            if services not in known:
                every = np.concatenate([days[row] for row in services])
                known[services] = len(np.unique(every)) < len(every)
            marks[of_block[0, 0]] = known[services]
    return marks


def _follow_by_day(trip_departures: list[int], service: Int32, days: Sequence[Int32]) -> list[tuple[int, int, Int32]]:
    """Return each trip departure of a block, its successors, and the days on which each of them is the next."""
    found = []
    for at, trip_departure in enumerate(trip_departures):
        left = days[service[trip_departure]]
        for other in trip_departures[at + 1 :]:
            shared = np.intersect1d(left, days[service[other]]).astype(np.int32)
            if len(shared):
                found.append((trip_departure, other, shared))
                left = np.setdiff1d(left, shared)
            if not len(left):
                break
    return found


# A train divides into no more parts than this, nor is coupled from more.
MOST_LINKED = 8
# A block's vehicle that stands for longer at the end of a trip is not taken for one to wait in.
LONGEST_STAND_S = 3600
# The reference wants the one to end "close to" where the other begins; a night train may stand for long.
LONGEST_LINKED_STAND_S = 3 * 3600

_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminals:
    """First and last stop of each trip departure, and its times in seconds of the service day.

    ``is_exact`` marks those with exact times, which is not so where only a headway is promised.
    """

    trip: Int32
    begin_s: Int64
    end_s: Int64
    begin_stop: Int32
    end_stop: Int32
    is_exact: Mask

    @classmethod
    def of(cls, trip_departures: TripDepartureColumns, stop_times: StopTimes) -> "Terminals":
        last = stop_times.per_trip.cumsum()[trip_departures.trip] - 1
        first = last - stop_times.per_trip[trip_departures.trip] + 1
        return cls(
            trip=trip_departures.trip,
            begin_s=stop_times.departure_s[first].astype(np.int64) + trip_departures.shift_s,
            end_s=stop_times.arrival_s[last].astype(np.int64) + trip_departures.shift_s,
            begin_stop=stop_times.stop[first],
            end_stop=stop_times.stop[last],
            is_exact=trip_departures.headway_s == 0,
        )


class _InSeatRows:
    def __init__(self, service_count: int) -> None:
        self.rows: list[tuple[int, int, int, int]] = []
        self.more_days: list[Int32] = []
        self._service_count = service_count
        self._known: dict[bytes, int] = {}

    def add(self, from_departure: int, to_departure: int, days_later: int, days: Int32 | None) -> None:
        """Add one that holds on some days, None for all on which both run."""
        service = -1
        if days is not None:
            key = days.tobytes()
            service = self._known.setdefault(key, self._service_count + len(self.more_days))
            if service == self._service_count + len(self.more_days):
                self.more_days.append(days)
        self.rows.append((from_departure, to_departure, days_later, service))


def find_in_seat(
    archive: Archive,
    stops: Sequence[StopRow],
    trips: Trips,
    service: Int32,
    days: Sequence[Int32],
    terminals: Terminals,
    linked: Int32,
) -> tuple[InSeatColumns, list[Int32]]:
    """Return the in-seat transfers of a feed, and the days of further services that bound some of them.

    ``service`` is each trip's row in ``days``. What ``transfers.txt`` says of two trips (types 4 and 5) stands
    before what their block does (GTFS, "Linked trips"). A block alone lets one stay seated from a trip to the next
    of the same service day where the next begins at the same stop or station, within the hour, as another route
    or the same loop line: a vehicle that only turns back is not offered.
    Trip departures with a headway only are joined with nothing.
    """
    found = _InSeatRows(len(days))
    parents = np.array([row.parent for row in stops], np.int32)
    places = _Places(parents, terminals)
    trip_departures_of = _TripDeparturesOf(terminals, len(trips))
    linked_days = _read_linked(archive, linked, service, days, places, trip_departures_of, found)
    forbidden = {(int(row[0]), int(row[1])) for row in linked if row[2] != IN_SEAT}
    blocks = Blocks(
        block=trips.block[terminals.trip], route=trips.route[terminals.trip], service=service[terminals.trip]
    )
    by_headway = np.unique(terminals.trip[(blocks.block >= 0) & ~terminals.is_exact])
    archive.findings.add_many(Reason.BLOCK_OF_HEADWAYS_UNAPPLIED, "trips.txt", trips.lines[by_headway], "block_id")
    candidates = list_candidates(blocks, terminals.begin_s, terminals.end_s, terminals.is_exact, days)
    kept = _judge(archive, trips, blocks, candidates, places)
    for index in np.flatnonzero(kept).tolist():
        first, then = int(candidates.first[index]), int(candidates.then[index])
        pair = (int(terminals.trip[first]), int(terminals.trip[then]))
        if pair in forbidden:
            continue
        on_days = candidates.days.get(index)
        told = [*linked_days.get((0, pair[0]), ()), *linked_days.get((1, pair[1]), ())]
        if told:
            on_days = np.setdiff1d(days[service[pair[0]]] if on_days is None else on_days, np.concatenate(told))
            if not len(on_days):
                continue
        found.add(first, then, 0, None if on_days is None else on_days.astype(np.int32))
    rows = np.array(found.rows, np.int32).reshape(-1, 4)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return to_columns(InSeatColumns, dict(zip(InSeatColumns._fields, rows.T, strict=True))), found.more_days


class _Places:
    def __init__(self, parents: Int32, terminals: Terminals) -> None:
        self.place = np.where(parents >= 0, parents, np.arange(len(parents))).astype(np.int32)
        self.terminals = terminals

    def is_at(self, stop: int, named: int) -> bool:
        return named in (stop, int(self.place[stop]))

    def begins_where_ends(self, first: Int32, then: Int32) -> Mask:
        marks: Mask = self.place[self.terminals.end_stop[first]] == self.place[self.terminals.begin_stop[then]]
        return marks

    def is_loop(self, trip_departure: Int32) -> Mask:
        return self.begins_where_ends(trip_departure, trip_departure)


class _TripDeparturesOf:
    def __init__(self, terminals: Terminals, trip_count: int) -> None:
        self.terminals = terminals
        self._first = np.searchsorted(terminals.trip, np.arange(trip_count + 1))

    def exact(self, trip: int) -> Int64:
        trip_departures = np.arange(self._first[trip], self._first[trip + 1])
        trip_departures = trip_departures[self.terminals.is_exact[trip_departures]]
        ordered: Int64 = trip_departures[np.argsort(self.terminals.begin_s[trip_departures], kind="stable")]
        return ordered

    def pairs(self, first_trip: int, then_trip: int, days_later: int) -> list[tuple[int, int]]:
        """Return the pairs that follow one another: each is the nearest to the other of all."""
        first, then = self.exact(first_trip), self.exact(then_trip)
        if not (len(first) and len(then)):
            return []
        first = first[np.argsort(self.terminals.end_s[first], kind="stable")]
        end_s = self.terminals.end_s[first]
        begin_s = self.terminals.begin_s[then] + days_later * _DAY_S
        next_of = np.searchsorted(begin_s, end_s, "left")
        before_of = np.searchsorted(end_s, begin_s, "right") - 1
        return [
            (int(first[at]), int(then[next_]))
            for at, next_ in enumerate(next_of.tolist())
            if next_ < len(then)
            and before_of[next_] == at
            and self.terminals.begin_s[first[at]] < begin_s[next_] <= end_s[at] + LONGEST_LINKED_STAND_S
        ]


def _read_linked(
    archive: Archive,
    linked: Int32,
    service: Int32,
    days: Sequence[Int32],
    places: _Places,
    trip_departures_of: _TripDeparturesOf,
    found: _InSeatRows,
) -> dict[tuple[int, int], list[Int32]]:
    """Add what type 4 says; return the service days of which it speaks, by (0, from trip) and (1, to trip)."""
    spoken: dict[tuple[int, int], list[Int32]] = {}
    unapplied: list[int] = []
    counts: dict[tuple[int, int], int] = {}
    known: set[tuple[int, int]] = set()
    for first, then, type_, from_stop, to_stop, line in linked.tolist():
        if first < 0 or then < 0:
            unapplied.append(line)
            continue
        if type_ != IN_SEAT or (first, then) in known:
            continue
        known.add((first, then))
        pairs, days_later, common = _follow(trip_departures_of, first, then, days[service[first]], days[service[then]])
        at_ends = all(
            (from_stop == -1 or places.is_at(int(places.terminals.end_stop[one]), from_stop))
            and (to_stop == -1 or places.is_at(int(places.terminals.begin_stop[other]), to_stop))
            for one, other in pairs
        )
        sides = ((0, first), (1, then))
        if not (pairs and len(common) and at_ends) or any(counts.get(side, 0) >= MOST_LINKED for side in sides):
            unapplied.append(line)
            continue
        for side, on_days in zip(sides, (common, common + days_later), strict=True):
            counts[side] = counts.get(side, 0) + 1
            spoken.setdefault(side, []).append(on_days)
        for one, other in pairs:
            found.add(one, other, days_later, None)
    archive.findings.add_many(
        Reason.TRANSFER_IN_SEAT_UNAPPLIED, "transfers.txt", np.array(unapplied, np.int32), "transfer_type"
    )
    return spoken


def _follow(
    trip_departures_of: _TripDeparturesOf, first: int, then: int, first_days: Int32, then_days: Int32
) -> tuple[list[tuple[int, int]], int, Int32]:
    """Return the departures of two trips that follow one another, how many days later, and the first's days."""
    pairs: list[tuple[int, int]] = []
    common = np.zeros(0, np.int32)
    for days_later in (0, 1):
        pairs = trip_departures_of.pairs(first, then, days_later)
        common = np.intersect1d(first_days, then_days - days_later).astype(np.int32)
        if pairs and len(common):
            return pairs, days_later, common
    return [], 0, common


def _judge(archive: Archive, trips: Trips, blocks: Blocks, candidates: Candidates, places: _Places) -> Mask:
    """Mark the pairs of a block between which one may stay seated; count the others by reason."""
    terminals, first, then = places.terminals, candidates.first, candidates.then
    stands_s = terminals.begin_s[then] - terminals.end_s[first]
    is_same_route = blocks.route[first] == blocks.route[then]
    turns_back = is_same_route & ~(places.is_loop(first) & places.is_loop(then))
    column = "block_id"
    faults = (
        (
            Reason.BLOCK_OVERLAPS_UNAPPLIED,
            column,
            (stands_s < 0) | (terminals.begin_s[then] <= terminals.begin_s[first]),
        ),
        (Reason.BLOCK_TURNS_BACK_UNAPPLIED, column, turns_back),
        (Reason.BLOCK_GOES_ON_ELSEWHERE_UNAPPLIED, column, ~places.begins_where_ends(first, then)),
        (Reason.BLOCK_STANDS_LONG_UNAPPLIED, column, stands_s > LONGEST_STAND_S),
    )
    lines = trips.lines[terminals.trip[first]]
    return archive.findings.drop_faulty("trips.txt", lines, np.ones(len(first), np.bool_), faults)
