"""Explain why no trip was found, and find better trips beyond the walking limit."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.place import Location
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.networks.querying import Deadline, query_network
from fingerpost.transit.port import DepartureQuery, JourneyAnswer, JourneyQuery, Network
from fingerpost.transit.rules.accessibility import list_weak_links
from fingerpost.transit.rules.times import format_instant
from fingerpost.transit.rules.trip_limits import LONG_WAIT_S, MAX_WALK_M, find_longest_wait
from fingerpost.transit.tools.wording import explain_gap, format_count

_T = TypeVar("_T")

# The contract's maximum of ``maxTransfers``.
_MAX_TRANSFERS = 8
_BOARD_S = 2 * 3600
_NO_HELP = f"More walking ({MAX_WALK_M:g} m) and changes ({_MAX_TRANSFERS}) do not help; try another time or place"
# A trip beyond the walking limit must arrive this much earlier, or depart this much later.
_MIN_GAIN_S = 1800
BETTER_WITHIN_S = 2.0


async def explain_no_trip(network: Network, query: JourneyQuery, deadline: Deadline) -> str | None:
    """Return why a network found no trip, without a full stop; None if unknown."""
    causes = []
    for side, end in (("the origin", query.origin), ("the destination", query.destination)):
        causes.append(await _get_or_none(_explain_end(network, side, end, query, deadline)))
    wider = replace(query, max_walk_m=MAX_WALK_M, max_transfers=_MAX_TRANSFERS, window_s=None)
    answer = None if wider == query else await _get_or_none(plan_usable(network, wider, deadline))
    best = None if answer is None else find_best(answer.itineraries, query)
    if best is not None:
        causes.append(format_trip(best, network.profile.zone))
        # Without a step-free trip, sources return one with steps.
        causes += list_weak_links([best]) if query.step_free else []
    if not any(causes):
        causes.append(await _get_or_none(_explain_origin(network, query, deadline)))
    if not any(causes) and (answer is not None or wider == query):
        causes.append(_NO_HELP)
    return ". ".join(cause for cause in causes if cause) or None


async def find_better_beyond(
    network: Network, query: JourneyQuery, usable: Sequence[Itinerary], deadline: Deadline
) -> tuple[Itinerary, Provenance] | None:
    """Return a much better trip beyond the walking limit if the best usable one wastes over an hour, else None.

    Servers get BETTER_WITHIN_S; if they fail or are late, the result is None.
    """
    best = find_best(usable, query)
    if best is None or query.max_walk_m >= MAX_WALK_M:
        return None
    offset_s = query.instant - best.arrival if query.arrive_by else best.departure - query.instant
    if max(offset_s, find_longest_wait(best)[0]) <= LONG_WAIT_S:
        return None
    left_s = deadline.share_s(network.profile, networks_left=0)
    if left_s is not None and left_s <= BETTER_WITHIN_S:
        return None
    try:
        async with asyncio.timeout(None if left_s is None else BETTER_WITHIN_S):
            answer = await plan_usable(network, replace(query, max_walk_m=MAX_WALK_M), deadline)
    except (ToolError, TimeoutError):
        return None
    wider = find_best(answer.itineraries, query)
    if wider is None or wider.walk_m <= query.max_walk_m:
        return None
    gain_s = wider.departure - best.departure if query.arrive_by else best.arrival - wider.arrival
    return (wider, answer.provenance) if gain_s > _MIN_GAIN_S else None


def find_best(itineraries: Iterable[Itinerary], query: JourneyQuery) -> Itinerary | None:
    if query.arrive_by:
        return max(itineraries, key=lambda trip: (trip.departure, -trip.walk_m), default=None)
    return min(itineraries, key=lambda trip: (trip.arrival, trip.walk_m), default=None)


async def _get_or_none(query_call: Awaitable[_T]) -> _T | None:
    try:
        return await query_call
    except (ToolError, TimeoutError):
        return None


async def plan_usable(network: Network, query: JourneyQuery, deadline: Deadline) -> JourneyAnswer:
    answer = await query_network(network, lambda queried: queried.plan_journeys(query), deadline)
    earliest = query.not_before
    usable = (trip for trip in answer.itineraries if not trip.is_unusable)
    return replace(answer, itineraries=tuple(trip for trip in usable if earliest is None or trip.departure >= earliest))


async def _explain_end(
    network: Network, side: str, end: Location, query: JourneyQuery, deadline: Deadline
) -> str | None:
    """Return a clause if no stop is within walking distance (straight line) of an end, else None."""
    if end.stop_ids or not network.profile.can(Ability.STOPS):
        return None
    near = await query_network(
        network,
        lambda queried: queried.list_stops_near(end.coordinate, MAX_WALK_M, language=query.language),
        deadline,
    )
    nearest = min(near.stops, key=lambda stop: stop.distance_m, default=None)
    if nearest is None:
        return f"No stop is within {MAX_WALK_M:g} m of {side}, the longest walk allowed"
    if nearest.distance_m <= query.max_walk_m:
        return None
    return (
        f"No stop is within {query.max_walk_m:g} m of {side}; "
        f"the nearest, {nearest.stop.name}, is {nearest.distance_m:.0f} m away in a straight line"
    )


async def _explain_origin(network: Network, query: JourneyQuery, deadline: Deadline) -> str | None:
    """Return a clause if nothing departs near the origin; None for servers, which need a request per stop."""
    profile = network.profile
    is_here = profile.answer_deadline_s is None and profile.fallback is None
    if query.arrive_by or not is_here or not profile.can(Ability.STOPS, Ability.BOARDS):
        return None
    stop_ids = list(query.origin.stop_ids)
    if not stop_ids:
        at, radius_m = query.origin.coordinate, query.max_walk_m
        near = await network.list_stops_near(at, radius_m, language=query.language)
        stop_ids = [stop.stop.id for stop in near.stops if stop.stop.id is not None]
    board_query = DepartureQuery(stop_ids=stop_ids, instant=query.instant, window_s=_BOARD_S, wanted=1)
    board = await query_network(network, lambda queried: queried.list_departures(board_query), deadline)
    if board.gap is None or board.gap.next_departure is not None or board.departures:
        return None
    return f"Nothing departs near the origin. {explain_gap(board.gap).words}"


def format_trip(trip: Itinerary, zone: str) -> str:
    times = f"departs at {format_instant(trip.departure, zone)} and arrives at {format_instant(trip.arrival, zone)}"
    if not trip.rides:
        return f"A walk of {trip.walk_m:.0f} m {times}"
    return f"With {trip.walk_m:.0f} m of walking and {format_count(trip.transfers, 'change')}, a trip {times}"
