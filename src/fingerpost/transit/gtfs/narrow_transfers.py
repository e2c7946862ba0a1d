"""Rules for changes between certain trips or routes: how many of them a search can bear."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fingerpost.transit.gtfs.csv.archive import Archive
from fingerpost.transit.gtfs.findings import Reason
from fingerpost.transit.gtfs.transfers import Transfers
from fingerpost.transit.timetable.draft import NarrowTransferColumns
from fingerpost.transit.timetable.timetable import Int32, Int64

# So many links may be made between the kinds of trips that meet at a stop, all stops together.
MOST_LINKS = 4_000_000
# A slice of the timetable holds the trips of at most so many days.
_DAYS = 4
# With no more kinds than these at a stop, nobody need count days.
_FEW = 100


def bound_narrow(
    archive: Archive, transfers: Transfers, stop_count: int, trip_service: Int32, days: Sequence[Int32]
) -> NarrowTransferColumns:
    """Leave out narrow rules, and count them, at stops where so many kinds of trips meet that a search would suffer.

    The search keeps trips apart that the rules of a stop treat differently. There are at most as many kinds as the
    rules name routes there, and trips that run within the days of a slice. The stops with most kinds go first.
    """
    narrow = transfers.narrow
    if not len(narrow.from_stop):
        return narrow
    stop = np.concatenate([narrow.from_stop, narrow.to_stop]).astype(np.int64)
    routes = _named(stop, np.concatenate([narrow.from_route, narrow.to_route]))
    trips = _named(stop, np.concatenate([narrow.from_trip, narrow.to_trip]))
    kinds = np.bincount(routes[:, 0], minlength=stop_count) + _busiest_days(trips, trip_service, days, stop_count)
    order = np.argsort(kinds, kind="stable")
    is_kept = np.zeros(stop_count, np.bool_)
    is_kept[order] = np.cumsum(kinds[order] ** 2) <= MOST_LINKS
    kept = is_kept[narrow.from_stop] & is_kept[narrow.to_stop]
    if kept.all():
        return narrow
    lines = np.unique(transfers.narrow_line[~kept])
    archive.findings.add_many(Reason.TRANSFER_BY_ROUTE_OR_TRIP_UNAPPLIED, "transfers.txt", lines)
    return NarrowTransferColumns(**{name: getattr(narrow, name)[kept] for name in NarrowTransferColumns.__slots__})


def _named(stop: Int64, row: Int32) -> Int64:
    """Return the different pairs of a stop and a row that is named there."""
    pairs: Int64 = np.unique(np.column_stack([stop, row])[row >= 0], axis=0)
    return pairs


def _busiest_days(trips: Int64, trip_service: Int32, days: Sequence[Int32], stop_count: int) -> npt.NDArray[np.int64]:
    """Return, for each stop, at most how many of its (stop, trip) pairs run within the days of a slice."""
    most = np.bincount(trips[:, 0], minlength=stop_count)
    first = min((int(service[0]) for service in days if len(service)), default=0)
    last = max((int(service[-1]) for service in days if len(service)), default=0)
    for stop in np.flatnonzero(most > _FEW).tolist():
        service, count = np.unique(trip_service[trips[trips[:, 0] == stop, 1]], return_counts=True)
        on_day = np.zeros(last - first + 1, np.int64)
        for row, trips_of in zip(service.tolist(), count.tolist(), strict=True):
            on_day[days[row] - first] += trips_of
        most[stop] = min(int(most[stop]), _DAYS * int(on_day.max()))
    return most
