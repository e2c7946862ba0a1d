"""Find the journeys of a query: page by page, and once more with shorter walks where too much walking was found.

Beside the search with real time runs one on the timetable alone, whose answer tells what real time did to it, so that
what was promised stays visible (rule B5).
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.journeys import PAGE_SIZE, FoundJourneys, JourneyEnd, is_in_time
from fingerpost.transit.remote.motis.itineraries import read_itineraries
from fingerpost.transit.remote.motis.places import MotisStopIds
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer
from fingerpost.transit.remote.motis.shapes import FareTransfer, MotisPlan
from fingerpost.transit.rules.times import print_utc
from fingerpost.transit.rules.trip_limits import is_possible, list_kept

# No rider walks slower than this, so that no walk within the limit takes longer than the server is asked to allow.
_SLOWEST_M_PER_S, _SLOWEST_WHEELCHAIR_M_PER_S = 1.0, 0.75
_MINUTE_S = 60
# The server refuses a window of four days or more.
_LONGEST_WINDOW_S = 95 * 3600
PROMISED = "REALTIME_ANNOTATION_ONLY"
"""The search on the timetable whose answer tells what real time did to it."""


def print_end(end: JourneyEnd) -> str:
    here = end.location.coordinate
    return end.stop_id or f"{here.lat:.7f},{here.lon:.7f}"


def new_params(
    query: JourneyQuery, origin: JourneyEnd, destination: JourneyEnd, api: int, *, shorter_walks: bool = False
) -> dict[str, str]:
    """Return the parameters of a plan.

    ``shorter_walks`` halves what may be walked at either end, and leaves out the way that only walks.
    """
    # The server counts minutes: it must not offer what leaves within the minute before, or arrives after.
    minute = query.instant // _MINUTE_S if query.arrive_by else -(-query.instant // _MINUTE_S)
    pace = _SLOWEST_WHEELCHAIR_M_PER_S if query.step_free else _SLOWEST_M_PER_S
    walk_s = math.ceil(query.max_walk_m / pace / (2 if shorter_walks else 1))
    params = {
        "fromPlace": print_end(origin),
        "toPlace": print_end(destination),
        "time": print_utc(minute * _MINUTE_S),
        "arriveBy": "true" if query.arrive_by else "false",
        "numItineraries": str(max(PAGE_SIZE, query.wanted + 1)),
        # Until version 3 of the API this counted rides.
        "maxTransfers": str(query.max_transfers + (1 if api < 3 else 0)),
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
        params["searchWindow"] = str(min(-(-query.window_s // _MINUTE_S) * _MINUTE_S, _LONGEST_WINDOW_S))
    if query.step_free:
        params |= {"pedestrianProfile": "WHEELCHAIR", "useRoutedTransfers": "true"}
    return params


# All of a page may walk too far; beyond this many we believe that there is nothing.
MOST_PAGES = 3


@dataclass(slots=True)
class FoundOnMotis(FoundJourneys):
    """What was found, the fares, how many itineraries need another vehicle, and the time zone of the places."""

    fares: dict[Itinerary, Sequence[FareTransfer]] = field(default_factory=dict)
    not_asked_for: int = 0
    zone: str | None = None

    def list_left_out(self) -> list[str]:
        number = self.not_asked_for
        if not number:
            return []
        were, they_need = ("itineraries were", "they need") if number > 1 else ("itinerary was", "it needs")
        return [f"{number} {were} left out, because {they_need} a car, a bicycle, a rented or a booked vehicle."]


class MotisJourneySearch:
    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        self._server = server
        self._ids = ids

    async def find(
        self, query: JourneyQuery, origin: JourneyEnd, destination: JourneyEnd, language: str | None
    ) -> FoundOnMotis:
        """Return what was found within the query's limits.

        Raises:
            UnknownThere: the server does not know a stop.
            OutsideCalendar: its timetable does not cover the day.
        """
        found = FoundOnMotis()
        params = new_params(query, origin, destination, self._server.api)
        await self._search(params, query, language, found)
        if found.walks_too_far and not found.has_rides:
            shorter = new_params(query, origin, destination, self._server.api, shorter_walks=True)
            await self._search(shorter, query, language, found)
        return found

    async def _search(
        self, params: Mapping[str, str], query: JourneyQuery, language: str | None, found: FoundOnMotis
    ) -> None:
        if self._server.api < 6:
            # Before version 6 of the API nobody can ask for what real time took away.
            await self._page_through(params, query, language, found)
            return
        promised = asyncio.create_task(
            self._add_promised({**params, "realtimeMode": PROMISED}, query, language, found), name="promised trips"
        )
        try:
            await self._page_through(params, query, language, found)
            await promised
        finally:
            await _stop(promised)

    async def _page_through(
        self, params: Mapping[str, str], query: JourneyQuery, language: str | None, found: FoundOnMotis
    ) -> None:
        asked, seen = dict(params), set[str]()
        for _ in range(MOST_PAGES):
            page = await self._ask(asked, language, found)
            read = read_itineraries((*page.direct, *page.itineraries), query, self._ids)
            possible = found.drop_impossible(read.itineraries)
            kept = [each for each in list_kept(possible, query) if is_in_time(each, query)]
            found.add_live(kept)
            found.fares |= read.fares
            found.not_asked_for += read.not_asked_for
            found.has_unmeasured_walk |= read.has_unmeasured_walk
            found.walks_too_far |= any(each.walk_m > query.max_walk_m for each in possible)
            cursor = page.previous_page_cursor if query.arrive_by else page.next_page_cursor
            # A cursor that was followed before leads nowhere, and behind an empty page there is nothing.
            if any(each.rides for each in kept) or not page.itineraries or not cursor or cursor in seen:
                break
            seen.add(cursor)
            asked = {**params, "pageCursor": cursor}

    async def _add_promised(
        self, params: Mapping[str, str], query: JourneyQuery, language: str | None, found: FoundOnMotis
    ) -> None:
        try:
            page = await self._ask(params, language, found)
        except ToolError as error:
            # The trips that can be made are worth more than what cannot.
            found.troubles.append(f"What real time took away is not known ({error.message}).")
            return
        read = read_itineraries(page.itineraries, query, self._ids, walks_as_expected=False)
        found.fares |= read.fares
        kept = list_kept(read.itineraries, query)
        found.add_promised(each for each in kept if each.is_unusable and is_possible(each))

    async def _ask(self, params: Mapping[str, str], language: str | None, found: FoundOnMotis) -> MotisPlan:
        answered = await self._server.ask(MotisEndpoint.PLAN, MotisPlan, params, language=language)
        if found.retrieved_at is None or answered.retrieved_at < found.retrieved_at:
            found.retrieved_at = answered.retrieved_at
        found.troubles += answered.notes
        if found.zone is None:
            legs = [leg for each in answered.data.itineraries for leg in each.legs]
            found.zone = next((leg.from_.tz for leg in legs if leg.from_.tz), None)
        return answered.data


async def _stop(task: asyncio.Task[None]) -> None:
    """End a task, and wait until it has ended; what it raised was seen, or is not of interest any more."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
