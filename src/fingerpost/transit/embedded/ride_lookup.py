"""Find the ride that a ref identifies in a timetable, with realtime data."""

from collections.abc import Iterator

import numpy as np

from fingerpost.transit.embedded.display_names import DisplayNames
from fingerpost.transit.embedded.itineraries import build_leg, substitute_replacements
from fingerpost.transit.embedded.network_places import TimetableStops
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.raptor.journeys import Ride
from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.service_days import find_services
from fingerpost.transit.engine.timetable.timetable import Bool
from fingerpost.transit.model.itinerary import Leg
from fingerpost.transit.model.ride_ref import RideRef


def find_ref_ride(
    snapshot: Snapshot, names: DisplayNames, stops: TimetableStops, ref: RideRef, language: str
) -> Leg | str:
    """Return the leg that a ref identifies, or the reason why it no longer exists.

    If the trip does not serve the ref's stop, use another stop of the same place, because trips may move to other
    platforms. Riders stay seated only if an in-seat transfer still leads to the trip.
    """
    table = snapshot.timetable
    start, end = (stops.find_stop(stop_id, None, whole_place=True) for stop_id in (ref.start_id, ref.end_id))
    if start is None or end is None:
        return f"no stop has the id {ref.start_id if start is None else ref.end_id}"
    is_start, is_end = (mark_rows(table.stop_count, stops.list_rows(place.member_ids)) for place in (start, end))
    boardings = np.flatnonzero(is_start[table.stop_time_stop])
    trips = np.searchsorted(table.trip_first_stop_time, boardings, "right") - 1
    pairs = zip(trips.tolist(), boardings.tolist(), strict=True)
    named = [(trip, boarding) for trip, boarding in pairs if ref.names_trip(names.get_trip_id(trip))]
    is_active = find_services(table, ref.service_day)
    running = [(trip, boarding) for trip, boarding in named if is_active[table.trip_service[trip]]]
    rides = [ride for trip, boarding in running for ride in _list_rides(snapshot, ref, trip, boarding, is_end)]
    for row, added in enumerate(snapshot.overlay.added):
        if added.service_day == ref.service_day and ref.names_trip(names.get_added_names(added).trip_id):
            departures, arrivals = added.departure.tolist(), added.arrival.tolist()
            rides += [
                Ride(-1 - row, ref.service_day, boarding, alighting, departures[boarding], arrivals[alighting], 0)
                for boarding in np.flatnonzero(is_start[added.stop]).tolist()
                for alighting in np.flatnonzero(is_end[added.stop]).tolist()
                if boarding < alighting
            ]
    if not rides:
        if running:
            return f"the trip no longer runs from {start.name} to {end.name}"
        return f"the trip does not run on {ref.service_day}" if named else f"no such trip serves {start.name}"
    rows = stops.find_row(ref.start_id), stops.find_row(ref.end_id)

    def measure(ride: Ride) -> tuple[int, int]:
        called = (
            table.stop_time_stop if ride.trip_departure >= 0 else snapshot.overlay.get_added(ride.trip_departure).stop
        )
        calls = called[ride.board_stop_time], called[ride.alight_stop_time]
        offset_s = abs(ride.departure - ref.departure) + abs(ride.arrival - ref.arrival)
        return sum(row != call for row, call in zip(rows, calls, strict=True)), offset_s

    ride = min(rides, key=measure)
    if snapshot.is_deleted(ride):
        return "the operator deleted the trip"
    [ride] = substitute_replacements(snapshot, (ride,))
    stays_seated = ref.stays_seated and bool((table.in_seat_to == ride.trip_departure).any())
    ride = ride._replace(stays_seated=stays_seated)
    leg = build_leg(snapshot, names, language, ride, ref.change_s, continues_on=ref.continues_on)
    return leg._replace(stays_seated=stays_seated)


def _list_rides(snapshot: Snapshot, ref: RideRef, trip: int, boarding: int, is_end: Bool) -> Iterator[Ride]:
    table, day = snapshot.timetable, ref.service_day
    stop_times = range(boarding + 1, table.list_stop_times(trip).stop)
    alightings = [row for row in stop_times if is_end[table.stop_time_stop[row]]]
    for trip_departure in np.flatnonzero(table.trip_departure_trip == trip).tolist():
        departure = snapshot.find_scheduled_times(trip_departure, day, boarding).departure
        for alighting in alightings:
            arrival = snapshot.find_scheduled_times(trip_departure, day, alighting).arrival
            yield Ride(trip_departure, day, boarding, alighting, departure, arrival, 0, ref.stays_seated)
