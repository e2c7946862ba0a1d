"""Search for journeys, or find the ride of a ref, and convert results to itineraries with realtime data."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from fingerpost.transit.embedded.display_names import DisplayNames
from fingerpost.transit.embedded.network_places import TimetableStops
from fingerpost.transit.embedded.network_walks import RideWalks, TimetableLeg, Transfer
from fingerpost.transit.embedded.snapshot import Snapshot, Span
from fingerpost.transit.engine.raptor.journeys import Journey, Ride
from fingerpost.transit.engine.raptor.search import Endpoint, SearchQuery, find_endpoint, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.service_days import find_services
from fingerpost.transit.engine.timetable.shapes import RidePath, find_ride_path
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, Bool, Timetable
from fingerpost.transit.engine.timetable.walks import Walks
from fingerpost.transit.model.itinerary import Access, Itinerary, Leg, LegOutline, Mode, StopPoint
from fingerpost.transit.model.place import Location, LocationSource, distance_m
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.disruption import is_disrupted

# A saved place within this distance of its saved stop needs no walk.
_AT_STOP_M = 25.0


def find_itineraries(
    snapshot: Snapshot,
    names: DisplayNames,
    ends: tuple[Endpoint, Endpoint],
    walks: Walks,
    query: JourneyQuery,
    *,
    step_free: bool,
    may_build: bool,
) -> list[list[Itinerary]]:
    """Return expected itineraries and disrupted scheduled ones; raise NotBuilt only if ``may_build`` is false."""
    ride_walks = RideWalks(snapshot, TimetableLeg(timetable=names.timetable, is_step_free=step_free))
    search = SearchQuery(
        origin=ends[0],
        destination=ends[1],
        instant=query.instant,
        arrive_by=query.arrive_by,
        max_rides=query.max_transfers + 1,
        max_walk_m=int(query.max_walk_m),
        step_free=step_free,
        wanted=0 if query.best_only else query.wanted,
        not_before=query.not_before if query.arrive_by else None,
        window_s=query.window_s,
        walks=walks,
        may_build=may_build,
    )
    live = snapshot.live_step_free if step_free else snapshot.live
    running = _search(names.timetable, live, search)
    # A query for only the best itinerary does not need the disrupted ones.
    needs_planned = live is not snapshot.planned and not query.best_only
    planned = [
        journey
        for journey in (_search(names.timetable, snapshot.planned, search) if needs_planned else [])
        if any(map(snapshot.can_disrupt, journey.rides)) and not any(map(snapshot.is_deleted, journey.rides))
    ]
    points = _build_end_point(query.origin, "Origin"), _build_end_point(query.destination, "Destination")
    builder = _Builder(snapshot, names, query.language, search, ride_walks, points)
    found, scheduled = ([builder.convert(journey) for journey in journeys] for journeys in (running, planned))
    # Only a full search finds usable journeys that arrive later.
    if query.best_only and found and all(trip.is_unusable for trip in found):
        wider = replace(query, best_only=False)
        return find_itineraries(snapshot, names, ends, walks, wider, step_free=step_free, may_build=may_build)
    disrupted = [
        trip
        for trip in filter(is_disrupted, scheduled)
        if query.arrive_by or trip.is_unusable or trip.departure >= query.instant
    ]
    return [found, disrupted]


def _search(timetable: Timetable, search_timetables: SearchTimetables, search: SearchQuery) -> list[Journey]:
    journeys = find_journeys(timetable, search_timetables, search)
    if search.step_free and not journeys:
        # The answer warns riders that these journeys have steps.
        journeys = find_journeys(timetable, search_timetables, replace(search, step_free=False))
    return journeys


def find_ends(stops: TimetableStops, walks: Walks, query: JourneyQuery) -> tuple[Endpoint, Endpoint]:
    """Return the origin and destination; the shortest walk at one end reduces the walking limit at the other."""
    find = partial(find_near_stops, stops, walks)
    origin = find(query.origin, query.max_walk_m, is_destination=False)
    destination = find(query.destination, query.max_walk_m - origin.min_walk_m, is_destination=True)
    return origin.within(query.max_walk_m - destination.min_walk_m), destination


def find_near_stops(
    stops: TimetableStops, walks: Walks, location: Location, max_walk_m: float, *, is_destination: bool
) -> Endpoint:
    position, ids = location.coordinate, location.stop_ids
    if location.source is LocationSource.USER_VARIABLE:
        places = [place for stop_id in ids if (place := stops.find_stop(stop_id, None, whole_place=True)) is not None]
        ids = tuple(
            stop_id
            for place in places
            if distance_m(position, place.coordinate) <= _AT_STOP_M
            for stop_id in place.zero_walk_ids or place.member_ids
        )
    rows = stops.list_rows(ids)
    return find_endpoint(stops.timetable, *position.point, rows, max_walk_m, walks=walks, is_destination=is_destination)


class _PlannedItinerary(Itinerary):
    """An itinerary without realtime changes; its legs are built on first access."""

    is_planned = True

    def __init__(self, builder: "_Builder", journey: Journey, outline: tuple[LegOutline, ...], walk_s: int) -> None:
        self._builder, self._journey = builder, journey
        self.departure = self.departure_scheduled = journey.departure
        self.arrival = journey.arrival
        self.outline = outline
        self.transfers = len(journey.rides) - 1
        self.walk_m, self.walk_s = float(journey.walk_m), walk_s
        self.is_unusable = False

    @cached_property
    def legs(self) -> tuple[Leg, ...]:  # type: ignore[override]  # the base class stores them
        return self._builder.build_legs(self._journey)


class _Builder(NamedTuple):
    """Converts the journeys of one search to itineraries."""

    snapshot: Snapshot
    names: DisplayNames
    language: str
    search: SearchQuery
    walks: RideWalks
    ends: tuple[StopPoint, StopPoint]

    def convert(self, journey: Journey) -> Itinerary:
        """Convert a journey to an itinerary; without realtime changes, its legs are built on first access."""
        rides, (origin, goal) = journey.rides, self.ends
        if not rides or any(ride.trip_departure < 0 or self.snapshot.can_disrupt(ride) for ride in rides):
            return Itinerary(self.build_legs(journey))
        outline: list[LegOutline] = []
        point = origin.name
        walk_s = rides[0].departure - journey.departure + journey.arrival - rides[-1].arrival
        for index, ride in enumerate(rides):
            outlined = self.names.get_ride_outline(ride.trip_departure, ride.board_stop_time, ride.alight_stop_time)
            has_walk = ride.foot_m > 0
            before = rides[index - 1]
            if index:
                walk = self.walks.find_transfer(before, ride, may_be_short=True).walk
                has_walk = walk.seconds > 0
                walk_s += _find_walk_end(before.arrival, ride.departure, walk.seconds) - before.arrival
            if has_walk:
                outline.append((Mode.WALK, "", point, outlined[2]))
            outline.append(outlined)
            point = outlined[3]
        if journey.egress_m:
            outline.append((Mode.WALK, "", point, goal.name))
        return _PlannedItinerary(self, journey, tuple(outline), walk_s)

    def build_legs(self, journey: Journey) -> tuple[Leg, ...]:
        """Convert a journey to legs with expected times."""
        walks, search, (point, goal) = self.walks, self.search, self.ends
        legs: list[Leg] = []
        rides = substitute_replacements(self.snapshot, journey.rides)
        for index, ride in enumerate(rides):
            continues_on = index + 1 < len(rides) and rides[index + 1].stays_seated
            change = None
            if index:
                # Shorter trip-specific transfers apply only between the scheduled rides.
                is_as_planned = rides[index - 1 : index + 1] == journey.rides[index - 1 : index + 1]
                change = walks.find_transfer(rides[index - 1], ride, may_be_short=is_as_planned)
            change_s = change and change.change_s
            leg = build_leg(self.snapshot, self.names, self.language, ride, change_s, continues_on=continues_on)
            if ride.stays_seated and legs and not (legs[-1].cancelled or leg.cancelled):
                leg = leg._replace(stays_seated=legs[-1].arrival <= leg.departure)
            if change is not None:
                if change.walk.seconds and not leg.stays_seated:
                    legs.append(self._build_transfer_walk(legs[-1], leg, change))
            elif (walk := walks.find_access_walk(search.origin, ride, ride.board_stop_time, ride.foot_m)).metres:
                span = leg.departure - walk.seconds, leg.departure
                legs.append(self._build_walk((point, leg.start), span, walk.metres, leg.departure_delay_s))
            legs.append(leg)
            point = leg.end
        if not legs:
            legs.append(self._build_walk((point, goal), journey[:2], journey.egress_m, None))
        elif (walk := walks.find_access_walk(search.destination, ride, ride.alight_stop_time, journey.egress_m)).metres:
            span = legs[-1].arrival, legs[-1].arrival + walk.seconds
            legs.append(self._build_walk((point, goal), span, walk.metres, legs[-1].arrival_delay_s))
        return tuple(legs)

    def _build_walk(
        self, ends: tuple[StopPoint, StopPoint], span: tuple[int, int], metres: int, delay_s: int | None
    ) -> Leg:
        departure, arrival = (instant - (delay_s or 0) for instant in span)
        handle = self.walks.walk_handle
        return Leg(Mode.WALK, *ends, departure, arrival, delay_s, delay_s, distance_m=float(metres), handle=handle)

    def _build_transfer_walk(self, previous: Leg, following: Leg, change: Transfer) -> Leg:
        """Build a transfer walk that ends no later than the next departure, in both scheduled and expected times."""
        planned = _find_walk_end(previous.arrival_scheduled, following.departure_scheduled, change.walk.seconds)
        expected = _find_walk_end(previous.arrival_expected, following.departure_expected, change.walk.seconds)
        delay_s = previous.arrival_delay_s
        span = previous.arrival_expected, planned + (delay_s or 0)
        walk = self._build_walk((previous.end, following.start), span, change.walk.metres, delay_s)
        has_delay = delay_s is not None or expected != planned
        return walk._replace(arrival_delay_s=expected - planned if has_delay else None, wheelchair=change.access)


def substitute_replacements(snapshot: Snapshot, rides: tuple[Ride, ...]) -> tuple[Ride, ...]:
    """Replace each ride that has a realtime replacement; replacements have no in-seat transfers."""
    if not snapshot.overlay.added:
        return rides
    running: list[Ride] = []
    for index, ride in enumerate(rides):
        replacement = None if ride.trip_departure < 0 else snapshot.replacements.find_ride(ride)
        if replacement is None and index and running[-1] is not rides[index - 1]:
            replacement = ride._replace(stays_seated=False)
        running.append(replacement or ride)
    return tuple(running)


def _build_end_point(location: Location, default_name: str) -> StopPoint:
    return StopPoint(name=location.name or location.label or default_name, coordinate=location.coordinate)


def _find_walk_end(begin: int, departure: int, walk_s: int) -> int:
    return max(begin, min(begin + walk_s, departure))


def build_leg(
    snapshot: Snapshot, names: DisplayNames, language: str, ride: Ride, change_s: int | None, *, continues_on: bool
) -> Leg:
    """Build the leg of a ride; added trips without a scheduled trip use their expected times as the schedule."""
    table, board, alight = snapshot.timetable, ride.board_stop_time, ride.alight_stop_time
    # In-seat transfers need neither pickup nor drop-off.
    begin = snapshot.find_call(ride, board, 0 if ride.stays_seated else NO_BOARDING)
    end = snapshot.find_call(ride, alight, 0 if continues_on else NO_ALIGHTING)
    ride_fields: dict[str, Any] = {}
    if ride.trip_departure < 0:
        added = snapshot.overlay.get_added(ride.trip_departure)
        ride_names = names.get_added_names(added)
        path = RidePath(-1, tuple(added.stop[board : alight + 1].tolist()))
    else:
        trip = int(table.trip_departure_trip[ride.trip_departure])
        ride_names = names.get_ride_names(trip, board)
        path = find_ride_path(table, trip, board, alight)
        ride_fields = names.get_service_fields(ride.trip_departure, board, alight)
    is_usable = begin.is_usable and end.is_usable
    departure_delay_s, arrival_delay_s = (begin.departure_delay_s, end.arrival_delay_s) if is_usable else (None, None)
    is_scheduled = is_usable and departure_delay_s is None and arrival_delay_s is None
    leg = Leg(
        mode=ride_names.mode,
        start=names.get_stop_point(begin.stop if is_usable else path.stops[0]),
        end=names.get_stop_point(end.stop if is_usable else path.stops[-1]),
        departure_scheduled=begin.scheduled.departure,
        arrival_scheduled=end.scheduled.arrival,
        departure_delay_s=departure_delay_s,
        arrival_delay_s=arrival_delay_s,
        cancelled=not is_usable,
        line=ride_names.line,
        headsign=ride_names.headsign,
        trip_id=ride_names.trip_id,
        service_day=ride.service_day,
        last_realtime_update=None if is_scheduled else begin.updated,
        wheelchair=ride_names.wheelchair,
        colors=ride_names.colors,
        distance_m=names.measure_ride_m(path),
        change_s=change_s,
        handle=TimetableLeg(timetable=names.timetable, path=path),
        **ride_fields,
    )
    if not snapshot.overlay.alerts:
        return leg
    return _add_alerts(snapshot, language, ride, leg, (begin.stop, end.stop), continues_on=continues_on)


def _add_alerts(
    snapshot: Snapshot, language: str, ride: Ride, leg: Leg, stops: tuple[int, int], *, continues_on: bool
) -> Leg:
    """Add alerts to a leg; cancel it if a stop is closed, and mark stops with broken lifts as inaccessible."""
    begin, end = stops
    selector = snapshot.get_selector(ride)
    is_closed = (not ride.stays_seated and snapshot.is_closed(begin, leg.departure, selector)) or (
        not continues_on and snapshot.is_closed(end, leg.arrival, selector)
    )
    start, goal = (
        replace(point, wheelchair=Access.NO) if snapshot.is_closed(row, instant, selector, step_free=True) else point
        for point, row, instant in ((leg.start, begin, leg.departure), (leg.end, end, leg.arrival))
    )
    # Riders wait for a delayed trip from its scheduled departure on.
    boarding = Span(*sorted((leg.departure_scheduled, leg.departure)))
    alighting = Span(*sorted((leg.arrival_scheduled, leg.arrival)))
    alerts = snapshot.alerts.list_ride_alerts(
        selector, Span(boarding.begin, alighting.end), ((begin, boarding), (end, alighting)), language
    )
    return leg._replace(start=start, end=goal, alerts=alerts, cancelled=leg.cancelled or is_closed)


def find_ref_ride(
    snapshot: Snapshot, names: DisplayNames, stops: TimetableStops, ref: RideRef, language: str
) -> Leg | str:
    """Return the leg that a ref identifies, or the reason why it no longer exists.

    If the trip does not serve the ref's stop, use another stop of the same place, because trips may move to other
    platforms. ``stays_seated`` is preserved only if an in-seat transfer still leads to the trip.
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
