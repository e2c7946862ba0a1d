"""Find a ref's ride on a server, using the board of its first stop and a journey search."""

from dataclasses import replace

from fingerpost.errors import OutsideCalendar
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit import port
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, StopPoint
from fingerpost.transit.model.place import Location, LocationSource, Place
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.model.ride_ref import RideRef

# The board is searched for rides that are at most this early or late.
_EARLY_S, _LATE_S = 600, 2 * 3600
_MAX_ROWS = 500
_WINDOW_S = 120


async def find_ref_ride(
    network: port.Network, ref: RideRef, language: str, provenance: Provenance
) -> port.JourneyAnswer:
    """Return a ref's ride; if only the board lists the ride, estimate its arrival and add a note."""
    name, ids, row = network.profile.name, (ref.start_id, ref.end_id), None
    start, end = await gather_all(network.find_stop(stop_id, language=language) for stop_id in ids)
    if start is None or end is None:
        reason = f"{name} has no stop with the id {ids[0] if start is None else ids[1]}"
        return port.JourneyAnswer(itineraries=(), provenance=provenance, no_result_reason=reason)
    # Without a trip id, a matching row may be another ride of the same line.
    if ref.has_trip_id and network.profile.can(Ability.TIMETABLES):
        board = await network.list_departures(
            port.DepartureQuery(
                stop_ids=start.member_ids,
                instant=ref.departure - _EARLY_S,
                window_s=_EARLY_S + _LATE_S,
                wanted=_MAX_ROWS,
                language=language,
            )
        )
        row, provenance = ref.choose(board.departures), board.provenance
    if row is None or not row.cancelled:
        begin = ref.departure if row is None else row.expected
        found = await _search(network, ref, begin, (start, end), language)
        if found is not None:
            return found
    if row is None:
        reason = f"{name} lists no such ride from {start.name}"
        return port.JourneyAnswer(itineraries=(), provenance=provenance, no_result_reason=reason)
    if not row.cancelled:
        note = (
            f"{name} does not report when {row.line} arrives; the arrival time assumes that the delay stays the same."
        )
        provenance = replace(provenance, notes=(*provenance.notes, note))
    return port.JourneyAnswer(itineraries=(Itinerary((_build_leg(ref, row, start, end),)),), provenance=provenance)


async def _search(
    network: port.Network, ref: RideRef, begin: int, places: tuple[Place, Place], language: str
) -> port.JourneyAnswer | None:
    parameters = port.JourneyParameters(instant=begin, max_transfers=0, language=language, window_s=_WINDOW_S)
    ends = (
        Location(coordinate=place.coordinate, source=LocationSource.GEOCODE, stop_ids=place.member_ids)
        for place in places
    )
    try:
        found = await network.plan_journeys(parameters.between(*ends))
    except OutsideCalendar:
        return None
    trips, end_ids = (*found.itineraries, *found.timetabled), (ref.end_id, *places[1].member_ids)
    ride = ref.choose(ride for trip in trips for ride in trip.rides if ride.end.id in end_ids)
    if ride is None:
        return None
    ride = ride._replace(stays_seated=ref.stays_seated)
    return replace(found, itineraries=(Itinerary((ride,)),), timetabled=())


def _build_leg(ref: RideRef, row: Departure, start: Place, end: Place) -> Leg:
    return Leg(
        mode=row.mode,
        start=StopPoint(name=start.name, coordinate=start.coordinate, id=row.stop_id, platform=row.platform),
        end=StopPoint(name=end.name, coordinate=end.coordinate, id=end.id),
        departure_scheduled=row.scheduled,
        arrival_scheduled=row.scheduled + ref.arrival - ref.departure,
        departure_delay_s=row.departure_delay_s,
        arrival_delay_s=row.departure_delay_s,
        cancelled=row.cancelled,
        line=row.line,
        headsign=row.destination,
        stays_seated=ref.stays_seated,
        trip_id=row.trip_id,
        last_realtime_update=row.last_realtime_update,
        alerts=row.alerts,
    )
