"""Access and egress: the stops within walking distance of an origin or a destination."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fingerpost.transit.engine.timetable.timetable import STOP, Int32, Timetable
from fingerpost.transit.engine.timetable.walks import StraightLine, Walks


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An origin or destination, and the stops around it: rows, walking seconds and metres."""

    lat: float
    lon: float
    stop: Int32
    seconds: Int32
    metres: Int32

    @cached_property
    def walk_s_by_stop(self) -> dict[int, int]:
        return dict(zip(self.stop.tolist(), self.seconds.tolist(), strict=True))

    @property
    def min_walk_m(self) -> int:
        """The metres of the shortest walk, 0 if there is no stop."""
        return int(self.metres.min()) if len(self.metres) else 0

    def within(self, limit_m: float) -> "Endpoint":
        reached = self.metres <= limit_m
        if reached.all():
            return self
        return replace(self, stop=self.stop[reached], seconds=self.seconds[reached], metres=self.metres[reached])


def find_endpoint(
    timetable: Timetable,
    lat: float,
    lon: float,
    place_stops: Sequence[int],
    max_walk_m: float,
    *,
    walks: Walks | None = None,
    is_destination: bool = False,
) -> Endpoint:
    """Return an endpoint with every boardable stop within a walk of ``max_walk_m``; ``place_stops`` need no walk.

    If ``is_destination``, the walks lead from the stops to the endpoint.
    """
    walks = walks or StraightLine(timetable.stop_lat, timetable.stop_lon)
    boardable = np.flatnonzero(timetable.stop_kind == STOP)
    reached = walks.reach(lat, lon, boardable, max_walk_m, from_stops=is_destination)
    if not place_stops:
        return Endpoint(lat=lat, lon=lon, stop=reached.stop, seconds=reached.seconds, metres=reached.metres)
    place_rows = np.array(sorted(set(place_stops)), np.int64)
    is_other = ~np.isin(reached.stop, place_rows)
    no_walk = np.zeros(len(place_rows), np.int32)
    return Endpoint(
        lat=lat,
        lon=lon,
        stop=np.concatenate([place_rows.astype(np.int32), reached.stop[is_other]]),
        seconds=np.concatenate([no_walk, reached.seconds[is_other]]),
        metres=np.concatenate([no_walk, reached.metres[is_other]]),
    )
