"""London's network behind TfL's API."""

from dataclasses import replace
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.net.request import Fetch
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import DepartureQuery, JourneyAnswer, TextJourneyQuery
from fingerpost.transit.remote.kit.network import FoundBoard, ServerNetwork, ServerSource
from fingerpost.transit.remote.tfl.boards import TflBoards
from fingerpost.transit.remote.tfl.itineraries import TflRequest
from fingerpost.transit.remote.tfl.journeys import STEP_FREE_TO_PLATFORM, TflJourneySearch, new_unknown
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.shapes import TflMode, read_mode
from fingerpost.transit.remote.tfl.stops import NaptanIds, StopPointLookup, StopPointNames
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, KIND, LANGUAGE, ZONE

ABILITIES = frozenset(Ability) - {Ability.FARES}


class TflNetwork(ServerNetwork):
    walking = "streets, as TfL knows them"
    credit = "TfL, retrieved {retrieved}"

    def __init__(self, record: NetworkRecord, learned: LearnedProfile, fetch: Fetch) -> None:
        profile = replace(new_remote_profile(record, learned, ABILITIES), reads_texts=True)
        zone = ZoneInfo(profile.zone)
        ids = NaptanIds(profile.name)
        server = TflClient(fetch, record)
        stops = StopPointLookup(server, ids)
        self._boards = TflBoards(server, stops, ids, zone)
        search = self._journeys = TflJourneySearch(server, ids, zone)
        names = StopPointNames(server, stops, ids)
        super().__init__(profile, record, learned, ids=ids, stops=stops, names=names, search=search)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        for text, side in zip((query.origin, query.destination), query.sides, strict=True):
            # Dots alone would lead to another address.
            if not any(map(str.isalnum, text)):
                raise new_unknown(text, side)
        request = TflRequest(
            origin=self._read_text(query.origin),
            destination=self._read_text(query.destination),
            instant=query.instant,
            accessibility=STEP_FREE_TO_PLATFORM if query.step_free else None,
            sides=query.sides,
        )
        found = await self._journeys.ask(request)
        in_time = tuple(itinerary for itinerary in found.live if itinerary.departure >= query.instant)
        return self._answer(replace(found, live=in_time), query.language)

    async def _find_board(self, query: DepartureQuery, language: str | None) -> FoundBoard:  # noqa: ARG002
        return await self._boards.find_board(query)

    def _read_text(self, text: str) -> str:
        """Return a text as TfL reads it: an id of ours without our FEED."""
        return next(iter(self._ids.decode(text)), text.strip())

    def _choose_language(self, language: str | None) -> str | None:  # noqa: ARG002  # TfL speaks English
        return LANGUAGE


def new_known_profile() -> LearnedProfile:
    return LearnedProfile(
        bounds=BOUNDS, zone=ZONE, languages=(LANGUAGE,), attribution=ATTRIBUTION, learned_at=clock.now()
    )


async def learn_profile(fetch: Fetch, record: NetworkRecord) -> LearnedProfile:
    """Ask TfL for its modes, which also checks the key; the rest of its profile is known."""
    answer = await TflClient(fetch, record).ask(tuple[TflMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(mode.mode_name) for mode in answer.data if mode.is_scheduled_service)
    return replace(new_known_profile(), modes=modes)


class TflSource(ServerSource):
    kind = KIND
    learn_profile = staticmethod(learn_profile)
    open_network = staticmethod(TflNetwork)
    new_profile = staticmethod(new_known_profile)
