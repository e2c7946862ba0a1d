"""Read GTFS ``transfers.txt``, and find the in-seat transfers, given there or implied by ``block_id``."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, product
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.kernel import BLANK, UNKNOWN
from fingerpost.transit.engine.gtfs.csv.table import Block, IdIndex, Table
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Routes, Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import (
    InSeatColumns,
    SpecificTransferColumns,
    StopRow,
    StopTimeColumns,
    TransferColumns,
    TripDepartureColumns,
)
from fingerpost.transit.engine.timetable.timetable import RECOMMENDED, STATION, STOP, Bool, Int32, Int64

# Limits on the stop pairs in one rule and on the rules in a feed; no real feed reaches them.
MAX_PAIRS_PER_ROW = 250_000
MAX_RULES_PER_FEED = 5_000_000

# Transfer types: riders stay seated, or must alight and board again (GTFS, "Linked trips").
IN_SEAT, RE_BOARD = 4, 5
_COLUMNS = (
    "from_stop_id", "to_stop_id", "transfer_type", "min_transfer_time",
    "from_route_id", "to_route_id", "from_trip_id", "to_trip_id",
)  # fmt: skip
# Columns of a parsed rule.
_RULE = (
    "from_stop", "to_stop", "type", "min_s", "from_route", "to_route", "from_trip", "to_trip", "precision", "line",
)  # fmt: skip
_PRECISION, _LINE = 8, 9


def read_transfers(
    archive: Archive, stops: Stops, routes: Routes, trips: Trips
) -> tuple[TransferColumns, SpecificTransferColumns, Int32]:
    """Return the general transfer rules, those for specific trips and routes, and the links between trips.

    The columns of links are from trip, to trip, type, from stop, to stop, and line; a missing trip or stop is
    ``kernel.UNKNOWN`` or ``kernel.BLANK``. If several rules match, the last applies.
    A row for stops overrides a row for their station, and a later row overrides an earlier one (GTFS, transfers.txt,
    primary key). If a row names both a trip and its route, the trip takes precedence.
    """
    table = archive.find_table("transfers.txt")
    rules: list[Int32] = [np.zeros((0, len(_RULE)), np.int32)]
    trip_links: list[Int32] = [np.zeros((0, 6), np.int32)]
    if table is not None:
        ids = {"stop": IdIndex(stops.row_by_id), "route": IdIndex(routes.row_by_id), "trip": trips.ids}
        # UNKNOWN and BLANK are negative, so they index the padding at the end.
        kinds = np.array([row.kind for row in stops.rows] + [-1] * int(-UNKNOWN), np.int8)
        count = 0
        for block in table.read_blocks(*_COLUMNS):
            parsed, is_linked, usable = _read_rules(table, block, ids)
            trip_links.append(parsed[is_linked][:, [6, 7, 2, 0, 1, _LINE]])
            is_direct = usable & (kinds[parsed[:, 0]] == STOP) & (kinds[parsed[:, 1]] == STOP)
            rules.append(parsed[is_direct])
            count += int(is_direct.sum())
            for rule in parsed[usable & ~is_direct]:
                stop_rows = rule[:2].tolist()
                line = int(rule[_LINE])
                from_stops, to_stops = map(stops.list_boardable, stop_rows)
                pair_count = len(from_stops) * len(to_stops)
                if not pair_count:
                    table.note(Reason.TRANSFER_AT_UNKNOWN_STOP, line, "from_stop_id")
                elif pair_count > MAX_PAIRS_PER_ROW or count + pair_count > MAX_RULES_PER_FEED:
                    table.note(Reason.TRANSFER_TOO_MANY, line, "from_stop_id")
                else:
                    pair_rules = np.tile(rule, (pair_count, 1))
                    pair_rules[:, :2] = [*product(from_stops, to_stops)]
                    pair_rules[:, _PRECISION] = sum(stops.rows[row].kind != STATION for row in stop_rows)
                    rules.append(pair_rules)
                    count += pair_count
    all_rules = np.concatenate(rules)
    all_rules = all_rules[np.lexsort((all_rules[:, _LINE], all_rules[:, _PRECISION]))]
    is_specific = (all_rules[:, 4:8] >= 0).any(axis=1)
    by_stop, specific = all_rules[~is_specific], all_rules[is_specific]
    return (
        to_columns(TransferColumns, dict(zip(_RULE, by_stop.T, strict=True))),
        to_columns(SpecificTransferColumns, dict(zip(_RULE, specific.T, strict=True))),
        np.concatenate(trip_links),
    )


def _read_rules(table: Table, block: Block, ids: Mapping[str, IdIndex]) -> tuple[Int32, Bool, Bool]:
    """Return a block's rules, a mask of the links between trips, and a mask of other usable rules; report the rest."""
    type_, bad_type = block.read_integers(2, RECOMMENDED)
    min_s, bad_min = block.read_integers(3, -1)
    bad_min |= block.is_filled(3) & (min_s < 0)
    min_s[bad_min] = -1
    stops, routes, trips = (
        {_COLUMNS[column]: ids[kind].find(block, column) for column in columns}
        for kind, columns in (("stop", (0, 1)), ("route", (4, 5)), ("trip", (6, 7)))
    )
    # Rows that link trips do not need stops.
    is_linked = (type_ == IN_SEAT) | (type_ == RE_BOARD)
    faults = (
        (Reason.TRANSFER_KIND_UNKNOWN, "transfer_type", (type_ < RECOMMENDED) | (type_ > RE_BOARD)),
        *((Reason.TRANSFER_AT_UNKNOWN_STOP, name, row < 0) for name, row in stops.items()),
        *((Reason.TRANSFER_OF_UNKNOWN_ROUTE_OR_TRIP, name, row == UNKNOWN) for name, row in (routes | trips).items()),
    )
    usable = table.drop_faulty(block.lines, ~is_linked, faults)
    table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[usable & bad_type], "transfer_type")
    table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[usable & bad_min], "min_transfer_time")
    pairs = zip(routes.values(), trips.values(), strict=True)
    rows = [*(np.where(trip >= 0, BLANK, route) for route, trip in pairs), *trips.values()]
    precision = np.full(len(type_), 2, np.int32)
    parsed = np.column_stack([*stops.values(), type_, min_s, *rows, precision, block.lines]).astype(np.int32)
    return parsed, is_linked, usable


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
    is_exact: Bool
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
    """Build the columns of departures; ``service`` is each trip's service, as a row of the services with trips."""
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

    The third value of each tuple is true if another departure of the block comes between the two on some days.
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
    route = trips.route[departures.trip]
    begin_place, end_place = (departures.place[stop] for stop in (departures.begin_stop, departures.end_stop))
    layover_s = departures.begin_s[second] - departures.end_s[first]
    is_loop = begin_place == end_place
    is_reversal = (route[first] == route[second]) & ~(is_loop[first] & is_loop[second])
    has_no_riders = is_reversal | (end_place[first] != begin_place[second]) | (layover_s > MAX_LAYOVER_S)
    overlaps = (layover_s < 0) | (departures.begin_s[second] <= departures.begin_s[first])
    faults = (
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", overlaps),
        (Reason.BLOCK_WITHOUT_RIDERS_UNAPPLIED, "block_id", has_no_riders),
        (Reason.BLOCK_OVERLAPS_UNAPPLIED, "block_id", is_interrupted == 1),
    )
    lines = trips.lines[departures.trip[first]]
    usable = archive.findings.drop_faulty("trips.txt", lines, np.ones(len(first), np.bool_), faults)
    yield from ((first, second) for first, second, _ in compress(pairs, usable.tolist()))
