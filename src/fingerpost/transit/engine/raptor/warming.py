"""Call every kernel of the search once, so that it is compiled or loaded before a query needs it."""

from datetime import date

import numpy as np

from fingerpost.transit.engine.raptor.board import list_board_departures
from fingerpost.transit.engine.raptor.endpoints import find_endpoint
from fingerpost.transit.engine.raptor.search import SearchQuery, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables, build_search_timetable
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.draft import (
    RouteRow,
    ServiceRow,
    StopRow,
    StopTimeColumns,
    TimetableDraft,
    TripDepartureRow,
    TripRow,
)
from fingerpost.transit.engine.timetable.overlay import Overlay, RideUpdate
from fingerpost.transit.engine.timetable.service_days import service_day_start
from fingerpost.transit.engine.timetable.timetable import Feed, Timetable

_DAY = date(2026, 1, 7)
_ZONE = "UTC"


def call_search_kernels() -> None:
    timetable = _three_stops()
    start = service_day_start(_DAY, _ZONE)
    zeros = np.zeros(3, np.int32)
    late = RideUpdate(
        is_cancelled=False,
        arrival_delay_s=zeros,
        departure_delay_s=zeros,
        is_known=np.ones(3, np.bool_),
        is_skipped=np.zeros(3, np.bool_),
        updated=start,
    )
    live = SearchTimetables(timetable, Overlay(rides={(0, _DAY.toordinal()): late}, as_of=start))
    for search_timetables in (SearchTimetables(timetable), live):
        for arrive_by in (False, True):
            # The second limit is less than access and egress need, so that McRAPTOR runs too.
            for max_walk_m in (3000, 700):
                ends = [
                    find_endpoint(timetable, float(timetable.stop_lat[stop]) + 0.004, 0.0, [], 3000.0)
                    for stop in (0, 2)
                ]
                query = SearchQuery(
                    origin=ends[0],
                    destination=ends[1],
                    instant=start + (9 if arrive_by else 7) * 3600,
                    arrive_by=arrive_by,
                    max_rides=2,
                    max_walk_m=max_walk_m,
                    step_free=False,
                    wanted=1,
                )
                find_journeys(timetable, search_timetables, query)
    search_timetable = build_search_timetable(timetable, _DAY, mirrored=False, step_free=True)
    list_board_departures(timetable, search_timetable, [0], start, 24 * 3600)


def _three_stops() -> Timetable:
    draft = TimetableDraft(feeds=[Feed(name="WARM", zone=_ZONE)])
    draft.stops = [StopRow(0, str(stop), str(stop), 0.1 * stop, 0.0) for stop in range(3)]
    draft.routes = [RouteRow(0, "R", "R", "", 3)]
    draft.services = [ServiceRow(0, None)]
    draft.trips = [TripRow("T", 0, 0)]
    draft.trip_departures = [TripDepartureRow(0)]
    draft.trip_stop_time_count = np.array([3], np.int32)
    times_s = np.array([0, 600, 1200], np.int32) + 8 * 3600
    stops = np.arange(3, dtype=np.int32)
    draft.stop_times = StopTimeColumns(stop=stops, arrival_s=times_s, departure_s=times_s, flags=np.zeros(3, np.uint8))
    return assemble(draft)
