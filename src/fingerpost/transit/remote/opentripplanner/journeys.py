"""Request pages of journeys from an OpenTripPlanner server.

The server has no limit on walking (rule B6), so itineraries that walk too far are dropped here, and a second query
makes walking expensive.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.answers import refuse_unreadable
from fingerpost.transit.remote.kit.journeys import (
    PAGE_SIZE,
    FoundJourneys,
    JourneyEnd,
    JourneyRequest,
    JourneySearch,
    list_timetabled,
    new_outside_calendar,
    sort_live,
)
from fingerpost.transit.remote.opentripplanner.itineraries import (
    ARRIVAL_MARGIN_S,
    list_itineraries,
)
from fingerpost.transit.remote.opentripplanner.places import OtpStopIds
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.remote.opentripplanner.shapes import Plan, RoutingError, format_offset_time

OUTSIDE_SERVICE_PERIOD, OUTSIDE_BOUNDS = "OUTSIDE_SERVICE_PERIOD", "OUTSIDE_BOUNDS"
WALKING_IS_BETTER = "WALKING_BETTER_THAN_TRANSIT"

_ENDS = {"FROM": "the origin", "TO": "the destination"}
_SENTENCES = {
    "LOCATION_NOT_FOUND": "No street and no stop is near {end}",
    "NO_STOPS_IN_RANGE": "No stop can be reached on foot at {end}",
    "NO_TRANSIT_CONNECTION": "Nothing connects the two on that day or the next",
    "NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW": "Nothing connects the two around that time; try another time",
    WALKING_IS_BETTER: "Walking is quicker than any ride, but exceeds the walking limit; raise the limit",
}


def list_reasons(errors: Iterable[RoutingError]) -> tuple[str, ...]:
    sentences = (_SENTENCES[error.code].format(end=_end_of(error)) for error in errors if error.code in _SENTENCES)
    return tuple(sentence[0].upper() + sentence[1:] for sentence in sentences)


def _end_of(error: RoutingError) -> str:
    return _ENDS.get(error.input_field or "", "an end")


# Itineraries on a page where all of a window are wanted.
WINDOW_PAGE_SIZE = 40
# A server's limit is a day by default; it refuses two days.
_MAX_WINDOW_S = 24 * 3600
# The cost of a transfer beyond its time, in seconds, for riders who want few.
_FEW_TRANSFERS_COST = 1200
# The cost of a minute of walking in minutes of riding, for shorter walks; the server's default is 2.
_SHORT_WALK_RELUCTANCE = 10.0


def to_plan_location(end: JourneyEnd) -> dict[str, Any]:
    """Return a PlanLabeledLocationInput: exactly one of its two keys, never null."""
    if end.stop_id is not None:
        return {"location": {"stopLocation": {"stopLocationId": end.stop_id}}}
    here = end.location.coordinate
    return {"location": {"coordinate": {"latitude": here.lat, "longitude": here.lon}}}


def new_variables(request: JourneyRequest, zone: ZoneInfo) -> dict[str, Any]:
    """Return the variables of the plan document; wishes that were not made are left out, because nulls fail."""
    query, shorter_walks = request.query, request.shorter_walks
    bound = "latestArrival" if query.arrive_by else "earliestDeparture"
    instant = query.instant + ARRIVAL_MARGIN_S if query.arrive_by else query.instant
    preferences = _preferences(query, shorter_walks=shorter_walks)
    variables: dict[str, Any] = {
        "origin": to_plan_location(request.origin),
        "destination": to_plan_location(request.destination),
        "dateTime": {bound: format_offset_time(instant, zone)},
        "first": max(PAGE_SIZE, query.wanted + 1),
        "preferences": preferences,
        "withScheduled": True,
        "scheduled": {
            **preferences,
            "transit": {**preferences["transit"], "timetable": {"includeRealTimeCancellations": True}},
        },
    }
    if query.window_s is not None:
        variables["first"] = max(WINDOW_PAGE_SIZE, query.wanted + 1)
        variables["searchWindow"] = f"PT{min(query.window_s, _MAX_WINDOW_S)}S"
    if shorter_walks:
        variables["modes"] = {"transitOnly": True}
    return variables


def _preferences(query: JourneyQuery, *, shorter_walks: bool) -> dict[str, Any]:
    transfer: dict[str, Any] = {"maximumTransfers": query.max_transfers}
    if query.optimize is Optimize.FEW_TRANSFERS:
        transfer["cost"] = _FEW_TRANSFERS_COST
    preferences: dict[str, Any] = {"transit": {"transfer": transfer}}
    if query.step_free:
        preferences["accessibility"] = {"wheelchair": {"enabled": True}}
    if shorter_walks:
        preferences["street"] = {"walk": {"reluctance": _SHORT_WALK_RELUCTANCE}}
    return preferences


class OpenTripPlannerSearch(JourneySearch):
    # A page may be empty although more follow.
    most_pages = 4

    def __init__(self, server: Server, ids: OtpStopIds, profile: NetworkProfile) -> None:
        self._server = server
        self._ids = ids
        self._profile = profile
        self._zone = ZoneInfo(profile.zone)

    async def first_page(self, request: JourneyRequest) -> FoundJourneys:
        return await self._ask(request, new_variables(request, self._zone))

    async def _ask(self, request: JourneyRequest, variables: Mapping[str, Any]) -> FoundJourneys:
        query = request.query
        answered = await self._server.ask(Plan, variables, language=request.language)
        page = answered.data.live
        itineraries = list_itineraries(page.edges, query, self._ids)
        live = sort_live(itineraries, query, answered.retrieved_at, answered.notes)
        if len(live.left_out) == len(set(itineraries)) and (itineraries or answered.has_lost("node")):
            raise refuse_unreadable("itinerary", live.list_notes())
        codes = {error.code for error in page.routing_errors}
        found = replace(
            live,
            timetabled=list_timetabled(list_itineraries(answered.data.scheduled, query, self._ids), query),
            reasons=list_reasons(page.routing_errors),
            walks_too_far=live.walks_too_far or WALKING_IS_BETTER in codes,
        )
        if not (found.live or found.timetabled or "after" in variables):
            self._refuse_outside(page.routing_errors)
        cursor = page.end_cursor if page.has_next_page else None
        if cursor is None or not _may_lack_some(found, query):
            return found
        next_page = {**variables, "withScheduled": False, "after": cursor}
        return replace(found, following=partial(self._ask, request, next_page))

    def _refuse_outside(self, errors: Iterable[RoutingError]) -> None:
        name = self._profile.name
        for error in errors:
            if error.code == OUTSIDE_SERVICE_PERIOD:
                raise new_outside_calendar(name, self._profile.first_day, self._profile.last_day)
            if error.code == OUTSIDE_BOUNDS:
                end = _end_of(error)
                raise RegionUnsupported(f"{end[0].upper()}{end[1:]} lies outside the area that {name} covers")


def _may_lack_some(found: FoundJourneys, query: JourneyQuery) -> bool:
    """Whether the next page, with later departures, may have the first trip or more of the window."""
    if not found.live:
        return True
    if query.window_s is None or query.arrive_by:
        return False
    return max(itinerary.departure for itinerary in found.live) <= query.instant + query.window_s
