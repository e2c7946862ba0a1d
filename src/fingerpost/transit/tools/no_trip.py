"""Explain why no trip was found, or none near the requested time."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from fingerpost.errors import NoItinerary, ToolError
from fingerpost.transit.model.itinerary import Itinerary, NearbyStop
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import OutOfService
from fingerpost.transit.networks.querying import Deadline, query_network
from fingerpost.transit.port import JourneyQuery, Network, ServiceGap
from fingerpost.transit.rules.preferences import (
    LONG_WAIT_S,
    MAX_TRANSFERS,
    MAX_WALK_M,
    find_long_offset,
    find_next_service_day,
    find_out_of_service_hint,
    list_weak_links,
)
from fingerpost.transit.rules.times import format_instant, to_local_date
from fingerpost.transit.tools.shapes import NoResultsReason
from fingerpost.transit.tools.trip_search import FollowUp, FoundTrips, find_best
from fingerpost.transit.tools.wording import WhyEmptySentence, explain_gap, format_count

_T = TypeVar("_T")

# Sources search for trips up to about this many days from the requested time.
FURTHEST_DAYS = 7
_NO_HELP = f"More walking ({MAX_WALK_M:g} m) or changes ({MAX_TRANSFERS}) would not help; try another time or place"


async def build_no_itinerary(found: FoundTrips) -> NoItinerary:
    answer, zone, earliest = found.first, found.network.profile.zone, found.earliest_arrival
    if earliest is None:
        hint = answer.no_result_reason or await explain_no_trip(found)
    else:
        departure, arrival = format_instant(earliest.departure, zone), format_instant(earliest.arrival, zone)
        hint = f"The earliest possible arrival is at {arrival}, if you leave at {departure}"
    better = None if found.better is None else _format_trip(found.better, zone)
    reasons = [*(failure.clause for failure in found.left_out), *filter(None, [hint, better])]
    return NoItinerary("No itineraries for given constraints", hint=". ".join(dict.fromkeys(reasons)) or None)


def format_next_usable(found: FoundTrips) -> str:
    later = found.list_usable(FollowUp.NEXT_USABLE)
    first = min(later, key=lambda trip: (trip.departure, trip.arrival), default=None)
    if first is None and not found.follow_ups.get(FollowUp.NEXT_USABLE):
        return "None of the trips found is usable, and the query for later trips failed."
    if first is None:
        return "None of the trips found is usable, and no later trip was found."
    zone = found.network.profile.zone
    departure, arrival = format_instant(first.departure, zone), format_instant(first.arrival, zone)
    return f"None of the trips found is usable. The next usable trip leaves at {departure} and arrives at {arrival}."


async def explain_empty_window(
    found: FoundTrips, usable: Sequence[Itinerary]
) -> tuple[NoResultsReason, WhyEmptySentence | None]:
    """Explain why there is no usable trip in the query's window; ``usable`` lists usable trips outside the window."""
    query, answer = found.query, found.first
    instant, zone = query.instant, answer.provenance.zone
    nearest = _find_nearest(usable, query)
    day = to_local_date(instant, zone)
    if answer.provenance.out_of_service and (nearest is None or to_local_date(nearest.departure, zone) != day):
        why = await explain_no_trip(found)
        return NoResultsReason.NO_SERVICE, None if why is None else WhyEmptySentence(why)
    earliest = found.earliest_arrival
    if earliest is not None and earliest.arrival > instant:
        span = earliest.departure, earliest.arrival
        return NoResultsReason.IN_THE_PAST, WhyEmptySentence("The trip with the earliest arrival is ", span)
    reason = NoResultsReason.IN_THE_PAST if query.not_before is None else NoResultsReason.NO_DEPARTURES
    if nearest is None:
        why = answer.no_result_reason or await explain_no_trip(found)
        return reason, None if why is None else WhyEmptySentence(why)
    which = "The last one before" if query.arrive_by else "The next one after"
    return reason, WhyEmptySentence(f"{which} the window is ", (nearest.departure, nearest.arrival))


