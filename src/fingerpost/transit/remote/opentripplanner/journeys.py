"""Find the journeys of a query: page by page, and once more with shorter walks where too much walking was found.

The server knows no limit on walking (rule B6), so what walks too far is left out here, and another question, in which
walking is dear, looks for what walks less.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.opentripplanner.documents import PLAN
from fingerpost.transit.remote.opentripplanner.itineraries import has_unmeasured_walk, list_itineraries
from fingerpost.transit.remote.opentripplanner.journey_question import JourneyEnd, new_variables, without_promised
from fingerpost.transit.remote.opentripplanner.plan_data import PlanData
from fingerpost.transit.remote.opentripplanner.reasons import OUTSIDE_SERVICE_PERIOD, WALKING_IS_BETTER
from fingerpost.transit.remote.opentripplanner.server import Server, fail_on_null, refuse_unreadable
from fingerpost.transit.remote.opentripplanner.shapes import PlanConnection, RoutingError
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.rules.trip_limits import UNMEASURED, is_possible, list_kept, say_impossible

# A page may be empty while there are more; beyond this many we believe that there is nothing.
MOST_PAGES = 4


@dataclass(slots=True)
class Found:
    """What was found: itineraries by the live timetable, cancelled ones that it promised, and why there is no more."""

    live: list[Itinerary] = field(default_factory=list)
    promised: list[Itinerary] = field(default_factory=list)
    reasons: list[RoutingError] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    impossible: set[Itinerary] = field(default_factory=set)
    has_unmeasured_walk: bool = False
    retrieved_at: datetime | None = None
    walks_too_far: bool = False

    @property
    def notes(self) -> list[str]:
        """Sentences on what was left out, and what was guessed."""
        return [
            *self.troubles,
            *([UNMEASURED] if self.has_unmeasured_walk else []),
            *say_impossible(len(self.impossible)),
        ]

    def has_reason(self, code: str) -> bool:
        """Whether the server gave a reason."""
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
        """Return what was found within the query's limits.

        Raises:
            StorageUnavailable, SourceChanged: the server cannot be asked.
        """
        found = await self._find_once(query, origin, destination, language, shorter_walks=False)
        if found.walks_too_far and not any(each.rides for each in found.live):
            shorter = await self._find_once(query, origin, destination, language, shorter_walks=True)
            found.live = _distinct([*found.live, *shorter.live])
            found.promised = _distinct([*found.promised, *shorter.promised])
            found.troubles = list(dict.fromkeys([*found.troubles, *shorter.troubles]))
            found.impossible |= shorter.impossible
            found.has_unmeasured_walk |= shorter.has_unmeasured_walk
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
        """Ask for one page and add what it holds."""
        answered = await self._server.ask(PLAN, PlanData, variables, language=language)
        page = answered.data.live
        if page is None:
            raise fail_on_null("plan", answered.notes)
        told = list_itineraries(page, query, self._ids)
        live = [each for each in told if is_possible(each)]
        found.impossible.update(each for each in told if not is_possible(each))
        if not live and (told or answered.has_lost("legs")):
            raise refuse_unreadable("itinerary", [*answered.notes, *say_impossible(len(told))])
        kept = list_kept(live, query)
        found.live = _distinct([*found.live, *kept])
        promised = [
            each
            for each in list_kept(list_itineraries(answered.data.promised, query, self._ids), query)
            if is_possible(each)
        ]
        found.promised = _distinct([*found.promised, *promised])
        found.reasons += page.routing_errors
        found.troubles += [note for note in answered.notes if note not in found.troubles]
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


def _distinct(itineraries: Sequence[Itinerary]) -> list[Itinerary]:
    """Return itineraries once each; pages repeat some."""
    return list(dict.fromkeys(itineraries)) if len(itineraries) > 1 else list(itineraries)
