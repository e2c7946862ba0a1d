"""Search networks for trips, and relax the limits if none is usable (rules B5, B6); or search a time window (D3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from fingerpost.errors import NoItinerary, OutsideCalendar, SourceChanged, StorageUnavailable
from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.querying import UNAVAILABLE, Deadline, Outcome, query_network, try_in_order
from fingerpost.transit.places.trip_ends import NetworkJourney
from fingerpost.transit.port import JourneyAnswer, JourneyQuery, Network
from fingerpost.transit.rules.disruption import RankedItineraries, as_scheduled, is_disrupted, merge_alternatives
from fingerpost.transit.rules.ranking import JourneyPreset, compute_route_id
from fingerpost.transit.rules.times import format_instant, to_local_date
from fingerpost.transit.rules.trip_limits import find_out_of_service_hint, relax_limits
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  (the contract's own name)
from fingerpost.transit.tools.no_trip import explain_no_trip, find_better_trip, find_offset_message, plan_usable
from fingerpost.transit.tools.shapes import NoResultsReason
from fingerpost.transit.tools.wording import WhyEmptySentence


@dataclass(frozen=True, slots=True, kw_only=True)
class TripResult:
    """The result of plan_trip's search; ``query`` has the origin and destination as resolved by the answering network.

    ``offset`` explains why the first departure, or last arrival, is over an hour from the request.
    """

    network: Network
    query: JourneyQuery
    ranked: RankedItineraries
    step_free_supported: bool
    provenance: Provenance
    better: Itinerary | None = None
    offset: str | None = None
    warnings: Sequence[Warning] = ()

    @property
    def shown(self) -> list[Itinerary]:
        return [choice.itinerary for choice in self.ranked.choices]


async def _query_networks(
    journeys: Sequence[NetworkJourney], deadline: Deadline
) -> tuple[JourneyQuery, Outcome[JourneyAnswer]]:
    """Query the networks in order; return the answering network's query, and its answer without departed trips."""
    queries = {journey.network.profile.name: journey.query for journey in journeys}
    outcome = await try_in_order(
        [journey.network for journey in journeys],
        lambda network: network.plan_journeys(queries[network.profile.name]),
        deadline,
    )
    query, answer = queries[outcome.network.profile.name], outcome.value
    if place_attribution := (*query.origin.attribution, *query.destination.attribution):
        attribution = tuple(dict.fromkeys((*answer.provenance.attribution, *place_attribution)))
        answer = replace(answer, provenance=replace(answer.provenance, attribution=attribution))
    return query, replace(outcome, value=_drop_departed(answer, query))


async def search_trip(
    journeys: Sequence[NetworkJourney], *, limit: int, with_alternatives: bool, look_further: bool = True
) -> TripResult:
    """Query the networks in order; relax the limits once if no trip is found or one is disrupted.

    ``look_further`` also searches for a better trip beyond the walking limit.
    """
    deadline = Deadline()
    query, first = await _query_networks(journeys, deadline)
    network, warnings, answers = first.network, list(first.warnings), [first.value]
    known, relaxed = [*first.value.itineraries, *first.value.timetabled], list[Itinerary]()
    is_empty = not known
    if is_empty or (with_alternatives and any(map(is_disrupted, known))):
        try:
            answers.append(await _plan(network, relax_limits(query), deadline))
        except (StorageUnavailable, SourceChanged) as error:
            if is_empty:
                raise
            left_out = f"{network.profile.name} returned no alternatives to disrupted itineraries: {error.message}."
            warnings.append(Warning(WarningCode.NETWORK_LEFT_OUT, left_out))
        else:
            found = (*answers[-1].itineraries, *answers[-1].timetabled)
            if is_empty:
                # With nothing else to show, these are the results and not alternatives to disrupted ones.
                known.extend(found)
            else:
                relaxed.extend(found)
    if not known:
        raise await _build_no_itinerary(query, first, deadline)
    wanted_arrival = query.instant if query.arrive_by else None
    ranked = merge_alternatives(known, relaxed, limit=limit, optimize=query.optimize, wanted_arrival=wanted_arrival)
    if not ranked.any_usable:
        message = await _format_next_usable(network, query, ranked, deadline)
        warnings.append(Warning(WarningCode.NO_USABLE_ITINERARY, message))
    usable = [trip for trip in ranked.found if not trip.is_unusable]
    better = await find_better_trip(network, query, usable, deadline) if look_further else None
    sources = [answer.provenance for answer in answers] + ([] if better is None else [better[1]])
    return TripResult(
        network=network,
        query=query,
        ranked=ranked,
        step_free_supported=first.value.step_free_supported,
        provenance=reduce(merge_provenance, sources),
        better=None if better is None else better[0],
        offset=await find_offset_message(network, query, ranked.found, first.value.provenance.zone),
        warnings=warnings,
    )


