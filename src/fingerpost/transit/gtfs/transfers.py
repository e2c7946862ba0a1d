"""``transfers.txt``: what the feed says about changing between two stops."""

import numpy as np
import numpy.typing as npt

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Reason
from fingerpost.transit.gtfs.ids import IdIndex
from fingerpost.transit.gtfs.stops import Stops
from fingerpost.transit.gtfs.table import Block, Table
from fingerpost.transit.gtfs.trips import LEFT_OUT
from fingerpost.transit.timetable.draft import TransferColumns
from fingerpost.transit.timetable.timetable import FORBIDDEN, RECOMMENDED, STATION, STOP, Int32

# No station has so many pairs of stops, and no feed so many rules.
MOST_OF_A_ROW = 250_000
MOST_OF_A_FEED = 5_000_000

_IN_SEAT, _RE_BOARD = 4, 5
_COLUMNS = (
    "from_stop_id",
    "to_stop_id",
    "transfer_type",
    "min_transfer_time",
    "from_route_id",
    "to_route_id",
    "from_trip_id",
    "to_trip_id",
)
_NARROWER = range(4, 8)

Mask = npt.NDArray[np.bool_]


def read_transfers(archive: Archive, stops: Stops) -> TransferColumns:
    """Return one rule for each ordered pair of boardable stops that the feed speaks of, sorted by them.

    A station stands for all its boardable stops. A row that names more stops by themselves wins over one that
    names them by their station, and a later row over an earlier one (GTFS, transfers.txt, primary key).
    A rule that one must leave the vehicle and board again (type 5) is kept by itself: nobody is kept seated.
    """
    table = archive.find_extra("transfers.txt", "from_stop_id", "to_stop_id")
    rules: list[Int32] = [np.zeros((0, 5), np.int32)]
    if table is not None:
        ids = IdIndex(stops.row_of)
        row_of_id = np.array([*stops.row_of.values(), -1], np.int32)
        kinds = np.array([row.kind for row in stops.rows] + [-1, -1], np.int8)
        count = 0
        for block in table.blocks(*_COLUMNS):
            ends = [row_of_id[np.maximum(ids.find(block, column), -1)] for column in (0, 1)]
            usable, type_, min_s = _usable(table, block, *ends)
            simple = usable & (kinds[ends[0]] == STOP) & (kinds[ends[1]] == STOP)
            two = np.full(int(simple.sum()), 2, np.int32)
            rules.append(np.column_stack([ends[0][simple], ends[1][simple], type_[simple], min_s[simple], two]))
            count += len(two)
            for row in np.flatnonzero(usable & ~simple).tolist():
                pairs = _pairs(stops, int(ends[0][row]), int(ends[1][row]))
                line = int(block.lines[row])
                if not len(pairs):
                    table.note(Reason.TRANSFER_WHERE_NOBODY_BOARDS, line, "from_stop_id")
                elif len(pairs) > MOST_OF_A_ROW or count + len(pairs) > MOST_OF_A_FEED:
                    table.note(Reason.TRANSFER_TOO_MANY, line, "from_stop_id")
                else:
                    precision = sum(stops.rows[int(end[row])].kind != STATION for end in ends)
                    said = np.array([[type_[row], min_s[row], precision]], np.int32).repeat(len(pairs), axis=0)
                    rules.append(np.column_stack([pairs, said]))
                    count += len(pairs)
    return _last_of_each(np.concatenate(rules), len(stops.rows))


def _usable(table: Table, block: Block, begin: Int32, end: Int32) -> tuple[Mask, Int32, Int32]:
    """Mark the rows that are rules between two stops, count the others; return marks, types and stated seconds."""
    type_, bad_type = block.integers(2, RECOMMENDED)
    min_s, bad_min = block.integers(3, -1)
    bad_min |= block.is_filled(3) & (min_s < 0)
    min_s[bad_min] = -1
    is_narrower = np.logical_or.reduce([block.is_filled(column) for column in _NARROWER])
    usable = np.ones(len(type_), np.bool_)
    for reason, column, faulty in (
        (None, "", type_ == _RE_BOARD),
        (Reason.TRANSFER_IN_SEAT_UNAPPLIED, "transfer_type", type_ == _IN_SEAT),
        (Reason.TRANSFER_KIND_UNKNOWN, "transfer_type", (type_ < RECOMMENDED) | (type_ > FORBIDDEN)),
        (Reason.TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED, "", is_narrower),
        (Reason.TRANSFER_AT_UNKNOWN_STOP, "from_stop_id", begin == -1),
        (Reason.TRANSFER_AT_UNKNOWN_STOP, "to_stop_id", end == -1),
        (Reason.TRANSFER_AT_LEFT_OUT_STOP, "from_stop_id", begin == LEFT_OUT),
        (Reason.TRANSFER_AT_LEFT_OUT_STOP, "to_stop_id", end == LEFT_OUT),
    ):
        if faulty.any():
            if reason is not None:
                table.note_rows(reason, block.lines[usable & faulty], column)
            usable &= ~faulty
    table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[usable & bad_type], "transfer_type")
    table.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[usable & bad_min], "min_transfer_time")
    return usable, type_, min_s


def _pairs(stops: Stops, begin: int, end: int) -> Int32:
    sources, targets = stops.list_boardable(begin), stops.list_boardable(end)
    if len(sources) * len(targets) > MOST_OF_A_ROW:
        return np.zeros((MOST_OF_A_ROW + 1, 2), np.int32)
    return np.array([(source, target) for source in sources for target in targets], np.int32).reshape(-1, 2)


def _last_of_each(rules: Int32, stop_count: int) -> TransferColumns:
    """Keep, for each ordered pair, the last of the most precise rules."""
    key = rules[:, 0].astype(np.int64) * stop_count + rules[:, 1]
    order = np.lexsort((np.arange(len(key)), rules[:, 4], key))
    is_last = np.append(key[order][1:] != key[order][:-1], True) if len(key) else np.zeros(0, np.bool_)
    kept = rules[order][is_last]
    return TransferColumns(
        from_stop=kept[:, 0].copy(),
        to_stop=kept[:, 1].copy(),
        type=kept[:, 2].astype(np.int8),
        min_s=kept[:, 3].copy(),
    )
