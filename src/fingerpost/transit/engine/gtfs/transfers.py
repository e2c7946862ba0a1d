"""Read GTFS ``transfers.txt``: transfers between stops, and trip- and route-specific ones."""

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.columns import IdIndex
from fingerpost.transit.engine.gtfs.csv.findings import Mask, Reason
from fingerpost.transit.engine.gtfs.csv.kernel import BLANK, UNKNOWN
from fingerpost.transit.engine.gtfs.csv.table import Block, Table
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Routes, Trips
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import SpecificTransferColumns, TransferColumns
from fingerpost.transit.engine.timetable.timetable import RECOMMENDED, STATION, STOP, Int32

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


class Transfers(NamedTuple):
    """A feed's transfer rules, and its links between trips (from trip, to trip, type, from stop, to stop, line).

    A missing trip or stop is ``kernel.UNKNOWN`` or ``kernel.BLANK``.
    """

    by_stop: TransferColumns
    specific: SpecificTransferColumns
    trip_links: Int32


def read_transfers(archive: Archive, stops: Stops, routes: Routes, trips: Trips) -> Transfers:
    """Return the general transfer rules, and those for specific trips and routes; if several match, the last applies.

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
                stop_rows, line = rule[:2].tolist(), int(rule[_LINE])
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
    return Transfers(
        to_columns(TransferColumns, dict(zip(_RULE, by_stop.T, strict=True))),
        to_columns(SpecificTransferColumns, dict(zip(_RULE, specific.T, strict=True))),
        np.concatenate(trip_links),
    )


def _read_rules(table: Table, block: Block, ids: Mapping[str, IdIndex]) -> tuple[Int32, Mask, Mask]:
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