async def _plan(network: Network, query: JourneyQuery, deadline: Deadline) -> JourneyAnswer:
    answer = await query_network(network, lambda queried: queried.plan_journeys(query), deadline)
    return _drop_departed(answer, query)


def _drop_departed(answer: JourneyAnswer, query: JourneyQuery) -> JourneyAnswer:
    """Drop itineraries that depart before now; unusable ones show scheduled times."""

    def list_remaining(itineraries: Sequence[Itinerary]) -> tuple[Itinerary, ...]:
        shown = (as_scheduled(itinerary) if itinerary.is_unusable else itinerary for itinerary in itineraries)
        return tuple(trip for trip in shown if query.not_before is None or trip.departure >= query.not_before)

    return replace(answer, itineraries=list_remaining(answer.itineraries), timetabled=list_remaining(answer.timetabled))


async def _build_no_itinerary(query: JourneyQuery, found: Outcome[JourneyAnswer], deadline: Deadline) -> NoItinerary:
    network, answer = found.network, found.value
    first = await _find_earliest_arrival(network, query, deadline)
    if first is None:
        out_of_service = answer.provenance.out_of_service
        hint = answer.no_result_reason or await explain_no_trip(network, query, deadline, out_of_service)
    else:
        departure, arrival = (
            format_instant(instant, network.profile.zone) for instant in (first.departure, first.arrival)
        )
        hint = f"The earliest possible arrival is at {arrival}, if you leave at {departure}"
    reasons = [*(failure.clause for failure in found.left_out), *filter(None, [hint])]
    return NoItinerary("No itineraries for given constraints", hint=". ".join(dict.fromkeys(reasons)) or None)


async def _find_earliest_arrival(network: Network, query: JourneyQuery, deadline: Deadline) -> Itinerary | None:
    """Return the earliest arrival from now on, if the query is for an arrival in the future."""
    if not query.arrive_by or query.not_before is None:
        return None
    found = await _find_usable_from(network, replace(query, window_s=None), query.not_before, deadline)
    return min(found, key=lambda itinerary: itinerary.arrival, default=None)


async def _format_next_usable(
    network: Network, query: JourneyQuery, ranked: RankedItineraries, deadline: Deadline
) -> str:
    zone = network.profile.zone
    if query.arrive_by:
        earliest = query.not_before or min(trip.departure for trip in ranked.found)
    else:
        earliest = max(trip.departure for trip in ranked.found) + 1
    found = await _find_usable_from(network, query, earliest, deadline)
    first = min(found, key=lambda trip: (trip.departure, trip.arrival), default=None)
    if first is None:
        return "None of the trips found is usable, and no later trip was found."
    departure, arrival = format_instant(first.departure, zone), format_instant(first.arrival, zone)
    return f"None of the trips found is usable. The next usable trip leaves at {departure} and arrives at {arrival}."


async def _find_usable_from(
    network: Network, query: JourneyQuery, earliest: int, deadline: Deadline
) -> Sequence[Itinerary]:
    later = replace(query, instant=earliest, arrive_by=False, not_before=earliest, optimize=Optimize.SHORTEST_TIME)
    try:
        return (await plan_usable(network, later, deadline)).itineraries
    except (*UNAVAILABLE, OutsideCalendar):
        return ()


# Sources cannot minimize walking, so each further query limits it to less than the best result so far.
LEAST_WALK_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesResult:
    """Distinct usable itineraries in the window, unordered, with counts of unusable ones."""

    routes: Sequence[Itinerary]
    provenance: Provenance
    cancelled: int = 0
    missed_changes: int = 0
    reason: NoResultsReason | None = None
    why_empty: WhyEmptySentence | None = None
    offset: str | None = None
    warnings: Sequence[Warning] = ()


