"""The timetable of one network: tables as parallel arrays, joined by row numbers.

Terms (docs/glossary.md): a *stop time* is one stop of a trip with its times. A *trip departure* is one departure of a
trip on any of its service days. A trip in ``frequencies.txt`` has many departures, each shifted in time. Arrival and
departure times are in seconds from the start of the service day, and may exceed 24 h. The service day starts at noon
minus 12 h in the feed's zone (GTFS Schedule reference, "Time").
"""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import NO_FLOAT32, NO_INT8, NO_INT32, TextColumn

Int8 = npt.NDArray[np.int8]
UInt8 = npt.NDArray[np.uint8]
Int16 = npt.NDArray[np.int16]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

# stop_time_flags
NO_BOARDING = 1
NO_ALIGHTING = 2
BY_ARRANGEMENT = 4
INTERPOLATED = 8

# stop_kind: GTFS location_type
STOP, STATION, ENTRANCE, NODE, BOARDING_AREA = range(5)

# stop_wheelchair, trip_wheelchair: GTFS values, already inherited from parents
WHEELCHAIR_VALUES = range(3)
WHEELCHAIR_UNKNOWN, WHEELCHAIR_YES, WHEELCHAIR_NO = WHEELCHAIR_VALUES

# GTFS transfer_type
RECOMMENDED, TIMED, MINIMUM_TIME, FORBIDDEN = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """One feed of the network.

    ``licences`` are credit lines from the feed (feed_info.txt, attributions.txt). ``language`` is a primary language
    subtag such as ``fi``.
    """

    name: str
    zone: str
    language: str | None = None
    agencies: tuple[str, ...] = ()
    agency_ids: tuple[str, ...] = ()
    publisher: str | None = None
    version: str | None = None
    source: str = ""
    licences: tuple[str, ...] = ()


class Footpaths(NamedTuple):
    """Footpaths between boardable stops: those of stop s are rows ``first[s] .. first[s + 1]``, sorted by ``seconds``.

    ``seconds`` is the time from alighting to being ready to board; ``walk_s`` is the walking time.
    """

    first: Int32 = NO_INT32
    to: Int32 = NO_INT32
    seconds: Int32 = NO_INT32
    metres: Int32 = NO_INT32
    walk_s: Int32 = NO_INT32


class Pathways(NamedTuple):
    """GTFS pathways, each from one stop (row) to another in one direction; unknown seconds are NaN."""

    begin: Int32 = NO_INT32
    end: Int32 = NO_INT32
    mode: Int8 = NO_INT8  # GTFS pathway_mode
    seconds: Float32 = NO_FLOAT32


class StationPlaces(NamedTuple):
    """Stops with their stations: positions in degrees, parents as rows, and GTFS wheelchair values."""

    lats: Float64
    lons: Float64
    kinds: Int8
    parents: Int32
    wheelchair: Int8
    pathways: Pathways


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timetable:
    """The timetable of one network, without realtime data."""

    feeds: tuple[Feed, ...]

    # stops, one row each; printed ids are unique and match rule A8's pattern
    stop_feed: Int16
    stop_local_id: TextColumn
    stop_printed_id: TextColumn
    stop_name: TextColumn
    stop_lat: Float64
    stop_lon: Float64
    stop_kind: Int8
    stop_parent: Int32  # row, -1 for none
    stop_platform: TextColumn  # empty if unknown
    stop_wheelchair: Int8

    # routes
    route_feed: Int16
    route_local_id: TextColumn
    route_short_name: TextColumn
    route_long_name: TextColumn
    route_type: Int16  # GTFS route_type, including extended values
    route_agency: Int16  # row in its feed's agency_ids, -1 if unknown
    route_color: Int32  # 0xRRGGBB, -1 if not given
    route_text_color: Int32  # 0xRRGGBB, -1 if not given

    # trips; stop times of trip t are rows trip_first_stop_time[t] .. trip_first_stop_time[t + 1]
    trip_local_id: TextColumn
    trip_route: Int32
    trip_service: Int32
    trip_headsign: Int32  # row in headsign, -1 for none
    trip_wheelchair: Int8
    trip_direction: Int8  # GTFS direction_id, -1 if not given
    trip_first_stop_time: Int64

    headsign: TextColumn

    # stop times, in order along each trip
    stop_time_stop: Int32
    stop_time_sequence: Int32  # GTFS stop_sequence, by which realtime data identifies a stop time
    stop_time_arrival_s: Int32
    stop_time_departure_s: Int32
    stop_time_flags: UInt8
    stop_time_headsign: Int32  # row in headsign, -1 for the trip's own; empty if no stop time has one

    # trip departures; trip_departure_headway_s is 0 for exact times, otherwise the seconds between departures
    trip_departure_trip: Int32  # ascending
    trip_departure_shift_s: Int32
    trip_departure_headway_s: Int32

    # services: a flag per day from calendar_start; for an every-day service the flags are unused
    calendar_start: date
    service_feed: Int16
    service_runs_on: UInt8  # shape (services, days), 0 or 1
    service_every_day: UInt8  # 0 or 1

    # pairs of stops with transfer rules in the feeds; a pair may be repeated
    transfer_from: Int32
    transfer_to: Int32

    footpaths: Footpaths
    change_s: Int32  # per stop: from alighting to being ready to board at the same stop; -1 if forbidden
    # step-free footpaths, empty if steps are unknown
    step_free_footpaths: Footpaths

    # translated names by language: a string per row, "" for none
    stop_names: dict[str, TextColumn]
    route_names: dict[str, TextColumn]  # for the long names of routes
    headsign_names: dict[str, TextColumn]

    # in-seat transfers: riders stay seated from the end of one trip departure to the start of another
    in_seat_from: Int32  # trip departure, ascending
    in_seat_to: Int32  # trip departure
    in_seat_days_later: Int8  # 1: on the next service day

    # trip- and route-specific transfers, -1 for any; the last one that matches applies
    specific_transfer_from_stop: Int32
    specific_transfer_to_stop: Int32
    specific_transfer_from_route: Int32
    specific_transfer_to_route: Int32
    specific_transfer_from_trip: Int32
    specific_transfer_to_trip: Int32
    # from alighting to being ready to board; -1 if forbidden
    specific_transfer_s: Int32
    specific_transfer_m: Int32

    # shapes: points of shape s are rows shape_first[s] .. shape_first[s + 1], in millionths of a degree
    trip_shape: Int32  # row, -1 for none
    shape_first: Int64
    shape_lat_udeg: Int32
    shape_lon_udeg: Int32
    pathways: Pathways

    @property
    def stop_count(self) -> int:
        return len(self.stop_lat)

    def list_stop_times(self, trip: int) -> slice:
        return slice(int(self.trip_first_stop_time[trip]), int(self.trip_first_stop_time[trip + 1]))

    def find_first_stop_time(self, trip_departure: int) -> int:
        """Return the row of a trip departure's first stop time, or 0 for an added ride."""
        return int(self.trip_first_stop_time[self.trip_departure_trip[trip_departure]]) if trip_departure >= 0 else 0
