"""Request pages of journeys from a MOTIS server.

A second search, on the timetable, shows what realtime did to scheduled journeys (rule B5).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.journeys import (
    PAGE_SIZE,
    FoundJourneys,
    JourneyEnd,
    JourneyRequest,
    JourneySearch,
    list_timetabled,
    sort_live,
)
from fingerpost.transit.remote.motis.itineraries import read_itineraries
from fingerpost.transit.remote.motis.places import MotisStopIds
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, UnknownThere
from fingerpost.transit.remote.motis.shapes import MotisPlan
from fingerpost.transit.rules.times import format_utc

# Slow enough that every walk within the limit fits the requested time.
_SLOWEST_M_PER_S, _SLOWEST_WHEELCHAIR_M_PER_S = 1.0, 0.75
_MINUTE_S = 60
# The server refuses a window of four days or more.
_MAX_WINDOW_S = 95 * 3600
_UNKNOWN_STOP = "The server no longer knows a stop's id, so the trip was planned between positions."
# The search on the timetable, whose answer has realtime beside it.
_SCHEDULED = "REALTIME_ANNOTATION_ONLY"


def new_params(request: JourneyRequest) -> dict[str, str]:
    """Return the parameters of a plan; for shorter walks, half the walking at either end and no walk-only way."""
    query, shorter_walks = request.query, request.shorter_walks
    # The server counts minutes: round so that nothing departs too early or arrives too late.
    minute = query.instant // _MINUTE_S if query.arrive_by else -(-query.instant // _MINUTE_S)
    pace = _SLOWEST_WHEELCHAIR_M_PER_S if query.step_free else _SLOWEST_M_PER_S
    walk_s = math.ceil(query.max_walk_m / pace / (2 if shorter_walks else 1))
    params = {
        "fromPlace": request.origin.print(7),
        "toPlace": request.destination.print(7),
        "time": format_utc(minute * _MINUTE_S),
        "arriveBy": "true" if query.arrive_by else "false",
        "numItineraries": str(max(PAGE_SIZE, query.wanted + 1)),
        "maxTransfers": str(query.max_transfers),
        "maxPreTransitTime": str(walk_s),
        "maxPostTransitTime": str(walk_s),
        "maxDirectTime": str(walk_s),
        "preTransitModes": "WALK",
        "postTransitModes": "WALK",
        "directModes": "" if shorter_walks else "WALK",
        "joinInterlinedLegs": "false",
        "withFares": "true",
    }
    if query.window_s is not None:
        params["searchWindow"] = str(min(-(-query.window_s // _MINUTE_S) * _MINUTE_S, _MAX_WINDOW_S))
    if query.step_free:
        params |= {"pedestrianProfile": "WHEELCHAIR", "useRoutedTransfers": "true"}
    return params


class MotisJourneySearch(JourneySearch):
    most_pages = 3

    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        self._server = server
        self._ids = ids

    async def find(self, request: JourneyRequest) -> FoundJourneys:
        """Search; if the server no longer knows a stop's id, search between the positions instead."""
        ends = request.origin, request.destination
        try:
            return await super().find(request)
        except UnknownThere:
            if all(end.stop_id is None for end in ends):
                raise
        origin, destination = (JourneyEnd(location=end.location) for end in ends)
        found = await super().find(replace(request, origin=origin, destination=destination))
        return replace(found, notes=(*found.notes, _UNKNOWN_STOP))

    async def first_page(self, request: JourneyRequest) -> FoundJourneys:
        params = new_params(request)
        page, scheduled = await gather_all([self._ask_page(request, params), self._find_scheduled(request, params)])
        return replace(page.add(scheduled), following=page.following)

    async def _ask_page(self, request: JourneyRequest, params: Mapping[str, str]) -> FoundJourneys:
        query = request.query
        answered = await self._ask(request, params)
        page = answered.data
        answered.require("itinerary", "itineraries", found=page.itineraries)
        itineraries, left_out = read_itineraries((*page.direct, *page.itineraries), query, self._ids)
        found = sort_live(itineraries, query, answered.retrieved_at, answered.notes, in_minutes=True)
        found = replace(found, left_out=found.left_out | left_out, zone=_find_zone(page))
        cursor = page.previous_page_cursor if query.arrive_by else page.next_page_cursor
        # No page follows an empty one.
        if found.has_rides or not page.itineraries or not cursor:
            return found
        following = partial(self._ask_page, request, {**params, "pageCursor": cursor})
        return replace(found, following=following)

    async def _find_scheduled(self, request: JourneyRequest, params: Mapping[str, str]) -> FoundJourneys:
        query = request.query
        try:
            answered = await self._ask(request, {**params, "realtimeMode": _SCHEDULED})
        except ToolError as error:
            note = f"Trips cancelled in realtime are unknown ({error.message})."
            return FoundJourneys(retrieved_at=clock.now(), notes=(note,))
        itineraries, _ = read_itineraries(answered.data.itineraries, query, self._ids, walks_as_expected=False)
        return FoundJourneys(
            retrieved_at=answered.retrieved_at,
            timetabled=list_timetabled(itineraries, query),
            notes=answered.notes,
            zone=_find_zone(answered.data),
        )

    async def _ask(self, request: JourneyRequest, params: Mapping[str, str]) -> Answer[MotisPlan]:
        return await self._server.ask(MotisEndpoint.PLAN, MotisPlan, params, language=request.language)


def _find_zone(plan: MotisPlan) -> str | None:
    legs = (leg for itinerary in plan.itineraries for leg in itinerary.legs)
    return next((leg.from_.tz for leg in legs if leg.from_.tz), None)