def _find_nearest(usable: Sequence[Itinerary], query: JourneyQuery) -> Itinerary | None:
    if query.arrive_by:
        return max(usable, key=lambda trip: trip.arrival, default=None)
    later = [trip for trip in usable if trip.departure > query.instant]
    return min(later, key=lambda trip: (trip.departure, trip.arrival), default=None)


async def explain_no_trip(found: FoundTrips) -> str | None:
    """Return the reason why a network found no trip, without a final period, or None if it is unknown."""
    network, query, out_of_service = found.network, found.query, found.first.provenance.out_of_service
    causes = [await _get_or_none(_explain_reach(found, is_destination=value)) for value in (False, True)]
    if out_of_service:
        advice = await _explain_unserved(network, query, out_of_service)
        no_service = find_out_of_service_hint(out_of_service, advice=advice)
        return ". ".join(filter(None, [*causes, no_service]))
    coming = replace(query, instant=query.not_before or query.instant, arrive_by=False)
    for asked in (query, coming) if query.arrive_by and query.not_before is not None else (query,):
        for side in (asked.arrive_by, not asked.arrive_by):
            if not any(causes):
                causes = [await _explain_service(network, asked, is_destination=side, wanted=query)]
    wider = replace(query, max_walk_m=MAX_WALK_M, max_transfers=MAX_TRANSFERS, window_s=None)
    is_widest = wider == query or found.first.is_final
    answer = None if is_widest else await _get_or_none(_plan_best(network, wider, found.deadline))
    trips, notes = ((), ()) if answer is None else answer
    best = find_best(trips, query)
    if best is not None:
        causes += [_format_trip(best, network.profile.zone), *notes]
        # If there is no step-free trip, sources return one with steps.
        causes += list_weak_links([best]) if query.step_free else []
    if not any(causes) and (answer is not None or is_widest):
        causes.append(_NO_HELP)
    return ". ".join(filter(None, causes)) or None


async def find_offset_message(found: FoundTrips, trips: Sequence[Itinerary]) -> str | None:
    """Return a message about a better trip beyond the limits, and about trips far from the requested time."""
    better = None if found.better is None else f"{_format_trip(found.better, found.first.provenance.zone)}."
    return " ".join(filter(None, [better, await _explain_offset(found, trips)])) or None


async def _explain_offset(found: FoundTrips, trips: Sequence[Itinerary]) -> str | None:
    """Return a message and the cause if the first departure or last arrival is over an hour from the requested time."""
    query, zone = found.query, found.first.provenance.zone
    usable = [trip for trip in trips if not trip.is_unusable]
    offset = find_long_offset(usable, query.instant, zone, arrive_by=query.arrive_by)
    if offset is None:
        return None
    for is_destination in (query.arrive_by, not query.arrive_by):
        gap = await _get_or_none(found.network.find_service(query, is_destination=is_destination))
        if gap is None:
            return offset
        if gap.next_departure is None or abs(gap.next_departure - query.instant) > LONG_WAIT_S:
            nearest = gap.next_day if gap.next_departure is None else format_instant(gap.next_departure, zone)
            if nearest is None:
                return f"{offset} {_format_no_service(gap)}. {explain_gap(gap).phrase}."
            return f"{offset} {_format_no_service(gap)} {'after' if query.arrive_by else 'before'} {nearest}."
    if len(usable) < len(trips):
        return offset
    others = "Later arrivals near the destination" if query.arrive_by else "Earlier departures near the origin"
    return f"{offset} {others} have no connection within the limits."


async def _get_or_none(query_call: Awaitable[_T]) -> _T | None:
    try:
        return await query_call
    except (ToolError, TimeoutError):
        return None


