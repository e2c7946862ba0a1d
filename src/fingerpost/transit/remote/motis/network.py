"""A network behind one MOTIS server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from zoneinfo import ZoneInfo

from fingerpost.errors import OutsideCalendar
from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.port import DepartureQuery, PriceItinerary
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.network import FoundBoard, ServerKind, ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.search import FoundJourneys
from fingerpost.transit.remote.motis.departures import ask_board, list_rows
from fingerpost.transit.remote.motis.itineraries import draw_leg
from fingerpost.transit.remote.motis.journeys import MotisJourneySearch
from fingerpost.transit.remote.motis.learning import ABILITIES, learn_profile, read_api
from fingerpost.transit.remote.motis.places import MotisGeocoder, MotisStopIds, MotisStopLookup
from fingerpost.transit.remote.motis.server import NEWEST, MotisServer, UnknownThere
from fingerpost.transit.remote.motis.shapes import MotisStopTimes
from fingerpost.transit.remote.motis.transitous import is_transitous
from fingerpost.transit.rules.board_window import EARLIEST_S, LATEST_S
from fingerpost.transit.rules.times import is_zone


class MotisNetwork(ServerNetwork):
    """A network behind one MOTIS server. Only ids of stops are stored between calls."""

    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        feeds = () if learned is None else learned.feeds
        profile = new_remote_profile(record, learned, ABILITIES)
        # Ids whose feed is not known begin with the network's name.
        profile = replace(profile, feed_names=profile.feed_names | {record.name}, names_positions=True)
        self._is_transitous = is_transitous(record.url)
        ids = MotisStopIds(record.name, (feed.name for feed in feeds))
        self._server = MotisServer(fetch, record, read_api(learned, NEWEST), limits)
        stops = MotisStopLookup(self._server, ids)
        names = MotisGeocoder(self._server, stops, profile.bounds)
        search = MotisJourneySearch(self._server, ids)
        super().__init__(profile, record, learned, ids=ids, stops=stops, names=names, search=search)

    async def _find_board(self, query: DepartureQuery, language: str | None) -> FoundBoard:
        try:
            boards = await self._ask_boards(query, language)
        except OutsideCalendar as error:
            days = [error.details.get(name) for name in ("first_day", "last_day")]
            first, last = (None if day is None else date.fromisoformat(day) for day in days)
            return FoundBoard(notes=[f"{error.message}."], days=(first, last))
        pages = [(own_id, page) for own_id, board in boards.items() for page in board]
        times = [(own_id, time) for own_id, page in pages for time in page.data.stop_times]
        zone = next((time.place.tz for _, time in times if is_zone(time.place.tz)), None) or self._profile.zone
        return FoundBoard(
            rows=list_rows(times, self._ids, ZoneInfo(zone)),
            retrieved_at=min((page.retrieved_at for _, page in pages), default=None),
            notes=list(dict.fromkeys(note for _, page in pages for note in page.notes)),
            zone=zone,
        )

    async def _ask_boards(
        self, query: DepartureQuery, language: str | None
    ) -> dict[str, Sequence[Answer[MotisStopTimes]]]:
        """Return the pages of each board, by the server's id of the stop.

        Raises:
            OutsideCalendar: the timetable does not cover the window.
        """
        before_s, behind_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (0, 0)
        first, last = query.instant - before_s, query.instant + query.window_s + behind_s

        async def ask(own_id: str) -> Sequence[Answer[MotisStopTimes]]:
            try:
                return await ask_board(self._server, own_id, first, last, language)
            except UnknownThere:
                # One of the ways in which a printed id may have been spelt.
                return []

        own_ids = self._ids.list_all_own(query.stop_ids)
        return dict(zip(own_ids, await gather_all(map(ask, own_ids)), strict=True))

    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        return (f"Retrieved from Transitous {retrieved}",) if self._is_transitous else ()

    def _draw(self, leg: Leg) -> LegLine:
        return draw_leg(leg, self._server.api)

    def _find_price(self, found: FoundJourneys) -> PriceItinerary | None:
        return found.fares.get


MOTIS = ServerKind(name="motis", learn=learn_profile, open_network=MotisNetwork, url_option="motis")
MotisSource = partial(ServerSource, MOTIS)
