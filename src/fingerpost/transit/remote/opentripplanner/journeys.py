"""Find the journeys of a query: page by page, and once more with shorter walks where too much walking was found.

The server knows no limit on walking (rule B6), so itineraries that walk too far are dropped here, and another question,
in which walking is dear, looks for those that walk less.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.answers import refuse_unreadable
from fingerpost.transit.remote.kit.journeys import PAGE_SIZE, FoundJourneys, JourneyEnd
from fingerpost.transit.remote.opentripplanner.documents import PLAN
from fingerpost.transit.remote.opentripplanner.itineraries import (
    ARRIVAL_MARGIN_S,
    has_unmeasured_walk,
    list_itineraries,
)
from fingerpost.transit.remote.opentripplanner.server import Server, fail_on_null
from fingerpost.transit.remote.opentripplanner.shapes import PlanConnection, PlanData, RoutingError
from fingerpost.transit.remote.opentripplanner.stops import StopIdBook
from fingerpost.transit.remote.opentripplanner.wire_values import print_offset_time
from fingerpost.transit.rules.trip_limits import is_possible, list_kept, say_impossible

OUTSIDE_SERVICE_PERIOD = "OUTSIDE_SERVICE_PERIOD"
WALKING_IS_BETTER = "WALKING_BETTER_THAN_TRANSIT"

_ENDS = {"FROM": "the origin", "TO": "the destination"}
_SENTENCES = {
    "LOCATION_NOT_FOUND": "No street and no stop is near {end}",
    "OUTSIDE_BOUNDS": "{end} lies outside the area that the server knows",
    "NO_STOPS_IN_RANGE": "No stop can be reached on foot at {end}",
    "NO_TRANSIT_CONNECTION": "Nothing connects the two on that day or the next",
    "NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW": "Nothing connects the two around that time; another time may do",
    WALKING_IS_BETTER: "Walking is quicker than any ride, and further than the limit; more maxWalkingDistance helps",
}


def say_reasons(errors: Iterable[RoutingError]) -> str | None:
    """Return sentences on why nothing was found, None where the server gives no reason that we know."""
    sentences = (
        _SENTENCES[error.code].format(end=_ENDS.get(error.input_field or "", "an end"))
        for error in errors
        if error.code in _SENTENCES
    )
    said = ". ".join(dict.fromkeys(sentence[0].upper() + sentence[1:] for sentence in sentences))
    return said or None


# Itineraries on a page where all of a window are wanted.
WINDOW_PAGE_SIZE = 40
# A server's own limit is a day by default; it refuses two days.
_LONGEST_WINDOW_S = 24 * 3600
# What a change costs beyond its time, in the server's cost units (seconds), for who wants few of them.
_FEW_TRANSFERS_COST = 1200
# How much worse than riding a minute of walking is for who must walk less; the server's default is 2.
_SHORT_WALK_RELUCTANCE = 10.0


def print_end(end: JourneyEnd) -> dict[str, Any]:
    """Return a PlanLabeledLocationInput; exactly one of its two keys, never a null."""
    if end.stop_id is not None:
        return {"location": {"stopLocation": {"stopLocationId": end.stop_id}}}
    here = end.location.coordinate
    return {"location": {"coordinate": {"latitude": here.lat, "longitude": here.lon}}}


def new_variables(
    query: JourneyQuery,
    origin: JourneyEnd,
    destination: JourneyEnd,
    zone: ZoneInfo,
    *,
    shorter_walks: bool = False,
    with_promised: bool,
) -> dict[str, Any]:
    """Return the variables of the plan document; what is not wished for is left out, because nulls fail.

    ``shorter_walks`` makes walking dearer and leaves out the way that only walks.
    """
    bound = "latestArrival" if query.arrive_by else "earliestDeparture"
    instant = query.instant + ARRIVAL_MARGIN_S if query.arrive_by else query.instant
    preferences = _preferences(query, shorter_walks=shorter_walks)
    variables: dict[str, Any] = {
        "origin": print_end(origin),
        "destination": print_end(destination),
        "dateTime": {bound: print_offset_time(instant, zone)},
        "first": max(PAGE_SIZE, query.wanted + 1),
        "preferences": preferences,
    }
    if query.window_s is not None:
        variables["first"] = max(WINDOW_PAGE_SIZE, query.wanted + 1)
        variables["searchWindow"] = f"PT{min(query.window_s, _LONGEST_WINDOW_S)}S"
    if shorter_walks:
        variables["modes"] = {"transitOnly": True}
    if with_promised:
        transit = {**preferences["transit"], "timetable": {"includeRealTimeCancellations": True}}
        variables |= {"withPromised": True, "promised": {**preferences, "transit": transit}}
    return variables


def without_promised(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {**variables, "withPromised": False} if "withPromised" in variables else dict(variables)


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


# A page may be empty while there are more; beyond this many we believe that there is nothing.
MOST_PAGES = 4


@dataclass(slots=True)
class Found(FoundJourneys):
    """What was found, and the server's reasons why there is no more."""

    reasons: list[RoutingError] = field(default_factory=list)

    def has_reason(self, code: str) -> bool:
        return any(error.code == code for error in self.reasons)