async def search_routes(journeys: Sequence[NetworkJourney], preset: JourneyPreset, now: int) -> RoutesResult:
    deadline = Deadline()
    try:
        query, first = await _query_networks(journeys, deadline)
    except OutsideCalendar as error:
        # This is the preferred network's error, because no network answered.
        return RoutesResult(
            routes=(),
            provenance=journeys[0].network.profile.new_provenance(now),
            reason=NoResultsReason.NO_SERVICE,
            why_empty=WhyEmptySentence(error.message),
        )
    answers = [first.value]
    if preset == "LEAST_WALK":
        answers += await _query_with_less_walking(query, first, deadline)
    trips = [trip for answer in answers for trip in (*answer.itineraries, *answer.timetabled)]
    # Realtime and scheduled answers may contain the same trip.
    distinct = list({compute_route_id(trip): trip for trip in trips}.values())
    in_window = [trip for trip in distinct if _is_in_window(trip, query)]
    routes = [trip for trip in in_window if not trip.is_unusable]
    cancelled = sum(any(leg.cancelled for leg in trip.legs) for trip in in_window)
    reason, why_empty = None, None
    if not routes:
        usable = [trip for trip in distinct if not trip.is_unusable]
        reason, why_empty = await _explain(query, first, usable, deadline)
    return RoutesResult(
        routes=routes,
        provenance=reduce(merge_provenance, (answer.provenance for answer in answers)),
        cancelled=cancelled,
        missed_changes=len(in_window) - len(routes) - cancelled,
        reason=reason,
        why_empty=why_empty,
        offset=await find_offset_message(first.network, query, distinct, first.value.provenance.zone),
        warnings=first.warnings,
    )


def _is_in_window(itinerary: Itinerary, query: JourneyQuery) -> bool:
    instant = itinerary.arrival if query.arrive_by else itinerary.departure
    distance_s = query.instant - instant if query.arrive_by else instant - query.instant
    return 0 <= distance_s <= (query.window_s or 0)


async def _query_with_less_walking(
    query: JourneyQuery, first: Outcome[JourneyAnswer], deadline: Deadline
) -> list[JourneyAnswer]:
    answers: list[JourneyAnswer] = []
    answer = first.value
    for _ in range(LEAST_WALK_TRIES):
        in_window = (trip for trip in answer.itineraries if _is_in_window(trip, query))
        least_m = min((trip.walk_m for trip in in_window if not trip.is_unusable), default=0.0)
        if least_m < 1:
            break
        try:
            answer = await _plan(first.network, replace(query, max_walk_m=least_m - 1), deadline)
        except (*UNAVAILABLE, OutsideCalendar):
            break
        answers.append(answer)
    return answers


async def _explain(
    query: JourneyQuery, first: Outcome[JourneyAnswer], usable: Sequence[Itinerary], deadline: Deadline
) -> tuple[NoResultsReason, WhyEmptySentence | None]:
    network, answer = first.network, first.value
    instant, zone = query.instant, answer.provenance.zone
    nearest = _find_nearest(usable, query)
    out_of_service = find_out_of_service_hint(answer.provenance.out_of_service)
    day = to_local_date(instant, zone)
    if out_of_service and (nearest is None or to_local_date(nearest.departure, zone) != day):
        return NoResultsReason.NO_SERVICE, WhyEmptySentence(out_of_service)
    earliest = await _find_earliest_arrival(network, query, deadline)
    if earliest is not None and earliest.arrival > instant:
        span = earliest.departure, earliest.arrival
        return NoResultsReason.IN_THE_PAST, WhyEmptySentence("The trip with the earliest arrival is ", span)
    reason = NoResultsReason.IN_THE_PAST if query.not_before is None else NoResultsReason.NO_DEPARTURES
    if nearest is None:
        why = answer.no_result_reason or await explain_no_trip(network, query, deadline)
        return reason, None if why is None else WhyEmptySentence(why)
    which = "The last one before" if query.arrive_by else "The next one after"
    return reason, WhyEmptySentence(f"{which} the window is ", (nearest.departure, nearest.arrival))


def _find_nearest(usable: Sequence[Itinerary], query: JourneyQuery) -> Itinerary | None:
    if query.arrive_by:
        return max(usable, key=lambda trip: trip.arrival, default=None)
    later = [trip for trip in usable if trip.departure > query.instant]
    return min(later, key=lambda trip: (trip.departure, trip.arrival), default=None)
