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
    def least_m(self) -> int:
        """The metres of the shortest walk, 0 if no stop is within reach."""
        return int(self.metres.min()) if len(self.metres) else 0

    def within(self, limit_m: float) -> "Endpoint":
        near = self.metres <= limit_m
        if near.all():
            return self
        return replace(self, stop=self.stop[near], seconds=self.seconds[near], metres=self.metres[near])


def find_endpoint(
    timetable: Timetable,
    lat: float,
    lon: float,
    own_stops: Sequence[int],
    max_walk_m: float,
    *,
    walks: Walks | None = None,
    is_goal: bool = False,
) -> Endpoint:
    """Return an endpoint with every boardable stop within ``max_walk_m`` of walking; ``own_stops`` cost no walk.

    ``is_goal``: the walks lead from the stops to the endpoint.
    """
    walks = walks or StraightLine(timetable.stop_lat, timetable.stop_lon)
    boardable = np.flatnonzero(timetable.stop_kind == STOP)
    near = walks.reach(lat, lon, boardable, max_walk_m, from_stops=is_goal)
    own = np.array(sorted(set(own_stops)), np.int64)
    others = ~np.isin(near.stop, own)
    none = np.zeros(len(own), np.int32)
    return Endpoint(
        lat=lat,
        lon=lon,
        stop=np.concatenate([own.astype(np.int32), near.stop[others]]),
        seconds=np.concatenate([none, near.seconds[others]]),
        metres=np.concatenate([none, near.metres[others]]),
    )
