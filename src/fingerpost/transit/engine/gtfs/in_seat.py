"""Find the in-seat transfers of a GTFS feed, stated in transfers.txt or implied by block_id."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, compress, pairwise, starmap

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Mask, Reason
from fingerpost.transit.engine.gtfs.stop_times import StopTimes
from fingerpost.transit.engine.gtfs.transfers import IN_SEAT
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import InSeatColumns, StopRow, TripDepartureColumns
from fingerpost.transit.engine.timetable.timetable import Int32, Int64

# The longest wait at the end of a trip in a block; riders do not stay seated for longer.
MAX_STAND_S = 3600
# The longest wait between trips that transfers.txt links; a night train may wait for long.
MAX_LINKED_STAND_S = 3 * 3600

_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Departures:
    """The trip departures of a feed, as columns; those of trip t are rows ``first[t] .. first[t + 1]``.

    The place of a stop is its station, or itself. A block is -1 for none. Departures by headway are not exact.
    """

    first: Int64
    trip: Int32
    block: Int32
    route: Int32
    service: Int32
    begin_s: Int64
    end_s: Int64
    begin_stop: Int32
    end_stop: Int32
    begin_place: Int32
    end_place: Int32
    is_exact: Mask

    @classmethod
    def of(
        cls,
        stops: Sequence[StopRow],
        trips: Trips,
        service: Int32,
        trip_departures: TripDepartureColumns,
        stop_times: StopTimes,
    ) -> "Departures":
        """Return the departures of trips; ``service`` is each trip's row of the services that have trips."""
        trip = trip_departures.trip
        last = trips.stop_time_count.cumsum()[trip] - 1
        first = last - trips.stop_time_count[trip] + 1
        begin_stop, end_stop = stop_times.stop[first], stop_times.stop[last]
        parents = np.array([row.parent for row in stops], np.int32)
        place = np.where(parents >= 0, parents, np.arange(len(parents))).astype(np.int32)
        return cls(
            first=np.searchsorted(trip, np.arange(len(trips) + 1)),
            trip=trip,
            block=trips.block[trip],
            route=trips.route[trip],
            service=service[trip],
            begin_s=stop_times.departure_s[first].astype(np.int64) + trip_departures.shift_s,
            end_s=stop_times.arrival_s[last].astype(np.int64) + trip_departures.shift_s,
            begin_stop=begin_stop,
            end_stop=end_stop,
            begin_place=place[begin_stop],
            end_place=place[end_stop],
            is_exact=trip_departures.headway_s == 0,
        )

    def list_exact(self, trip: int) -> Int64:
        rows = np.arange(self.first[trip], self.first[trip + 1])
        rows = rows[self.is_exact[rows]]
        ordered: Int64 = rows[np.argsort(self.begin_s[rows], kind="stable")]
        return ordered


_InSeat = tuple[int, int, int, Int32 | None]
"""Two trip departures, by how many days the second is later, and on which days of the first it holds (None: all)."""

_Candidate = tuple[int, int, Int32 | None]
"""Two trip departures that follow one another in their block, and on which service days (None: all of the first)."""


def find_in_seat(
    archive: Archive, trips: Trips, departures: Departures, days: Sequence[Int32], linked: Int32
) -> tuple[InSeatColumns, list[Int32]]:
    """Return the in-seat transfers of a feed, and the days of further services that bound some of them.

    Rows of ``transfers.txt`` about two trips (types 4 and 5) overrule their block (GTFS, "Linked trips"). A block gives
    an in-seat transfer to the next trip of the same service day if that begins at the same stop or station, within the
    hour, as another route or the same loop line. Trip departures by headway have no in-seat transfers.
    """
    found = _read_linked(archive, linked, departures, days)
    linked_from, linked_to = ({int(departures.trip[row[side]]) for row in found} for side in (0, 1))
    forbidden = {(int(row[0]), int(row[1])) for row in linked if row[2] != IN_SEAT}
    by_headway = np.unique(departures.trip[(departures.block >= 0) & ~departures.is_exact])
    archive.findings.add_many(Reason.BLOCK_OF_HEADWAYS_UNAPPLIED, "trips.txt", trips.lines[by_headway], "block_id")
    for first, then, on_days in _list_usable(archive, trips, departures, _list_candidates(departures, days)):
        pair = (int(departures.trip[first]), int(departures.trip[then]))
        if pair not in forbidden and pair[0] not in linked_from and pair[1] not in linked_to:
            found.append((first, then, 0, on_days))
    services: dict[bytes, tuple[int, Int32]] = {}
    rows = np.zeros((len(found), 4), np.int32)
    for row, (first, then, days_later, on_days) in enumerate(found):
        service = -1
        if on_days is not None:
            service, _ = services.setdefault(on_days.tobytes(), (len(days) + len(services), on_days))
        rows[row] = first, then, days_later, service
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    columns = to_columns(InSeatColumns, dict(zip(InSeatColumns._fields, rows.T, strict=True)))
    return columns, [on_days for _, on_days in services.values()]


