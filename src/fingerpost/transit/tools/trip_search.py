"""Search the networks for trips, and query again if the first answer is not good enough (rules B5, B6, D1, D3)."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property, reduce
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.querying import Deadline, NetworkFailure, query_network, try_in_order
from fingerpost.transit.places.trip_ends import NetworkJourney
from fingerpost.transit.port import JourneyAnswer, JourneyQuery, Network
from fingerpost.transit.rules.disruption import RankedItineraries, as_scheduled, is_disrupted, merge_alternatives
from fingerpost.transit.rules.preferences import LONG_WAIT_S, MAX_TRANSFERS, MAX_WALK_M, find_longest_wait, relax_limits
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  (the contract's own name)


class FollowUp(Enum):
    """The kinds of follow-up queries."""

    RELAXED_LIMITS = auto()
    NEXT_USABLE = auto()
    EARLIEST_ARRIVAL = auto()
    WIDER_LIMITS = auto()
    LESS_WALKING = auto()


class FollowUpQuery(NamedTuple):
    """A follow-up query; a server has at most ``max_s`` seconds to answer, and is not queried if less time is left."""

    kind: FollowUp
    query: JourneyQuery
    max_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class FoundTrips:
    """A network's answers to a query and to follow-up queries, without trips that have already departed.

    ``query`` holds the origin and destination as the network resolved them. ``follow_ups`` holds the answers to
    follow-up queries, by kind.
    """

    query: JourneyQuery
    network: Network
    first: JourneyAnswer
    left_out: Sequence[NetworkFailure]
    deadline: Deadline
    follow_ups: Mapping[FollowUp, tuple[JourneyAnswer, ...]] = field(default_factory=lambda: MappingProxyType({}))
    warnings: Sequence[Warning] = ()

    @cached_property
    def known(self) -> list[Itinerary]:
        """The trips from the first query or, if it found none, from the relaxed query."""
        return self.list_trips() or self.list_trips(FollowUp.RELAXED_LIMITS)

    @cached_property
    def usable(self) -> list[Itinerary]:
        trips = self.list_trips(FollowUp.RELAXED_LIMITS, FollowUp.LESS_WALKING)
        return [trip for trip in trips if not trip.is_unusable]

    @cached_property
    def earliest_arrival(self) -> Itinerary | None:
        """The trip with the earliest arrival among departures from now on, if the network was queried for it."""
        return min(self.list_usable(FollowUp.EARLIEST_ARRIVAL), key=lambda trip: trip.arrival, default=None)

    @cached_property
    def better(self) -> Itinerary | None:
        """A much better trip beyond the limits, if the best trip within them has long waits or none is usable."""
        query, best = self.find_best()
        wider = find_best(self.list_usable(FollowUp.WIDER_LIMITS), query)
        if best is None or wider is None:
            return wider
        gain_s = wider.departure - best.departure if query.arrive_by else best.arrival - wider.arrival
        is_within = wider.walk_m <= query.max_walk_m and wider.transfers <= query.max_transfers
        return wider if not is_within and gain_s > min(_LARGE_GAIN_S, max(_MIN_GAIN_S, best.duration_s / 2)) else None

    def find_best(self) -> tuple[JourneyQuery, Itinerary | None]:
        """Return a query and its best usable trip; if no trip arrives in time, the query is for departures."""
        query, trips = self.query, self.usable
        if not trips:
            trips = [*self.list_usable(FollowUp.NEXT_USABLE), *self.list_usable(FollowUp.EARLIEST_ARRIVAL)]
            in_time = [trip for trip in trips if trip.arrival <= query.instant]
            if query.arrive_by:
                query, trips = (query, in_time) if in_time else (self.depart_later(), trips)
        return query, find_best(trips, query)

    def depart_later(self) -> JourneyQuery:
        """Return a query for departures after those found or, if the first query is for an arrival, from now on."""
        query = self.query
        departures = [trip.departure for trip in self.list_trips(FollowUp.RELAXED_LIMITS)]
        from_now = query.not_before or min(departures, default=query.instant)
        return _depart_from(query, from_now if query.arrive_by else max(departures) + 1)

    def rank(self, limit: int) -> RankedItineraries:
        """Rank all trips, and choose at most ``limit`` to show."""
        query, first, all_trips = self.query, self.list_trips(), self.list_trips(FollowUp.RELAXED_LIMITS)
        return merge_alternatives(
            first or all_trips,
            all_trips[len(first) :] if first else (),
            limit=limit,
            optimize=query.optimize,
            wanted_arrival=query.instant if query.arrive_by else None,
        )

    def list_trips(self, *kinds: FollowUp) -> list[Itinerary]:
        """Return the trips from the first query and from follow-up queries of these kinds."""
        answers = self._list_answers(*kinds)
        return [trip for answer in answers for trip in (*answer.itineraries, *answer.timetabled)]

    def list_usable(self, kind: FollowUp) -> list[Itinerary]:
        """Return the usable trips from follow-up queries of this kind."""
        trips = (trip for answer in self.follow_ups.get(kind, ()) for trip in answer.itineraries)
        return [trip for trip in trips if not trip.is_unusable]

    def merge_provenance(self, kind: FollowUp) -> Provenance:
        """Merge the provenance of the first answer, the follow-ups of this kind and, if it exists, the better trip."""
        kinds = [kind] if self.better is None else [kind, FollowUp.WIDER_LIMITS]
        return reduce(merge_provenance, (answer.provenance for answer in self._list_answers(*kinds)))

    def _list_answers(self, *kinds: FollowUp) -> list[JourneyAnswer]:
        return [self.first, *(answer for kind in kinds for answer in self.follow_ups.get(kind, ()))]


async def search_trips(
    journeys: Sequence[NetworkJourney], choose_follow_up: Callable[[FoundTrips], FollowUpQuery | None]
) -> FoundTrips:
    """Query the networks in order, then keep querying the one that answered until ``choose_follow_up`` returns None.

    A failed follow-up query is not repeated, but other follow-up queries are still sent.

    Raises:
        ToolError: no network answered, or the first answer was empty and the query with relaxed limits failed.
        OutsideCalendar: no timetable covers the day.
    """
    deadline = Deadline()
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
    found = FoundTrips(
        query=query,
        network=outcome.network,
        first=_drop_departed(answer, query),
        left_out=outcome.left_out,
        deadline=deadline,
        warnings=outcome.warnings,
    )
    while not found.first.is_final and (follow_up := choose_follow_up(found)) is not None:
        kind = follow_up.kind
        answers = found.follow_ups.get(kind, ())
        try:
            answers = (*answers, await _plan(found.network, follow_up, deadline))
        except (ToolError, TimeoutError) as error:
            if kind is FollowUp.LESS_WALKING:
                return found
            if kind is FollowUp.RELAXED_LIMITS:
                if not found.known:
                    raise
                message = f"{found.network.profile.name} returned no alternatives to disrupted itineraries: {error}."
                found = replace(found, warnings=(*found.warnings, Warning(WarningCode.NETWORK_LEFT_OUT, message)))
        found = replace(found, follow_ups={**found.follow_ups, kind: answers})
    return found


async def _plan(network: Network, follow_up: FollowUpQuery, deadline: Deadline) -> JourneyAnswer:
    remaining_s = deadline.find_limit_s(network.profile, remaining_networks=0)
    max_s = None if remaining_s is None else follow_up.max_s
    if max_s is not None and remaining_s is not None and remaining_s <= max_s:
        raise TimeoutError
    # Unlike missing the deadline, exceeding this limit does not count as a server failure.
    async with asyncio.timeout(max_s):
        answer = await query_network(network, lambda queried: queried.plan_journeys(follow_up.query), deadline)
    return _drop_departed(answer, follow_up.query)


def _drop_departed(answer: JourneyAnswer, query: JourneyQuery) -> JourneyAnswer:
    """Convert unusable itineraries to their scheduled times, and then drop itineraries that depart before now."""

    def list_remaining(itineraries: Sequence[Itinerary]) -> tuple[Itinerary, ...]:
        shown = (as_scheduled(itinerary) if itinerary.is_unusable else itinerary for itinerary in itineraries)
        return tuple(trip for trip in shown if query.not_before is None or trip.departure >= query.not_before)

    return replace(answer, itineraries=list_remaining(answer.itineraries), timetabled=list_remaining(answer.timetabled))


# A trip beyond the limits must save over half of the best trip's duration; this threshold is clamped to these values.
_MIN_GAIN_S, _LARGE_GAIN_S = 600, 1800
WIDER_LIMITS_TIMEOUT_S = 2.0


def choose_trip_follow_up(
    found: FoundTrips, *, with_alternatives: bool = True, look_further: bool = True
) -> FollowUpQuery | None:
    """Return a follow-up query if no trip is found, a trip is disrupted, or no usable trip arrives in time.

    If ``look_further``, also look for a better trip beyond the limits if the best trip has a wait of over an hour or is
    over an hour from the requested time, or if no later trip is usable.
    """
    query, sent, known = found.query, found.follow_ups, found.known
    is_disruption = with_alternatives and any(map(is_disrupted, known))
    if (not known or is_disruption) and FollowUp.RELAXED_LIMITS not in sent:
        return FollowUpQuery(FollowUp.RELAXED_LIMITS, relax_limits(query))
    earliest = None if known else _choose_earliest_arrival(found)
    is_in_time = any(not query.arrive_by or trip.arrival <= query.instant for trip in found.usable)
    if known and not is_in_time and FollowUp.NEXT_USABLE not in sent:
        return FollowUpQuery(FollowUp.NEXT_USABLE, found.depart_later())
    return earliest or (_choose_wider_limits(found) if look_further else None)


def _choose_wider_limits(found: FoundTrips) -> FollowUpQuery | None:
    query, best = found.find_best()
    if best is None:
        is_poor = FollowUp.NEXT_USABLE in found.follow_ups
    else:
        offset_s = query.instant - best.arrival if query.arrive_by else best.departure - query.instant
        is_poor = max(offset_s, find_longest_wait(best)[0]) > LONG_WAIT_S
    if not is_poor or FollowUp.WIDER_LIMITS in found.follow_ups:
        return None
    wider = replace(query, max_walk_m=MAX_WALK_M, max_transfers=MAX_TRANSFERS, best_only=True)
    is_wider = wider != replace(query, best_only=True)
    return FollowUpQuery(FollowUp.WIDER_LIMITS, wider, WIDER_LIMITS_TIMEOUT_S) if is_wider else None


# Sources cannot minimize walking, so each follow-up query limits it to less than the best result so far.
MAX_LESS_WALKING_QUERIES = 4


def choose_window_follow_up(found: FoundTrips, *, least_walk: bool) -> FollowUpQuery | None:
    """Return a query with less walking if ``least_walk``, else for the earliest arrival or with wider limits."""
    query = found.query
    tries = found.follow_ups.get(FollowUp.LESS_WALKING, ())
    if least_walk and len(tries) < MAX_LESS_WALKING_QUERIES:
        last = (found.first, *tries)[-1]
        walks_m = [trip.walk_m for trip in last.itineraries if is_in_window(trip, query) and not trip.is_unusable]
        if (least_m := min(walks_m, default=0.0)) >= 1:
            return FollowUpQuery(FollowUp.LESS_WALKING, replace(query, max_walk_m=least_m - 1))
    usable = found.usable
    has_no_service = found.first.provenance.out_of_service and not usable
    is_answered = has_no_service or any(is_in_window(trip, query) for trip in usable)
    earliest = None if is_answered else _choose_earliest_arrival(found)
    return None if least_walk else earliest or _choose_wider_limits(found)


def _choose_earliest_arrival(found: FoundTrips) -> FollowUpQuery | None:
    """If the query is for a future arrival, return a query for departures from now; None if already sent."""
    query = found.query
    if not query.arrive_by or query.not_before is None or FollowUp.EARLIEST_ARRIVAL in found.follow_ups:
        return None
    return FollowUpQuery(FollowUp.EARLIEST_ARRIVAL, _depart_from(replace(query, window_s=None), query.not_before))


def _depart_from(query: JourneyQuery, earliest: int) -> JourneyQuery:
    return replace(query, instant=earliest, arrive_by=False, not_before=earliest, optimize=Optimize.SHORTEST_TIME)


def is_in_window(itinerary: Itinerary, query: JourneyQuery) -> bool:
    instant = itinerary.arrival if query.arrive_by else itinerary.departure
    distance_s = query.instant - instant if query.arrive_by else instant - query.instant
    return 0 <= distance_s <= (query.window_s or 0)


def find_best(itineraries: Iterable[Itinerary], query: JourneyQuery) -> Itinerary | None:
    if query.arrive_by:
        return max(itineraries, key=lambda trip: (trip.departure, -trip.walk_m), default=None)
    return min(itineraries, key=lambda trip: (trip.arrival, trip.walk_m), default=None)
