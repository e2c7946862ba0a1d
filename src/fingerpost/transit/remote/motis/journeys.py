"""Find the journeys of a query: page by page, and once more with shorter walks where too much walking was found.

Beside the search with real time runs one on the timetable alone, whose answer tells what real time did to it, so that
what was promised stays visible (rule B5).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.motis.endpoints import MotisEndpoint
from fingerpost.transit.remote.motis.itineraries import read_itineraries
from fingerpost.transit.remote.motis.journey_question import PROMISED, MotisJourneyEnd, new_params
from fingerpost.transit.remote.motis.server import MotisServer
from fingerpost.transit.remote.motis.shapes import FareTransfer, MotisPlan
from fingerpost.transit.remote.motis.stop_ids import MotisStopIds
from fingerpost.transit.rules.trip_limits import UNMEASURED, is_possible, list_kept, say_impossible

# All of a page may walk too far; beyond this many we believe that there is nothing.
MOST_PAGES = 3


@dataclass(slots=True)
class FoundOnMotis:
    """What was found: itineraries by the live timetable, unusable ones that it promised, and what was left out."""

    live: list[Itinerary] = field(default_factory=list)
    promised: list[Itinerary] = field(default_factory=list)
    fares: dict[Itinerary, Sequence[FareTransfer]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    not_asked_for: int = 0
    impossible: set[Itinerary] = field(default_factory=set)
    has_unmeasured_walk: bool = False
    walks_too_far: bool = False
    retrieved_at: datetime | None = None
    zone: str | None = None

    @property
    def notes(self) -> list[str]:
        """Sentences on what was left out, and what was guessed."""
        notes = [*dict.fromkeys(self.troubles), *([UNMEASURED] if self.has_unmeasured_walk else [])]
        if self.not_asked_for:
            number = self.not_asked_for
            notes.append(
                f"{number} {'itineraries were' if number > 1 else 'itinerary was'} left out, because"
                f" {'they need' if number > 1 else 'it needs'} a car, a bicycle, a rented or a booked vehicle."
            )
        return notes + say_impossible(len(self.impossible))


class MotisJourneySearch:
    """Searches one server."""

    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        self._server = server
        self._ids = ids

    async def find(
        self, query: JourneyQuery, origin: MotisJourneyEnd, destination: MotisJourneyEnd, language: str | None
    ) -> FoundOnMotis:
        """Return what was found within the query's limits.

        Raises:
            UnknownThere: the server does not know a stop.
            OutsideCalendar: its timetable does not cover the day.
            StorageUnavailable, SourceChanged: it cannot be asked.
        """
        found = FoundOnMotis()
        params = new_params(query, origin, destination, self._server.api)
        await self._search(params, query, language, found)
        if found.walks_too_far and not any(each.rides for each in found.live):
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
            possible = [each for each in read.itineraries if is_possible(each)]
            found.impossible.update(each for each in read.itineraries if not is_possible(each))
            kept = [each for each in list_kept(possible, query) if _is_in_time(each, query)]
            found.live = list(dict.fromkeys([*found.live, *kept]))
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
        unusable = [each for each in list_kept(read.itineraries, query) if each.is_unusable and is_possible(each)]
        found.promised = list(dict.fromkeys([*found.promised, *unusable]))

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


def _is_in_time(itinerary: Itinerary, query: JourneyQuery) -> bool:
    """Whether an itinerary keeps the second that was asked for; the server knows minutes only."""
    if query.arrive_by:
        return itinerary.arrival <= query.instant
    return itinerary.departure >= query.instant