def _read_linked(archive: Archive, linked: Int32, departures: Departures, days: Sequence[Int32]) -> list[_InSeat]:
    """Return the in-seat transfers of type 4, and count those that do not apply."""
    found: dict[tuple[int, int], list[_InSeat]] = {}
    unapplied: list[int] = []
    for first, then, type_, from_stop, to_stop, line in linked.tolist():
        if first < 0 or then < 0:
            unapplied.append(line)
            continue
        if type_ != IN_SEAT or (first, then) in found:
            continue
        pairs = _list_consecutive(departures, first, then, days)
        at_ends = all(
            from_stop in (-1, departures.end_stop[one], departures.end_place[one])
            and to_stop in (-1, departures.begin_stop[other], departures.begin_place[other])
            for one, other, *_ in pairs
        )
        if pairs and at_ends:
            found[first, then] = pairs
        else:
            unapplied.append(line)
    lines = np.array(unapplied, np.int32)
    archive.findings.add_many(Reason.TRANSFER_IN_SEAT_UNAPPLIED, "transfers.txt", lines, "transfer_type")
    return [pair for pairs in found.values() for pair in pairs]


def _list_consecutive(departures: Departures, first: int, then: int, days: Sequence[Int32]) -> list[_InSeat]:
    """Return the departures of two trips that follow one another on a service day that they share, or on the next."""
    for days_later in (0, 1):
        pairs = _list_pairs(departures, first, then, days_later)
        if pairs:
            one, other = (days[service] for service in departures.service[list(pairs[0])])
            if len(np.intersect1d(one, other - days_later)):
                return [(*pair, days_later, None) for pair in pairs]
    return []


def _list_pairs(departures: Departures, first_trip: int, then_trip: int, days_later: int) -> list[tuple[int, int]]:
    """Return the departures of two trips that follow one another: each is the nearest to the other of all."""
    first, then = departures.list_exact(first_trip), departures.list_exact(then_trip)
    end_s, begin_s = departures.end_s[first], departures.begin_s[then] + days_later * _DAY_S
    next_of = np.searchsorted(begin_s, end_s, "left")
    before_of = np.searchsorted(end_s, begin_s, "right") - 1
    return [
        (int(first[at]), int(then[next_]))
        for at, next_ in enumerate(next_of.tolist())
        if next_ < len(then)
        and before_of[next_] == at
        and departures.begin_s[first[at]] < begin_s[next_] <= end_s[at] + MAX_LINKED_STAND_S
    ]


def _list_candidates(departures: Departures, days: Sequence[Int32]) -> list[_Candidate]:
    """Return the trip departures with exact times that follow one another in their block.

    Where no two services of a block share a day, each makes blocks of its own.
    """
    blocks, services = departures.block, departures.service.tolist()
    rows = np.flatnonzero((blocks >= 0) & departures.is_exact)
    rows = rows[np.lexsort((rows, departures.end_s[rows], departures.begin_s[rows], blocks[rows]))]
    share_days = cache(lambda one, other: bool(len(np.intersect1d(days[one], days[other]))))
    is_mixed = cache(lambda of_block: any(starmap(share_days, combinations(of_block, 2))))
    found: list[_Candidate] = []
    for of_block in np.split(rows, np.flatnonzero(np.diff(blocks[rows])) + 1):
        listed = of_block.tolist()
        if not is_mixed(frozenset(services[row] for row in listed)):
            listed.sort(key=services.__getitem__)
            found += [(one, other, None) for one, other in pairwise(listed) if services[one] == services[other]]
            continue
        for at, first in enumerate(listed):
            left = days[services[first]]
            for then in listed[at + 1 :]:
                if not share_days(services[first], services[then]):
                    continue
                shared = np.intersect1d(left, days[services[then]]).astype(np.int32)
                if len(shared):
                    found.append((first, then, shared))
                    left = np.setdiff1d(left, shared)
                if not len(left):
                    break
    return found


def _list_usable(
    archive: Archive, trips: Trips, departures: Departures, candidates: Sequence[_Candidate]
) -> Iterator[_Candidate]:
    first = np.array([first for first, _, _ in candidates], np.int32)
    then = np.array([then for _, then, _ in candidates], np.int32)
    begin_s, begin_place, end_place = departures.begin_s, departures.begin_place, departures.end_place
    stands_s = begin_s[then] - departures.end_s[first]
    is_loop = begin_place == end_place
    turns_back = (departures.route[first] == departures.route[then]) & ~(is_loop[first] & is_loop[then])
    without_riders = turns_back | (end_place[first] != begin_place[then]) | (stands_s > MAX_STAND_S)
    faults = (
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", (stands_s < 0) | (begin_s[then] <= begin_s[first])),
        (Reason.BLOCK_WITHOUT_RIDERS_UNAPPLIED, "block_id", without_riders),
    )
    lines = trips.lines[departures.trip[first]]
    usable = archive.findings.drop_faulty("trips.txt", lines, np.ones(len(first), np.bool_), faults)
    return compress(candidates, usable.tolist())
