"""``transfers.txt``: what the feed says about changing between two stops."""

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.stops import Stops
from fingerpost.transit.gtfs.trips import LEFT_OUT
from fingerpost.transit.timetable.draft import TransferRow
from fingerpost.transit.timetable.timetable import FORBIDDEN, RECOMMENDED, STATION

_IN_SEAT, _RE_BOARD = 4, 5
_COLUMNS = ("from_stop_id", "to_stop_id", "transfer_type", "min_transfer_time")
_NARROWER = ("from_route_id", "to_route_id", "from_trip_id", "to_trip_id")


def read_transfers(archive: Archive, stops: Stops, findings: Findings) -> list[TransferRow]:
    """Return one rule for each ordered pair of boardable stops that the feed speaks of.

    A station stands for all its boardable stops. A row that names more stops by themselves wins over one that
    names them by their station, and a later row over an earlier one (GTFS, transfers.txt, primary key).
    """
    table = archive.find_table("transfers.txt")
    if table is None:
        return []
    rules: dict[tuple[int, int], tuple[int, TransferRow]] = {}
    for line, (from_id, to_id, type_text, min_text, *narrower) in table.rows(*_COLUMNS, *_NARROWER):
        type_ = table.integer(line, "transfer_type", type_text, empty=RECOMMENDED)
        min_s = table.integer(line, "min_transfer_time", min_text, empty=-1)
        if min_s < 0 and min_text:
            raise table.fault(line, "min_transfer_time", min_text, "a number of seconds, 0 or more")
        begin, end = stops.row_of.get(from_id), stops.row_of.get(to_id)
        reason = _find_obstacle(type_, any(narrower), begin, end)
        if reason is None:
            assert begin is not None
            assert end is not None
            sources, targets = stops.list_boardable(begin), stops.list_boardable(end)
            if not (sources and targets):
                reason = Reason.TRANSFER_WHERE_NOBODY_BOARDS
        if reason is not None:
            findings.add(reason, table.name, line)
            continue
        precision = sum(stops.rows[row].kind != STATION for row in (begin, end) if row is not None)
        for source in sources:
            for target in targets:
                if precision >= rules.get((source, target), (0,))[0]:
                    rules[source, target] = (precision, TransferRow(source, target, type_, min_s))
    return [rule for _, rule in rules.values()]


def _find_obstacle(type_: int, is_narrower: bool, begin: int | None, end: int | None) -> Reason | None:
    """Return why a row cannot be taken as a rule between two stops, or None."""
    if type_ in (_IN_SEAT, _RE_BOARD):
        return Reason.TRANSFER_IN_SEAT_UNAPPLIED
    if not RECOMMENDED <= type_ <= FORBIDDEN:
        return Reason.TRANSFER_KIND_UNKNOWN
    if is_narrower:
        return Reason.TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED
    if begin is None or end is None:
        return Reason.TRANSFER_AT_UNKNOWN_STOP
    if LEFT_OUT in (begin, end):
        return Reason.TRANSFER_AT_LEFT_OUT_STOP
    return None
