"""A network behind one OpenTripPlanner server."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from fingerpost.errors import OutsideCalendar
from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery
from fingerpost.transit.remote.kit.journeys import find_end
from fingerpost.transit.remote.kit.network import ServerKind, ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.search import FoundJourneys, JourneyQuestion
from fingerpost.transit.remote.opentripplanner.departures import (
    MARGIN_S,
    MOST_ROWS,
    list_departures,
    list_stop_alerts,
)
from fingerpost.transit.remote.opentripplanner.digitransit import find_region
from fingerpost.transit.remote.opentripplanner.documents import BOARD
from fingerpost.transit.remote.opentripplanner.geocoding import Geocoder
from fingerpost.transit.remote.opentripplanner.itineraries import draw_leg, price
from fingerpost.transit.remote.opentripplanner.journeys import OpenTripPlannerSearch
from fingerpost.transit.remote.opentripplanner.learning import ABILITIES, learn_profile, read_lacking
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.remote.opentripplanner.shapes import BoardData
from fingerpost.transit.remote.opentripplanner.stops import OwnStopLookup, StopIdBook, StopNames
from fingerpost.transit.rules.board_window import EARLIEST_S, LATEST_S, keep_first

_PROMISED = "TimetablePreferencesInput.includeRealTimeCancellations"


class OpenTripPlannerNetwork(ServerNetwork):
    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        region = find_region(record.url)
        lacking = read_lacking({} if learned is None else learned.traits)
        profile = new_remote_profile(record, learned, ABILITIES)
        if region is not None:
            profile = replace(profile, answer_deadline_s=region.deadline_s, names_positions=True)
        self._is_digitransit = region is not None
        self._zone = ZoneInfo(profile.zone)
        self._server = Server(fetch, record, lacking, limits)
        feeds = learned.feeds if learned is not None and learned.feeds else (FeedVersion(name=record.name),)
        self._ids = StopIdBook(feed.name for feed in feeds)
        self._own_stops = OwnStopLookup(self._server, self._ids)
        super().__init__(profile, self._own_stops, record, learned)
        self._names: Geocoder | StopNames = (
            StopNames(self._server, self._ids)
            if region is None
            else Geocoder(fetch, record, self._own_stops, self._ids, profile.bounds, limits)
        )
        self._search = OpenTripPlannerSearch(
            self._server, self._ids, self._zone, with_promised=_PROMISED not in lacking
        )

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        language = self._choose_language(query.language)
        ends = [
            await find_end(end, self._ids.list_own, self._own_stops.find_known)
            for end in (query.origin, query.destination)
        ]
        found = await self._search.find(
            JourneyQuestion(query=query, origin=ends[0], destination=ends[1], language=language)
        )
        self._refuse_outside(found)
        return JourneyAnswer(
            itineraries=found.live,
            timetabled=found.promised,
            provenance=self._provenance(found.retrieved_at, query.language, found.notes),
            why_nothing=found.why_nothing,
            price=price if self._profile.can(Ability.FARES) else None,
            draw=draw_leg,
        )

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        wanted = list(dict.fromkeys(own_id for stop_id in query.stop_ids for own_id in self._ids.list_own(stop_id)))
        before_s, behind_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (MARGIN_S, MARGIN_S)
        variables = {
            "ids": wanted,
            "from": query.instant - before_s,
            "seconds": query.window_s + before_s + behind_s,
            "count": MOST_ROWS,
        }
        answered = await self._server.ask(BOARD, BoardData, variables, language=self._choose_language(query.language))
        times = [time for stop in answered.data.stops for time in stop.stoptimes_without_patterns]
        answered.require("departure", "stoptimesWithoutPatterns", found=times)
        first, last = query.instant, query.instant + query.window_s
        rows = list_departures(
            answered.data.stops, self._ids, self._zone, first=first, last=last, by_schedule=query.by_schedule
        )
        return DepartureBoard(
            departures=keep_first(rows, query.wanted, by_schedule=query.by_schedule),
            found_count=len(rows),
            provenance=self._provenance(answered.retrieved_at, query.language, answered.notes),
            alerts=list_stop_alerts(answered.data.stops, first=first, last=last),
        )

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        return await self._names.find_places(text, self._choose_language(language), focus)

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Ask Digitransit's geocoder what is at a position; see ``port.PositionNamer``. No other server has one."""
        if isinstance(self._names, StopNames):
            return None
        language = self._choose_language(language)
        return await self._names.find_address(coordinate, language, self._profile.attribution)

    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        # Digitransit's terms want the date and time of the retrieval beside its name.
        return (f"© Digitransit {retrieved[:4]}, retrieved {retrieved}",) if self._is_digitransit else ()

    def _refuse_outside(self, found: FoundJourneys) -> None:
        """Raise OutsideCalendar where the server's timetable does not cover the day."""
        if not found.is_outside_calendar or found.live or found.promised:
            return
        first, last = self._profile.first_day, self._profile.last_day
        days = {} if first is None or last is None else {"first_day": str(first), "last_day": str(last)}
        raise OutsideCalendar(
            f"The timetable of {self._profile.name} covers {first} to {last} only"
            if days
            else f"The timetable of {self._profile.name} does not cover that day",
            days,
        )


OPENTRIPPLANNER = ServerKind(
    name="opentripplanner",
    new_server=lambda fetch, record, limits: Server(fetch, record, limits=limits),
    learn=learn_profile,
    open_network=OpenTripPlannerNetwork,
    url_option="otp",
)
OpenTripPlannerSource = partial(ServerSource, OPENTRIPPLANNER)
