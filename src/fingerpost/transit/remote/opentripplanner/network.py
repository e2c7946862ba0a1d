"""A network behind one OpenTripPlanner server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import OutsideCalendar
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion, Provenance, RealtimeHealth
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, NearbyStops
from fingerpost.transit.remote.opentripplanner.departures import (
    MARGIN_S,
    MOST_ROWS,
    list_departures,
    list_stop_alerts,
)
from fingerpost.transit.remote.opentripplanner.documents import BOARD
from fingerpost.transit.remote.opentripplanner.fares import price
from fingerpost.transit.remote.opentripplanner.geocoding import Geocoder
from fingerpost.transit.remote.opentripplanner.itineraries import draw_leg
from fingerpost.transit.remote.opentripplanner.journey_question import JourneyEnd
from fingerpost.transit.remote.opentripplanner.journeys import Found, JourneySearch
from fingerpost.transit.remote.opentripplanner.learning import ABILITIES
from fingerpost.transit.remote.opentripplanner.place_names import StopNames
from fingerpost.transit.remote.opentripplanner.reasons import OUTSIDE_SERVICE_PERIOD, say_reasons
from fingerpost.transit.remote.opentripplanner.regions import find_region
from fingerpost.transit.remote.opentripplanner.schema import read_lacking
from fingerpost.transit.remote.opentripplanner.server import Server, refuse_unreadable
from fingerpost.transit.remote.opentripplanner.shapes import BoardData
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.remote.opentripplanner.stop_lookup import StopLookup
from fingerpost.transit.rules.board_window import EARLIEST_S, LATEST_S, keep_first
from fingerpost.transit.rules.language import DEFAULT, choose
from fingerpost.transit.rules.times import print_instant

SOURCE = "opentripplanner"
# A saved place and the stop saved with it are one place within this distance (rule D2).
SAME_PLACE_M = 300.0
_PROMISED = "TimetablePreferencesInput.includeRealTimeCancellations"
_WALKING = "streets, as the server knows them"


class OpenTripPlannerNetwork:
    """One network; see the port. Only names of stops are kept between calls, so threads may share it."""

    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        self._region = find_region(record.url)
        lacking = read_lacking({} if learned is None else learned.traits)
        self._profile = _new_profile(record, learned)
        self._zone = ZoneInfo(self._profile.zone)
        self._languages = record.languages or (() if learned is None else learned.languages)
        feeds = learned.feeds if learned is not None and learned.feeds else (FeedVersion(name=record.name),)
        self._feeds = tuple(replace(feed, name=feed.name.upper()) for feed in feeds)
        self._ids = StopIdBook(feed.name for feed in feeds)
        self._server = Server(fetch, record, lacking, limits)
        self._stops = StopLookup(self._server, self._ids)
        self._names: Geocoder | StopNames = (
            StopNames(self._server, self._ids)
            if self._region is None
            else Geocoder(fetch, record, self._stops, self._ids, self._profile.bounds, limits)
        )
        self._search = JourneySearch(self._server, self._ids, self._zone, with_promised=_PROMISED not in lacking)

    @property
    def profile(self) -> NetworkProfile:
        """What is known without asking; see the port."""
        return self._profile

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Plan on the server; see the port."""
        language = self._choose_language(query.language)
        origin, destination = [await self._find_end(end) for end in (query.origin, query.destination)]
        found = await self._search.find(query, origin, destination, language)
        if query.step_free and not any(each.rides for each in found.live):
            # Better a way with a step, which the answer names, than none.
            found = await self._search.find(replace(query, step_free=False), origin, destination, language)
        self._refuse_outside(found)
        return JourneyAnswer(
            itineraries=tuple(found.live),
            timetabled=tuple(found.promised),
            provenance=self._provenance(found.retrieved_at, query.language, found.notes),
            why_nothing=say_reasons(found.reasons),
            price=price if self._profile.can(Ability.FARES) else None,
            draw=draw_leg,
        )

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """List the departures of some stops; see the port."""
        wanted = list(dict.fromkeys(own_id for stop_id in query.stop_ids for own_id in self._ids.list_own(stop_id)))
        before_s, behind_s = (EARLIEST_S, LATEST_S) if query.by_schedule else (MARGIN_S, MARGIN_S)
        variables = {
            "ids": wanted,
            "from": query.instant - before_s,
            "seconds": query.window_s + before_s + behind_s,
            "count": MOST_ROWS,
        }
        answered = await self._server.ask(BOARD, BoardData, variables, language=self._choose_language(query.language))
        if answered.has_lost("stoptimesWithoutPatterns") and not any(
            stop.stoptimes_without_patterns for stop in answered.data.stops
        ):
            raise refuse_unreadable("departure", answered.notes)
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
        """Find places by name: Digitransit's geocoder, else an index of the server's stops; see the port."""
        return await self._names.find_places(text, self._choose_language(language), focus)

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Ask Digitransit's geocoder what is at a position; see ``port.PositionNamer``. No other server has one."""
        if isinstance(self._names, StopNames):
            return None
        language = self._choose_language(language)
        return await self._names.find_address(coordinate, language, self._profile.attribution)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop or a station by its id; see the port."""
        return await self._stops.find_stop(stop_id, self._choose_language(language))

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find the whole place that an id stands for; see the port."""
        return await self._stops.find_stop_place(stop_id, self._choose_language(language))

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """List the stops around a point; see the port."""
        near = await self._stops.list_near(coordinate, radius_m, self._choose_language(language))
        return NearbyStops(stops=near.data, provenance=self._provenance(near.retrieved_at, language, near.notes))

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return None: the server follows real time, and says nothing of how its sources fare."""
        return None

    def _choose_language(self, language: str | None) -> str | None:
        """Return the language to ask names in; None leaves it to the server."""
        chosen = choose(language, self._languages)
        return None if chosen == DEFAULT else chosen

    def _provenance(self, retrieved_at: datetime | None, language: str, notes: Sequence[str]) -> Provenance:
        """Return where an answer comes from, and when it was retrieved."""
        instant = int((retrieved_at or clock.now()).timestamp())
        attribution = self._profile.attribution
        if self._region is not None:
            # Digitransit's terms want the date and time of the retrieval beside its name.
            when = print_instant(instant, self._profile.zone)
            attribution = (*attribution, f"© Digitransit {when[:4]}, retrieved {when}")
        return Provenance(
            network=self._profile.name,
            source=SOURCE,
            zone=self._profile.zone,
            retrieved_at=instant,
            feeds=self._feeds,
            attribution=attribution,
            language=self._choose_language(language) or DEFAULT,
            notes=tuple(notes),
            walking=_WALKING,
            first_day=self._profile.first_day,
            last_day=self._profile.last_day,
        )

    async def _find_end(self, location: Location) -> JourneyEnd:
        """Return an end as the server can be asked for it.

        Of several stops it is the station that they share, else the nearest one (rule D2).
        """
        if not location.stop_ids:
            return JourneyEnd(location=location)
        may_be_elsewhere = location.source is LocationSource.USER_VARIABLE
        if len(location.stop_ids) == 1 and not may_be_elsewhere:
            own = self._ids.list_own(location.stop_ids[0])
            if len(own) == 1:
                return JourneyEnd(location=location, stop_id=own[0])
        stops = (await self._stops.find(location.stop_ids)).stops
        if may_be_elsewhere:
            here = location.coordinate
            stops = tuple(stop for stop in stops if distance_m(here, Coordinate(stop.lat, stop.lon)) <= SAME_PLACE_M)
        if not stops:
            return JourneyEnd(location=location)
        stations = {None if stop.parent_station is None else stop.parent_station.gtfs_id for stop in stops}
        shared = stations.pop() if len(stations) == 1 and len(stops) > 1 else None
        nearest = min(stops, key=lambda stop: distance_m(location.coordinate, Coordinate(stop.lat, stop.lon)))
        return JourneyEnd(location=location, stop_id=shared or nearest.gtfs_id)

    def _refuse_outside(self, found: Found) -> None:
        """Raise OutsideCalendar where the server's timetable does not cover the day."""
        if not found.has_reason(OUTSIDE_SERVICE_PERIOD) or found.live or found.promised:
            return
        first, last = self._profile.first_day, self._profile.last_day
        days = {} if first is None or last is None else {"first_day": str(first), "last_day": str(last)}
        raise OutsideCalendar(
            f"The timetable of {self._profile.name} covers {first} to {last} only"
            if days
            else f"The timetable of {self._profile.name} does not cover that day",
            days,
        )


def _new_profile(record: NetworkRecord, learned: LearnedProfile | None) -> NetworkProfile:
    profile = new_remote_profile(record, learned, ABILITIES)
    region = find_region(record.url)
    if region is None:
        return profile
    return replace(profile, answer_deadline_s=region.deadline_s, names_positions=True)