class JourneySearch:
    """Searches one server.

    Args:
        with_promised: whether the server can be asked for cancelled trips.
    """

    def __init__(self, server: Server, ids: StopIdBook, zone: ZoneInfo, *, with_promised: bool) -> None:
        self._server = server
        self._ids = ids
        self._zone = zone
        self._with_promised = with_promised

    async def find(
        self, query: JourneyQuery, origin: JourneyEnd, destination: JourneyEnd, language: str | None
    ) -> Found:
        """Return what was found within the query's limits."""
        found = await self._find_once(query, origin, destination, language, shorter_walks=False)
        if found.walks_too_far and not found.has_rides:
            shorter = await self._find_once(query, origin, destination, language, shorter_walks=True)
            found.add(shorter)
            found.reasons += shorter.reasons
        return found

    async def _find_once(
        self,
        query: JourneyQuery,
        origin: JourneyEnd,
        destination: JourneyEnd,
        language: str | None,
        *,
        shorter_walks: bool,
    ) -> Found:
        variables = new_variables(
            query,
            origin,
            destination,
            self._zone,
            shorter_walks=shorter_walks,
            with_promised=self._with_promised,
        )
        found = Found()
        seen: set[str | None] = {None}
        for _ in range(MOST_PAGES):
            page = await self._ask(variables, query, language, found)
            cursor = page.page_info.end_cursor if page.page_info is not None and page.page_info.has_next_page else None
            # A cursor that was followed before leads nowhere.
            if cursor in seen or found.has_reason(OUTSIDE_SERVICE_PERIOD):
                break
            if found.live and not _may_lack_some(found, query):
                break
            seen.add(cursor)
            variables = {**without_promised(variables), "after": cursor}
        return found

    async def _ask(
        self, variables: dict[str, Any], query: JourneyQuery, language: str | None, found: Found
    ) -> PlanConnection:
        answered = await self._server.ask(PLAN, PlanData, variables, language=language)
        page = answered.data.live
        if page is None:
            raise fail_on_null("plan", answered.notes)
        told = list_itineraries(page, query, self._ids)
        live = found.drop_impossible(told)
        if not live and (told or answered.has_lost("legs")):
            raise refuse_unreadable("itinerary", [*answered.notes, *say_impossible(len(told))])
        kept = list_kept(live, query)
        found.add_live(kept)
        promised = list_kept(list_itineraries(answered.data.promised, query, self._ids), query)
        found.add_promised(itinerary for itinerary in promised if is_possible(itinerary))
        found.reasons += page.routing_errors
        found.troubles += answered.notes
        found.has_unmeasured_walk |= has_unmeasured_walk(page)
        found.walks_too_far |= len(kept) < len(live) or found.has_reason(WALKING_IS_BETTER)
        if found.retrieved_at is None:
            found.retrieved_at = answered.retrieved_at
        return page


def _may_lack_some(found: Found, query: JourneyQuery) -> bool:
    """Whether the next page may hold more of the window that was asked for; pages go on to later departures."""
    if query.window_s is None or query.arrive_by:
        return False
    return max(each.departure for each in found.live) <= query.instant + query.window_s
