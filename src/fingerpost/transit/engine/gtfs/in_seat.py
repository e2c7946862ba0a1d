"""Find the in-seat transfers of a GTFS feed, given in transfers.txt or implied by block_id."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Mask, Reason
from fingerpost.transit.engine.gtfs.transfers import IN_SEAT, RE_BOARD
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import InSeatColumns, StopRow, StopTimeColumns, TripDepartureColumns
from fingerpost.transit.engine.timetable.timetable import Int32, Int64

# The maximum layover for which riders stay seated between trips of a block.
MAX_LAYOVER_S = 3600
# The maximum layover between trips that transfers.txt links; night trains may stop for hours.
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

    def find_single(self, trip: int) -> int | None:
        """Return the only departure of a trip, or None if it has several or no exact time."""
        row = int(self.first[trip])
        return row if self.first[trip + 1] == row + 1 and self.is_exact[row] else None


def list_departures(
    stops: Sequence[StopRow],
    trips: Trips,
    service: Int32,
    trip_departures: TripDepartureColumns,
    stop_times: StopTimeColumns,
) -> Departures:
    """Build the columns of departures; ``service`` has each trip's service, as a row among the services with trips."""
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


_InSeat = tuple[int, int, int]
"""(First departure, second departure, days between their service days)."""


def find_in_seat(
    archive: Archive, trips: Trips, departures: Departures, days: Sequence[Int32], trip_links: Int32
) -> InSeatColumns:
    """Return the in-seat transfers of a feed.

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
    for first, second in _drop_unusable(archive, trips, departures, _list_block_pairs(departures, block, days)):
        pair = (int(departures.trip[first]), int(departures.trip[second]))
        if pair not in forbidden and pair[0] not in linked_from and pair[1] not in linked_to:
            transfers.append((first, second, 0))
    columns = np.array(sorted(transfers), np.int32).reshape(-1, 3).T
    return to_columns(InSeatColumns, dict(zip(InSeatColumns._fields, columns, strict=True)))


def _read_links(archive: Archive, trip_links: Int32, departures: Departures, days: Sequence[Int32]) -> list[_InSeat]:
    """Return the in-seat transfers of type 4, and report those that cannot be applied."""
    transfers: dict[tuple[int, int], _InSeat] = {}
    unapplied_lines: list[int] = []
    for first, second, type_, from_stop, to_stop, line in trip_links.tolist():
        if type_ == RE_BOARD and min(first, second) >= 0:
            continue
        transfer = _find_link(departures, first, second, days) if min(first, second) >= 0 else None
        if (
            transfer is not None
            and from_stop in (-1, end := departures.end_stop[transfer[0]], departures.place[end])
            and to_stop in (-1, begin := departures.begin_stop[transfer[1]], departures.place[begin])
        ):
            transfers[first, second] = transfer
        elif (first, second) not in transfers:
            unapplied_lines.append(line)
    lines = np.array(unapplied_lines, np.int32)
    archive.findings.add_many(Reason.TRANSFER_IN_SEAT_UNAPPLIED, "transfers.txt", lines, "transfer_type")
    return list(transfers.values())


def _find_link(departures: Departures, trip: int, next_trip: int, days: Sequence[Int32]) -> _InSeat | None:
    """Return the in-seat transfer between two trips, on a common service day or on two successive days."""
    first, second = departures.find_single(trip), departures.find_single(next_trip)
    if first is None or second is None:
        return None
    begin_s, end_s = int(departures.begin_s[first]), int(departures.end_s[first])
    first_days, second_days = days[departures.service[first]], days[departures.service[second]]
    for days_later in (0, 1):
        next_s = int(departures.begin_s[second]) + days_later * _DAY_S
        is_next = begin_s < next_s and end_s <= next_s <= end_s + MAX_LINKED_LAYOVER_S
        if is_next and len(np.intersect1d(first_days, second_days - days_later)):
            return first, second, days_later
    return None


def _list_block_pairs(departures: Departures, blocks: Int32, days: Sequence[Int32]) -> list[tuple[int, int, bool]]:
    """Return the pairs of consecutive trip departures with exact times in each block.

    The third value is true if another departure of the block comes between the two on some days.
    """
    services = departures.service.tolist()
    rows = np.flatnonzero((blocks >= 0) & departures.is_exact)
    rows = rows[np.lexsort((rows, departures.end_s[rows], departures.begin_s[rows], blocks[rows]))]
    day_sets = [frozenset(service_days.tolist()) for service_days in days]
    pairs: list[tuple[int, int, bool]] = []
    for block_rows in np.split(rows, np.flatnonzero(np.diff(blocks[rows])) + 1):
        departure_rows = block_rows.tolist()
        for index, first in enumerate(departure_rows):
            all_days = remaining_days = day_sets[services[first]]
            for second in departure_rows[index + 1 :]:
                if services[first] == services[second]:
                    pairs.append((first, second, remaining_days is not all_days))
                    break
                second_days = day_sets[services[second]]
                if common_days := remaining_days & second_days:
                    pairs.append((first, second, common_days != all_days & second_days))
                    remaining_days -= common_days
                    if not remaining_days:
                        break
    return pairs


def _drop_unusable(
    archive: Archive, trips: Trips, departures: Departures, pairs: Sequence[tuple[int, int, bool]]
) -> Iterator[tuple[int, int]]:
    first, second, is_interrupted = np.array(pairs, np.int32).reshape(-1, 3).T
    begin_s, route = departures.begin_s, trips.route[departures.trip]
    begin_place, end_place = (departures.place[stop] for stop in (departures.begin_stop, departures.end_stop))
    layover_s = begin_s[second] - departures.end_s[first]
    is_loop = begin_place == end_place
    is_reversal = (route[first] == route[second]) & ~(is_loop[first] & is_loop[second])
    has_no_riders = is_reversal | (end_place[first] != begin_place[second]) | (layover_s > MAX_LAYOVER_S)
    overlaps = (layover_s < 0) | (begin_s[second] <= begin_s[first])
    faults = (
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", overlaps),
        (Reason.BLOCK_WITHOUT_RIDERS_UNAPPLIED, "block_id", has_no_riders),
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", is_interrupted == 1),
    )
    lines = trips.lines[departures.trip[first]]
    usable = archive.findings.drop_faulty("trips.txt", lines, np.ones(len(first), np.bool_), faults)
    yield from ((first, second) for first, second, _ in compress(pairs, usable.tolist()))
