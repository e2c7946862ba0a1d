"""A timetable under construction: the rows of its feeds, from which all other columns are derived."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.timetable.columns import NO_INT8, NO_INT32, NO_TEXTS, NO_UINT8, TextColumn
from fingerpost.transit.engine.timetable.timetable import Feed, Int8, Int32, Int64, Pathways, UInt8
from fingerpost.transit.model.line_colors import NO_COLOR


class StopRow(NamedTuple):
    """A stop, station, entrance or node. ``parent`` is a row, or -1 for none; ``platform`` and ``code`` may be empty.

    ``line`` is the line number in ``stops.txt``.
    """

    feed: int
    local_id: str
    name: str
    lat: float
    lon: float
    kind: int = 0
    parent: int = -1
    platform: str = ""
    wheelchair: int = 0
    code: str = ""
    line: int = 0


class RouteRow(NamedTuple):
    """A route; ``agency`` is a row in its feed's agency_ids, and colors are 0xRRGGBB. -1 means none."""

    feed: int
    local_id: str
    short_name: str
    long_name: str
    type: int
    agency: int = -1
    color: int = NO_COLOR
    text_color: int = NO_COLOR


class ServiceRow(NamedTuple):
    """The days on which trips run, as ordinals (date.toordinal), or None for every day."""

    feed: int
    days: Int32 | None


class TripColumns(NamedTuple):
    """Trips. ``headsign`` and ``shape`` are row numbers; in these and in ``direction``, -1 means that there is none."""

    local_id: TextColumn = NO_TEXTS
    route: Int32 = NO_INT32
    service: Int32 = NO_INT32
    headsign: Int32 = NO_INT32
    wheelchair: Int8 = NO_INT8
    direction: Int8 = NO_INT8
    shape: Int32 = NO_INT32


class StopTimeColumns(NamedTuple):
    """Stop times of trip 0, then of trip 1, and so on; ``headsign`` may be empty."""

    stop: Int32 = NO_INT32
    sequence: Int32 = NO_INT32
    arrival_s: Int32 = NO_INT32
    departure_s: Int32 = NO_INT32
    flags: UInt8 = NO_UINT8
    headsign: Int32 = NO_INT32


class TripDepartureColumns(NamedTuple):
    """Trip departures: the stop times of ``trip``, shifted by ``shift_s``. ``headway_s`` is 0 for exact times."""

    trip: Int32 = NO_INT32
    shift_s: Int32 = NO_INT32
    headway_s: Int32 = NO_INT32


class TransferColumns(NamedTuple):
    """Transfer rules between boardable stops. ``type`` is the GTFS value 0..3; ``min_s`` is -1 if not given."""

    from_stop: Int32 = NO_INT32
    to_stop: Int32 = NO_INT32
    type: Int8 = NO_INT8
    min_s: Int32 = NO_INT32


class SpecificTransferColumns(NamedTuple):
    """Trip- and route-specific transfer rules; ``type`` and ``min_s`` are as in TransferColumns.

    Trips and routes are rows, or -1 for any. Of the most specific rules that match, the last one applies (GTFS,
    transfers.txt).
    """

    from_stop: Int32 = NO_INT32
    to_stop: Int32 = NO_INT32
    from_route: Int32 = NO_INT32
    to_route: Int32 = NO_INT32
    from_trip: Int32 = NO_INT32
    to_trip: Int32 = NO_INT32
    type: Int8 = NO_INT8
    min_s: Int32 = NO_INT32


class InSeatColumns(NamedTuple):
    """In-seat transfers from the end of one trip departure to the start of another, sorted by ``from_departure``.

    ``days_later`` is 1 if ``to_departure`` belongs to the next service day.
    """

    from_departure: Int32 = NO_INT32
    to_departure: Int32 = NO_INT32
    days_later: Int8 = NO_INT8


class ShapeColumns(NamedTuple):
    """Shapes: the points of shape s are rows ``first[s] .. first[s + 1]``, in millionths of a degree."""

    first: Int64 = np.zeros(1, np.int64)
    lat_udeg: Int32 = NO_INT32
    lon_udeg: Int32 = NO_INT32


@dataclass(slots=True, kw_only=True)
class TimetableDraft:
    """The rows of one or more feeds.

    ``trip_stop_time_count`` is the number of stop times in each trip. ``stop_names`` and ``route_names`` map a language
    to {row: name}; ``headsign_names`` maps a language to {headsign: translation}.
    """

    feeds: list[Feed] = field(default_factory=list)
    stops: list[StopRow] = field(default_factory=list)
    routes: list[RouteRow] = field(default_factory=list)
    services: list[ServiceRow] = field(default_factory=list)
    stop_names: dict[str, dict[int, str]] = field(default_factory=dict)
    route_names: dict[str, dict[int, str]] = field(default_factory=dict)
    headsign_names: dict[str, dict[str, str]] = field(default_factory=dict)
    trips: TripColumns = field(default_factory=TripColumns)
    trip_departures: TripDepartureColumns = field(default_factory=TripDepartureColumns)
    transfers: TransferColumns = field(default_factory=TransferColumns)
    headsigns: TextColumn = NO_TEXTS
    pathways: Pathways = field(default_factory=Pathways)
    specific_transfers: SpecificTransferColumns = field(default_factory=SpecificTransferColumns)
    in_seat: InSeatColumns = field(default_factory=InSeatColumns)
    shapes: ShapeColumns = field(default_factory=ShapeColumns)
    trip_stop_time_count: Int32 = field(default_factory=NO_INT32.copy)
    stop_times: StopTimeColumns = field(default_factory=StopTimeColumns)
