"""A network behind one OpenTripPlanner server."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureQuery, PriceItinerary
from fingerpost.transit.remote.kit.network import FoundBoard, ServerKind, ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.places import PlaceNames
from fingerpost.transit.remote.kit.search import FoundJourneys
from fingerpost.transit.remote.opentripplanner.departures import MARGIN_S, MOST_ROWS, list_rows
from fingerpost.transit.remote.opentripplanner.digitransit import find_region
from fingerpost.transit.remote.opentripplanner.documents import BOARD
from fingerpost.transit.remote.opentripplanner.geocoding import DigitransitGeocoder
from fingerpost.transit.remote.opentripplanner.itineraries import draw_leg, list_in_force, price
from fingerpost.transit.remote.opentripplanner.journeys import OpenTripPlannerSearch
from fingerpost.transit.remote.opentripplanner.learning import ABILITIES, learn_profile, read_lacking
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.remote.opentripplanner.shapes import BoardData
from fingerpost.transit.remote.opentripplanner.stops import OwnStopIds, OwnStopLookup, StopNames
from fingerpost.transit.rules.board_window import EARLIEST_S, LATEST_S

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
        self._server = Server(fetch, record, lacking, limits)
        feeds = learned.feeds if learned is not None and learned.feeds else (FeedVersion(name=record.name),)
        ids = OwnStopIds(feed.name for feed in feeds)
        stops = OwnStopLookup(self._server, ids)
        names: PlaceNames = StopNames(self._server, ids)
        if region is not None:
            names = DigitransitGeocoder(fetch, record, stops, ids, profile.bounds, limits)
        search = OpenTripPlannerSearch(self._server, ids, profile, with_promised=_PROMISED not in lacking)
        super().__init__(profile, record, learned, ids=ids, stops=stops, names=names, search=search)

    async def _find_board(self, query: DepartureQuery, language: str | None) -> FoundBoard:
        before_s, behind_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (MARGIN_S, MARGIN_S)
        variables = {
            "ids": self._ids.list_all_own(query.stop_ids),
            "from": query.instant - before_s,
            "seconds": query.window_s + before_s + behind_s,
            "count": MOST_ROWS,
        }
        answered = await self._server.ask(BOARD, BoardData, variables, language=language)
        stops = answered.data.stops
        times: Sequence[object] = [time for stop in stops for time in stop.stoptimes_without_patterns]
        answered.require("departure", "stops", "stoptimesWithoutPatterns", found=times)
        zone = ZoneInfo(self._profile.zone)
        alerts = (alert for stop in stops for alert in stop.alerts)
        return FoundBoard(
            rows=(row for stop in stops for row in list_rows(stop, self._ids, zone)),
            retrieved_at=answered.retrieved_at,
            notes=answered.notes,
            alerts=list_in_force(alerts, query.instant, query.instant + query.window_s),
        )

    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        # Digitransit's terms want the date and time of the retrieval beside its name.
        return (f"© Digitransit {retrieved[:4]}, retrieved {retrieved}",) if self._is_digitransit else ()

    def _draw(self, leg: Leg) -> LegLine:
        return draw_leg(leg)

    def _find_price(self, found: FoundJourneys) -> PriceItinerary | None:  # noqa: ARG002
        return price if self._profile.can(Ability.FARES) else None


OPENTRIPPLANNER = ServerKind(
    name="opentripplanner", learn=learn_profile, open_network=OpenTripPlannerNetwork, url_option="otp"
)
OpenTripPlannerSource = partial(ServerSource, OPENTRIPPLANNER)
