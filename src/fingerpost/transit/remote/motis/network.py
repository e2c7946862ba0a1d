"""A network behind one MOTIS server."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.journeys import JourneyEnd, find_end
from fingerpost.transit.remote.kit.network import ServerKind, ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.search import FoundJourneys, JourneyQuestion
from fingerpost.transit.remote.motis.departures import ask_board, list_departures
from fingerpost.transit.remote.motis.itineraries import draw_leg
from fingerpost.transit.remote.motis.journeys import MotisJourneySearch
from fingerpost.transit.remote.motis.learning import ABILITIES, learn_profile, read_api
from fingerpost.transit.remote.motis.places import MotisGeocoder, MotisStopIds, MotisStopLookup
from fingerpost.transit.remote.motis.server import NEWEST, MotisServer, UnknownThere
from fingerpost.transit.remote.motis.shapes import MotisStopTimes
from fingerpost.transit.remote.motis.transitous import is_transitous
from fingerpost.transit.rules.board_window import EARLIEST_S, LATEST_S, keep_first
from fingerpost.transit.rules.times import is_zone

_MOVED = "The server no longer knows a stop's id, so the trip was planned between positions."


class MotisNetwork(ServerNetwork):
    """A network behind one MOTIS server. Only ids of stops are kept between calls."""

    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        feeds = () if learned is None else learned.feeds
        profile = new_remote_profile(record, learned, ABILITIES)
        # Ids whose feed is not known begin with the network's name.
        profile = replace(profile, feed_names=profile.feed_names | {record.name}, names_positions=True)
        self._ids = MotisStopIds(record.name, (feed.name for feed in feeds))
        self._is_transitous = is_transitous(record.url)
        self._server = MotisServer(fetch, record, read_api(learned, NEWEST), limits)
        self._own_stops = MotisStopLookup(self._server, self._ids)
        super().__init__(profile, self._own_stops, record, learned)
        self._names = MotisGeocoder(self._server, self._own_stops, profile.bounds, limits)
        self._search = MotisJourneySearch(self._server, self._ids)

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        ends = await gather_all(
            find_end(end, self._ids.list_own, self._own_stops.find_known) for end in (query.origin, query.destination)
        )
        found = await self._find(query, ends)

        def draw(leg: Leg) -> LegLine:
            return draw_leg(leg, self._server.api)

        return JourneyAnswer(
            itineraries=found.live,
            timetabled=found.promised,
            provenance=self._provenance(found.retrieved_at, query.language, found.notes, zone=found.zone),
            price=found.fares.get,
            draw=draw,
        )

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        language = self._choose_language(query.language)
        first, last = query.instant, query.instant + query.window_s
        own_ids = list(dict.fromkeys(own for stop_id in query.stop_ids for own in self._ids.list_own(stop_id)))
        before_s, behind_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (0, 0)
        boards = await gather_all(self._ask_board(own, first - before_s, last + behind_s, language) for own in own_ids)
        pages = [(own, page) for own, board in zip(own_ids, boards, strict=True) for page in board]
        times = [(own, time) for own, page in pages for time in page.data.stop_times]
        zone = next((time.place.tz for _, time in times if is_zone(time.place.tz)), None) or self._profile.zone
        rows = list_departures(times, self._ids, ZoneInfo(zone), first=first, last=last, by_schedule=query.by_schedule)
        retrieved_at = min((page.retrieved_at for _, page in pages), default=None)
        notes = list(dict.fromkeys(note for _, page in pages for note in page.notes))
        return DepartureBoard(
            departures=keep_first(rows, query.wanted, by_schedule=query.by_schedule),
            found_count=len(rows),
            provenance=self._provenance(retrieved_at, query.language, notes, zone=zone),
        )

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        return await self._names.find_places(text, self._choose_language(language), focus)

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Ask the server's geocoder what is at a position, in the local language; see ``port.PositionNamer``."""
        return await self._names.find_address(coordinate, self._profile.attribution)

    async def _find(self, query: JourneyQuery, ends: Sequence[JourneyEnd]) -> FoundJourneys:
        """Search; where the server has renamed a stop since its id was told, between the positions instead."""
        origin, destination = ends
        question = JourneyQuestion(
            query=query, origin=origin, destination=destination, language=self._choose_language(query.language)
        )
        try:
            return await self._search.find(question)
        except UnknownThere:
            if origin.stop_id is None and destination.stop_id is None:
                raise
        here, there = (JourneyEnd(location=end.location) for end in ends)
        found = await self._search.find(replace(question, origin=here, destination=there))
        return found.with_trouble(_MOVED)

    async def _ask_board(
        self, own_id: str, first: int, last: int, language: str | None
    ) -> list[Answer[MotisStopTimes]]:
        try:
            return await ask_board(self._server, own_id, first, last, language)
        except UnknownThere:
            # One of the ways in which a printed id may have been spelt.
            return []

    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        return (f"Retrieved from Transitous {retrieved}",) if self._is_transitous else ()


MOTIS = ServerKind(
    name="motis",
    new_server=lambda fetch, record, limits: MotisServer(fetch, record, limits=limits),
    learn=learn_profile,
    open_network=MotisNetwork,
    url_option="motis",
)
MotisSource = partial(ServerSource, MOTIS)
