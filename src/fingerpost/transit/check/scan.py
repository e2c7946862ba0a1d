"""Scan the trips of raw feeds for the earliest arrival, to compare it with the search.

A connection scan (Dibbelt et al., 2013) with labels of time, metres and rides. It shares no code with the search.
Each result can be travelled, but in-seat and other trip-specific transfers are not used, so the search may be better.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Connection(NamedTuple):
    """One trip between two successive calls; stops are rows in the network, times are in Unix seconds."""

    departure: int
    trip: int
    position: int
    arrival: int
    begin: int
    end: int
    can_board: bool
    can_alight: bool


class Label(NamedTuple):
    time: int
    walked_m: int
    rides: int


class Walked(NamedTuple):
    seconds: int
    metres: int


Links = Mapping[int, Sequence[tuple[int, int, int]]]
"""The transfers from a stop: (stop, seconds until ready to board, metres)."""


class ScanQuery(NamedTuple):
    """``access`` and ``egress`` hold the walks, keyed by stop; the scan ends at ``until`` (Unix seconds)."""

    access: Mapping[int, Walked]
    egress: Mapping[int, Walked]
    instant: int
    until: int
    max_walk_m: int
    max_rides: int


def find_earliest_arrival(connections: Sequence[Connection], links: Links, query: ScanQuery) -> int | None:
    """Return the earliest arrival before ``until``, or None; the connections must be in order."""
    at_stops: dict[int, list[Label]] = {}
    aboard: dict[int, list[Label]] = {}
    best = query.until
    for stop, walk in query.access.items():
        at_stops[stop] = [Label(query.instant + walk.seconds, walk.metres, 0)]
    for connection in connections[bisect_left(connections, (query.instant,)) :]:
        if connection.departure >= best:
            break
        if connection.can_board:
            for label in at_stops.get(connection.begin, ()):
                if label.time <= connection.departure and label.rides < query.max_rides:
                    ride = Label(0, label.walked_m, label.rides + 1)
                    _add_label(aboard.setdefault(connection.trip, []), ride)
        if not connection.can_alight:
            continue
        for label in aboard.get(connection.trip, ()):
            egress = query.egress.get(connection.end)
            if egress is not None and label.walked_m + egress.metres <= query.max_walk_m:
                best = min(best, connection.arrival + egress.seconds)
            for stop, seconds, metres in links.get(connection.end, ()):
                reached = Label(connection.arrival + seconds, label.walked_m + metres, label.rides)
                if reached.time < best and reached.walked_m <= query.max_walk_m:
                    _add_label(at_stops.setdefault(stop, []), reached)
    return best if best < query.until else None


def _add_label(labels: list[Label], new: Label) -> None:
    """Add a label unless another dominates it, and remove those that it dominates."""
    if any(all(one <= other for one, other in zip(label, new, strict=True)) for label in labels):
        return
    labels[:] = [label for label in labels if not all(one <= other for one, other in zip(new, label, strict=True))]
    labels.append(new)