async def _plan_best(
    network: Network, query: JourneyQuery, deadline: Deadline
) -> tuple[Sequence[Itinerary], Sequence[str]]:
    """Return usable trips, including the best one, and the notes specific to this answer."""
    query = replace(query, best_only=True)
    answer = await query_network(network, lambda queried: queried.plan_journeys(query), deadline)
    usable = (trip for trip in answer.itineraries if not trip.is_unusable)
    notes = [note.rstrip(".") for note in answer.provenance.notes if note not in network.profile.notes]
    return [trip for trip in usable if query.not_before is None or trip.departure >= query.not_before], notes


async def _explain_reach(found: FoundTrips, *, is_destination: bool) -> str | None:
    """Return a clause if no stop is within walking distance of the origin or destination, else None.

    If the answer does not say so, straight-line distances are compared with the limit.
    """
    network, query, has_stops = found.network, found.query, found.first.has_stops
    side, end = ("the destination", query.destination) if is_destination else ("the origin", query.origin)
    if end.stop_ids or not network.profile.can(Ability.STOPS) or (has_stops and has_stops[is_destination]):
        return None

    async def list_near(radius_m: float) -> Sequence[NearbyStop]:
        near = await query_network(
            network,
            lambda queried: queried.list_stops_near(end.coordinate, radius_m, language=query.language),
            found.deadline,
        )
        return near.stops

    # There may be many stops within the longest walk, so list them only if there is none within the limit.
    if has_stops is None and await list_near(query.max_walk_m):
        return None
    nearest = min(await list_near(MAX_WALK_M), key=lambda stop: stop.distance_m, default=None)
    if nearest is None:
        return f"No stop is within the longest walk allowed ({MAX_WALK_M:g} m) of {side}"
    kind = "step-free walk" if query.step_free else "walk"
    reason = f"No {kind} of {query.max_walk_m:g} m or less was found between {side} and a stop"
    return f"{reason}; the nearest, {nearest.stop.name}, is {nearest.distance_m:.0f} m away in a straight line"


async def _explain_service(
    network: Network, query: JourneyQuery, *, is_destination: bool, wanted: JourneyQuery
) -> str | None:
    """Return a clause if no departure near the origin, or arrival near the destination, is within FURTHEST_DAYS.

    If ``query`` is for departures but ``wanted`` is for an arrival, service after that arrival does not count.
    """
    gap = await _get_or_none(network.find_service(query, is_destination=is_destination))
    if gap is not None and wanted.arrive_by and not query.arrive_by and (gap.next_departure or 0) > wanted.instant:
        return f"{_format_no_service(gap)} before {format_instant(gap.next_departure or 0, network.profile.zone)}"
    if gap is None or gap.next_departure is not None:
        return None
    day = to_local_date(query.instant, network.profile.zone)
    if gap.next_day is not None and abs(gap.next_day - day).days <= FURTHEST_DAYS:
        return None
    return f"{_format_no_service(gap)}. {explain_gap(gap).phrase}"


async def _explain_unserved(network: Network, query: JourneyQuery, gaps: Sequence[OutOfService]) -> str | None:
    """Return a clause if there is no service near the origin or destination on the day that the feeds resume."""
    resumes, later = find_next_service_day(gaps), replace(query, arrive_by=False)
    for is_destination in (False, True):
        gap = await _get_or_none(network.find_service(later, is_destination=is_destination))
        if resumes and gap and gap.next_departure is None and (gap.next_day is None or gap.next_day > resumes):
            return f"{_format_no_service(gap)}. {explain_gap(gap).phrase}"
    return None


def _format_no_service(gap: ServiceGap) -> str:
    return f"There are no {'arrivals near the destination' if gap.of_arrivals else 'departures near the origin'}"


def _format_trip(trip: Itinerary, zone: str) -> str:
    departure, arrival = format_instant(trip.departure, zone), format_instant(trip.arrival, zone)
    if not trip.rides:
        return f"A walk of {trip.walk_m:.0f} m starts at {departure} and ends at {arrival}"
    effort = f"{trip.walk_m:.0f} m of walking and {format_count(trip.transfers, 'change')}"
    return f"With {effort}, a trip departs at {departure} and arrives at {arrival}"
