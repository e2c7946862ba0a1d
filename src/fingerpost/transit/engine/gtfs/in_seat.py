"""Find the in-seat transfers of a GTFS feed, given in transfers.txt or implied by block_id."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Mask, Reason
from fingerpost.transit.engine.gtfs.transfers import IN_SEAT
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import InSeatColumns, StopRow, StopTimeColumns, TripDepartureColumns
from fingerpost.transit.engine.timetable.timetable import Int32, Int64

# The maximum layover between trips of a block; riders do not stay seated for longer than this.
MAX_LAYOVER_S = 3600
# The maximum layover between trips that transfers.txt links; night trains may have long ones.
MAX_LINKED_LAYOVER_S = 3 * 3600

_DAY_S = 86_400


class Departures(NamedTuple):
    """The trip departures of a feed, as columns; those of trip t are rows ``first[t] .. first[t + 1]``.

    ``place`` is the station of each stop, or the stop itself. ``is_exact`` is false for headway-based departures.
    """

    first: Int64
    trip: Int32
    service: Int32
    begin_s: Int64
    end_s: Int64
    begin_stop: Int32
    end_stop: Int32
    is_exact: Mask
    place: Int32

    def list_exact(self, trip: int) -> Int64:
        rows = np.arange(self.first[trip], self.first[trip + 1])
        rows = rows[self.is_exact[rows]]
        ordered: Int64 = rows[np.argsort(self.begin_s[rows], kind="stable")]
        return ordered


def list_departures(
    stops: Sequence[StopRow],
    trips: Trips,
    service: Int32,
    trip_departures: TripDepartureColumns,
    stop_times: StopTimeColumns,
) -> Departures:
    """Build the columns; ``service`` is the row of each trip's service among the services that have trips."""
    trip = trip_departures.trip
    last = trips.stop_time_count.cumsum()[trip] - 1
    first = last - trips.stop_time_count[trip] + 1
    parents = np.array([row.parent for row in stops], np.int32)
    return Departures(
        first=np.searchsorted(trip, np.arange(len(trips) + 1)),
        trip=trip,
        service=service[trip],
        begin_s=stop_times.departure_s[first].astype(np.int64) + trip_departures.shift_s,
        end_s=stop_times.arrival_s[last].astype(np.int64) + trip_departures.shift_s,
        begin_stop=stop_times.stop[first],
        end_stop=stop_times.stop[last],
        is_exact=trip_departures.headway_s == 0,
        place=np.where(parents >= 0, parents, np.arange(len(parents))).astype(np.int32),
    )


_InSeat = tuple[int, int, int, Int32 | None]
"""(First departure, second departure, days between their service days, service days of the first or None for all)."""

_Candidate = tuple[int, int, Int32 | None]
"""(Departure, next departure of its block, common service days or None for all days of the first)."""


def find_in_seat(
    archive: Archive, trips: Trips, departures: Departures, days: Sequence[Int32], trip_links: Int32
) -> tuple[InSeatColumns, list[Int32]]:
    """Return the in-seat transfers of a feed, and the days of additional services that some of them refer to.

    Rows of ``transfers.txt`` between two trips (types 4 and 5) override their block (GTFS, "Linked trips"). A block
    implies an in-seat transfer to the next trip on the same service day if that trip begins within an hour at the same
    stop or station, and is on another route or continues a loop. Headway-based departures have no in-seat transfers.
    """
    transfers = _read_links(archive, trip_links, departures, days)
    linked_from, linked_to = ({int(departures.trip[row[side]]) for row in transfers} for side in (0, 1))
    block = trips.block[departures.trip]
    forbidden = {(int(row[0]), int(row[1])) for row in trip_links if row[2] != IN_SEAT}
    headway_trips = np.unique(departures.trip[(block >= 0) & ~departures.is_exact])
    archive.findings.add_many(Reason.BLOCK_OF_HEADWAYS_UNAPPLIED, "trips.txt", trips.lines[headway_trips], "block_id")
    for first, second, valid_days in _drop_unusable(
        archive, trips, departures, _list_block_pairs(departures, block, days)
    ):
        pair = (int(departures.trip[first]), int(departures.trip[second]))
        if pair not in forbidden and pair[0] not in linked_from and pair[1] not in linked_to:
            transfers.append((first, second, 0, valid_days))
    services: dict[bytes, tuple[int, Int32]] = {}
    rows = np.zeros((len(transfers), 4), np.int32)
    for row, (first, second, days_later, valid_days) in enumerate(transfers):
        service = -1
        if valid_days is not None:
            service, _ = services.setdefault(valid_days.tobytes(), (len(days) + len(services), valid_days))
        rows[row] = first, second, days_later, service
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    columns = to_columns(InSeatColumns, dict(zip(InSeatColumns._fields, rows.T, strict=True)))
    return columns, [valid_days for _, valid_days in services.values()]


