"""London's network behind TfL's API."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    TextJourneyQuery,
)
from fingerpost.transit.remote.kit.journeys import is_in_time
from fingerpost.transit.remote.kit.network import ServerKind, ServerNetwork, ServerSource
from fingerpost.transit.remote.tfl.boards import TflBoards
from fingerpost.transit.remote.tfl.itineraries import ItineraryReader, draw_leg, is_placed
from fingerpost.transit.remote.tfl.journeys import (
    JourneyQuestion,
    JourneysFound,
    TflJourneySearch,
    choose_preference,
    new_unknown,
    print_position,
)
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.shapes import OwnMode, read_mode
from fingerpost.transit.remote.tfl.stops import NaptanIds, StopPointLookup, StopPointNames
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, KIND, LANGUAGE, ZONE
from fingerpost.transit.rules.board_window import keep_first
from fingerpost.transit.rules.geocoder_matches import NAMED_WITHIN_M, NearName, find_position_name
from fingerpost.transit.rules.trip_limits import list_kept

ABILITIES = frozenset(Ability) - {Ability.FARES}
STEP_FREE, STEP_FREE_TO_PLATFORM = "StepFreeToVehicle", "StepFreeToPlatform"
_SIDES = ("origin", "destination")
_MINUTE_S = 60
# How often TfL is asked for one window of time; it offers three to five journeys at once.
_MOST_QUESTIONS = 4
_NOTE_OF_REST = "TfL did not tell all trips of the window that was asked for, because it offers only a few at once."


class TflNetwork(ServerNetwork):
    """London's network behind TfL's API. It keeps nothing between calls."""

    walking = "streets, as TfL knows them"

    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        learned = learned or new_known_profile()
        profile = replace(new_remote_profile(record, learned, ABILITIES), reads_texts=True, names_positions=True)
        zone = ZoneInfo(profile.zone)
        self._ids = NaptanIds(profile.name)
        server = TflClient(fetch, record, limits)
        self._own_stops = StopPointLookup(server, self._ids)
        super().__init__(profile, self._own_stops, record, learned)
        self._names = StopPointNames(server, self._ids)
        self._boards = TflBoards(server, self._own_stops, self._ids, zone)
        self._search = TflJourneySearch(server, ItineraryReader(self._ids, zone), zone)

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        found, kept = await self._find(query, shorter_walks=False)
        walks_too_far = any(each.walk_m > query.max_walk_m for each in found.itineraries)
        if walks_too_far and not any(each.rides for each in kept):
            again, shorter = await self._find(query, shorter_walks=True)
            kept = list(dict.fromkeys([*kept, *shorter]))
            found = replace(found.add_left_out(again), why_nothing=found.why_nothing or again.why_nothing)
        if query.window_s is not None and found.itineraries:
            found, rest = await self._find_rest(query, query.window_s, found)
            kept = list(dict.fromkeys([*kept, *rest]))
        return self._answer(found, kept)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        for text, side in zip((query.origin, query.destination), query.sides, strict=True):
            # Dots alone would lead to another address.
            if not any(map(str.isalnum, text)):
                raise new_unknown(text, side)
        question = JourneyQuestion(
            origin=self._read_text(query.origin),
            destination=self._read_text(query.destination),
            instant=query.instant,
            accessibility=STEP_FREE_TO_PLATFORM if query.step_free else None,
        )
        found = await self._search.find(question, query.sides)
        return self._answer(found, [each for each in found.itineraries if each.departure >= query.instant])

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        found = await self._boards.list_board(query)
        updates = [row.last_realtime_update for row in found.rows if row.last_realtime_update is not None]
        return DepartureBoard(
            departures=keep_first(found.rows, query.wanted),
            found_count=len(found.rows),
            provenance=replace(
                self._provenance(found.retrieved_at, LANGUAGE, found.notes), realtime_updated=min(updates, default=None)
            ),
            alerts=found.alerts,
            gap=found.gap,
        )

    async def find_places(
        self,
        text: str,
        *,
        language: str | None = None,  # noqa: ARG002  # TfL speaks English
        focus: Coordinate | None = None,
    ) -> Sequence[PlaceMatch]:
        return await self._names.find_places(text, focus)

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Name a position by its nearest stop, because TfL knows no addresses; see ``port.PositionNamer``."""
        stops = (await self._own_stops.list_near(coordinate, NAMED_WITHIN_M)).data
        near = [NearName(name=f"near {each.stop.name}", coordinate=each.stop.coordinate) for each in stops]
        return find_position_name(coordinate, near, self._profile.attribution)

    async def _find(self, query: JourneyQuery, *, shorter_walks: bool) -> tuple[JourneysFound, list[Itinerary]]:
        """Return what TfL found, and what of it keeps the query's limits."""
        question = JourneyQuestion(
            origin=self._print_end(query.origin),
            destination=self._print_end(query.destination),
            instant=query.instant,
            arrive_by=query.arrive_by,
            preference=choose_preference(query.optimize, shorter_walks=shorter_walks),
            accessibility=STEP_FREE if query.step_free else None,
        )
        found = await self._search.find(question, _SIDES, (query.origin, query.destination))
        placed = [each for each in found.itineraries if is_placed(each)]
        found = replace(found, unplaced=frozenset(found.itineraries) - frozenset(placed))
        return found, [each for each in list_kept(placed, query) if is_in_time(each, query)]

    async def _find_rest(
        self, query: JourneyQuery, window_s: int, found: JourneysFound
    ) -> tuple[JourneysFound, list[Itinerary]]:
        """Ask on from what was found until the whole window is known; return it with the later notes, and the rest.

        TfL knows no window: it offers a few journeys, and those behind them when it is asked from then on.
        """
        rest: list[Itinerary] = []
        offered = list(found.itineraries)
        for _ in range(_MOST_QUESTIONS - 1):
            if query.arrive_by:
                instant = min(each.arrival for each in offered) - _MINUTE_S
            else:
                instant = max(each.departure for each in offered) + _MINUTE_S
            if abs(instant - query.instant) > window_s:
                return found, rest
            try:
                more, kept = await self._find(replace(query, instant=instant), shorter_walks=False)
            except (StorageUnavailable, SourceChanged):
                break
            found = found.add_left_out(more)
            new = [each for each in more.itineraries if each not in offered]
            if not new:
                return found, rest
            rest += kept
            offered = new
        return replace(found, notes=(*found.notes, _NOTE_OF_REST)), rest

    def _answer(self, found: JourneysFound, kept: Sequence[Itinerary]) -> JourneyAnswer:
        return JourneyAnswer(
            itineraries=tuple(kept),
            provenance=self._provenance(
                found.retrieved_at, LANGUAGE, (*found.notes, *_say_unplaced(len(found.unplaced)))
            ),
            why_nothing=found.why_nothing,
            draw=draw_leg,
        )

    def _print_end(self, location: Location) -> str:
        """Return an end as TfL is asked for it: a stop where there is one only, else its position.

        A saved place may lie elsewhere than the stop that is saved with it.
        """
        own = self._ids.list_own(location.stop_ids)
        if len(own) == 1 and location.source is not LocationSource.USER_VARIABLE:
            return own[0]
        return print_position(location.coordinate)

    def _read_text(self, text: str) -> str:
        """Return a text as TfL reads it: an id of ours without our FEED."""
        return self._ids.find_own(text) or text.strip()

    def _choose_language(self, language: str | None) -> str | None:  # noqa: ARG002  # TfL speaks English
        return LANGUAGE

    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        return (f"TfL, retrieved {retrieved}",)


def _say_unplaced(number: int) -> list[str]:
    if not number:
        return []
    were, they_lead = ("journeys were", "they lead") if number > 1 else ("journey was", "it leads")
    return [f"{number} {were} left out: TfL did not say where {they_lead}."]


def new_known_profile() -> LearnedProfile:
    return LearnedProfile(
        bounds=BOUNDS, zone=ZONE, languages=(LANGUAGE,), attribution=ATTRIBUTION, learned_at=clock.now()
    )


async def learn_profile(server: TflClient, _: NetworkRecord) -> LearnedProfile:
    """Ask TfL for its modes, which also checks the key; the rest of its profile is known."""
    told = await server.ask(tuple[OwnMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(mode.mode_name) for mode in told.data if mode.is_scheduled_service)
    return replace(new_known_profile(), modes=modes)


TFL_API = ServerKind(name=KIND, new_server=TflClient, learn=learn_profile, open_network=TflNetwork)
TflSource = partial(ServerSource, TFL_API)
