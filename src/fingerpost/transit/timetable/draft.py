"""What a writer of timetables fills in: plain rows, before anything is derived from them."""

from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.timetable.timetable import Feed


class StopRow(NamedTuple):
    """A stop, station, entrance or node. ``parent`` is a row number, -1 for none; ``platform`` may be empty."""

    feed: int
    local_id: str
    name: str
    lat: float
    lon: float
    kind: int = 0
    parent: int = -1
    platform: str = ""
    wheelchair: int = 0


class RouteRow(NamedTuple):
    """A route. Names may be empty; ``type`` is GTFS's; ``agency`` a row of its feed's agency_ids, -1 for none."""

    feed: int
    local_id: str
    short_name: str
    long_name: str
    type: int
    agency: int = -1


class TripRow(NamedTuple):
    """A trip. ``headsign`` is a row of the draft's headsigns, -1 for none; so is ``direction`` where not stated."""

    local_id: str
    route: int
    service: int
    headsign: int = -1
    wheelchair: int = 0
    direction: int = -1


class RunRow(NamedTuple):
    """One journey of a trip: its event times plus ``shift_s``. ``headway_s`` 0 means the time is exact."""

    trip: int
    shift_s: int = 0
    headway_s: int = 0


class ServiceRow(NamedTuple):
    """The days on which trips run: a set of dates, or None for every day."""

    feed: int
    days: frozenset[date] | None


class TransferRow(NamedTuple):
    """A transfer rule between two boardable stops. ``type`` 0..3 is GTFS's; ``min_s`` is -1 where not stated."""

    from_stop: int
    to_stop: int
    type: int
    min_s: int = -1


def _no_events() -> npt.NDArray[np.int32]:
    return np.zeros(0, np.int32)


@dataclass(slots=True, kw_only=True)
class TimetableDraft:
    """Rows of one or several feeds; row numbers join them.

    Event columns hold the events of trip 0, then of trip 1, and so on, each in calling order;
    ``trip_event_count`` says how many each trip has.
    ``event_sequence`` may stay empty, when the calls of each trip are numbered from 1.
    ``stop_names`` maps a language to {stop row: name}.
    """

    feeds: list[Feed] = field(default_factory=list)
    stops: list[StopRow] = field(default_factory=list)
    routes: list[RouteRow] = field(default_factory=list)
    trips: list[TripRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    services: list[ServiceRow] = field(default_factory=list)
    transfers: list[TransferRow] = field(default_factory=list)
    headsigns: list[str] = field(default_factory=list)
    stop_names: dict[str, dict[int, str]] = field(default_factory=dict)
    trip_event_count: npt.NDArray[np.int32] = field(default_factory=_no_events)
    event_stop: npt.NDArray[np.int32] = field(default_factory=_no_events)
    event_sequence: npt.NDArray[np.int32] = field(default_factory=_no_events)
    event_arrival_s: npt.NDArray[np.int32] = field(default_factory=_no_events)
    event_departure_s: npt.NDArray[np.int32] = field(default_factory=_no_events)
    event_flags: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    event_headsign: npt.NDArray[np.int32] = field(default_factory=_no_events)