def _read_links(archive: Archive, trip_links: Int32, departures: Departures, days: Sequence[Int32]) -> list[_InSeat]:
    """Return the in-seat transfers of type 4, and report those that do not apply."""
    transfers: dict[tuple[int, int], list[_InSeat]] = {}
    unapplied_lines: list[int] = []
    for first, second, type_, from_stop, to_stop, line in trip_links.tolist():
        if first < 0 or second < 0:
            unapplied_lines.append(line)
            continue
        if type_ != IN_SEAT or (first, second) in transfers:
            continue
        pairs = _list_consecutive(departures, first, second, days)
        is_at_terminals = all(
            from_stop in (-1, end := departures.end_stop[departure], departures.place[end])
            and to_stop in (-1, begin := departures.begin_stop[next_departure], departures.place[begin])
            for departure, next_departure, *_ in pairs
        )
        if pairs and is_at_terminals:
            transfers[first, second] = pairs
        else:
            unapplied_lines.append(line)
    lines = np.array(unapplied_lines, np.int32)
    archive.findings.add_many(Reason.TRANSFER_IN_SEAT_UNAPPLIED, "transfers.txt", lines, "transfer_type")
    return [pair for pairs in transfers.values() for pair in pairs]


def _list_consecutive(departures: Departures, first: int, second: int, days: Sequence[Int32]) -> list[_InSeat]:
    """Return the consecutive departures of two trips, on a common service day or on two successive days."""
    for days_later in (0, 1):
        pairs = _pair_trips(departures, first, second, days_later)
        if pairs:
            first_days, second_days = (days[service] for service in departures.service[list(pairs[0])])
            if len(np.intersect1d(first_days, second_days - days_later)):
                return [(*pair, days_later, None) for pair in pairs]
    return []


def _pair_trips(departures: Departures, trip: int, next_trip: int, days_later: int) -> list[tuple[int, int]]:
    """Return the consecutive departures of two trips: pairs in which each is closest in time to the other."""
    first, second = departures.list_exact(trip), departures.list_exact(next_trip)
    end_s, begin_s = departures.end_s[first], departures.begin_s[second] + days_later * _DAY_S
    next_index = np.searchsorted(begin_s, end_s, "left")
    previous_index = np.searchsorted(end_s, begin_s, "right") - 1
    return [
        (int(first[index]), int(second[following]))
        for index, following in enumerate(next_index.tolist())
        if following < len(second)
        and previous_index[following] == index
        and departures.begin_s[first[index]] < begin_s[following] <= end_s[index] + MAX_LINKED_LAYOVER_S
    ]


def _list_block_pairs(departures: Departures, blocks: Int32, days: Sequence[Int32]) -> list[_Candidate]:
    """Return the pairs of consecutive trip departures with exact times in each block, on each service day."""
    services = departures.service.tolist()
    rows = np.flatnonzero((blocks >= 0) & departures.is_exact)
    rows = rows[np.lexsort((rows, departures.end_s[rows], departures.begin_s[rows], blocks[rows]))]
    have_common_days = cache(lambda a, b: bool(len(np.intersect1d(days[a], days[b]))))
    candidates: list[_Candidate] = []
    for block_rows in np.split(rows, np.flatnonzero(np.diff(blocks[rows])) + 1):
        departure_rows = block_rows.tolist()
        for index, first in enumerate(departure_rows):
            all_days = remaining_days = days[services[first]]
            for second in departure_rows[index + 1 :]:
                if services[first] == services[second]:
                    candidates.append((first, second, None if remaining_days is all_days else remaining_days))
                    break
                if not have_common_days(services[first], services[second]):
                    continue
                common_days = np.intersect1d(remaining_days, days[services[second]]).astype(np.int32)
                if len(common_days):
                    candidates.append((first, second, common_days))
                    remaining_days = np.setdiff1d(remaining_days, common_days)
                if not len(remaining_days):
                    break
    return candidates


def _drop_unusable(
    archive: Archive, trips: Trips, departures: Departures, candidates: Sequence[_Candidate]
) -> Iterator[_Candidate]:
    first = np.array([first for first, _, _ in candidates], np.int32)
    second = np.array([second for _, second, _ in candidates], np.int32)
    begin_s, route = departures.begin_s, trips.route[departures.trip]
    begin_place, end_place = (departures.place[stop] for stop in (departures.begin_stop, departures.end_stop))
    layover_s = begin_s[second] - departures.end_s[first]
    is_loop = begin_place == end_place
    is_reversal = (route[first] == route[second]) & ~(is_loop[first] & is_loop[second])
    has_no_riders = is_reversal | (end_place[first] != begin_place[second]) | (layover_s > MAX_LAYOVER_S)
    faults = (
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", (layover_s < 0) | (begin_s[second] <= begin_s[first])),
        (Reason.BLOCK_WITHOUT_RIDERS_UNAPPLIED, "block_id", has_no_riders),
    )
    lines = trips.lines[departures.trip[first]]
    usable = archive.findings.drop_faulty("trips.txt", lines, np.ones(len(first), np.bool_), faults)
    return compress(candidates, usable.tolist())
