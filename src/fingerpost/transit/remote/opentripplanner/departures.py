"""Departure boards, from the server's stop times."""

from collections.abc import Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.remote.kit.stop_ids import StopIdBook
from fingerpost.transit.remote.opentripplanner.itineraries import (
    BY_ARRANGEMENT,
    colors_of,
    destination_of,
    line_of,
    list_in_force,
)
from fingerpost.transit.remote.opentripplanner.shapes import CANCELLED, BoardStop, Stoptime
from fingerpost.transit.remote.opentripplanner.wire_values import find_service_day, read_mode

# Departures of one stop that are asked for: more than leave anywhere within a day.
MOST_ROWS = 3000
# The server compares times in its own way at both ends of a window, so a little more is asked for.
MARGIN_S = 120
_NO_BOARDING = "NONE"


def list_rows(stop: BoardStop, ids: StopIdBook, zone: ZoneInfo) -> Iterator[Departure]:
    """Yield the departures of a stop."""
    printed = ids.print(stop.gtfs_id)
    for time in stop.stoptimes_without_patterns:
        if time.pickup_type != _NO_BOARDING and not _is_last_call(time):
            row = _row(time, ids, printed, stop.platform_code or None, zone)
            alerts = list_in_force((*time.trip.alerts, *stop.alerts), row.expected, row.expected)
            yield replace(row, alerts=alerts) if alerts else row


def _is_last_call(time: Stoptime) -> bool:
    """Whether the trip ends here: a cancelled call does not say whether it could be boarded."""
    last = time.trip.arrival_stoptime
    return (
        last is not None
        and last.stop_position_in_pattern is not None
        and last.stop_position_in_pattern == time.stop_position_in_pattern
    )


def _row(time: Stoptime, ids: StopIdBook, stop_id: str, platform: str | None, zone: ZoneInfo) -> Departure:
    trip = time.trip
    cancelled = time.realtime_state == CANCELLED or (bool(time.realtime) and time.pickup_type is None)
    line = line_of(trip.route)
    return Departure(
        line=line,
        mode=read_mode(None, trip.route.type),
        destination=time.headsign or destination_of(trip) or line,
        scheduled=time.service_day + time.scheduled_departure,
        stop_id=stop_id,
        trip_id=ids.print_trip(trip.gtfs_id),
        service_day=find_service_day(time.service_day, zone),
        departure_delay_s=time.departure_delay if time.realtime and not cancelled else None,
        cancelled=cancelled,
        platform=platform,
        by_arrangement=time.pickup_type in BY_ARRANGEMENT,
        long_name=trip.route.long_name or None,
        colors=colors_of(trip.route),
    )
