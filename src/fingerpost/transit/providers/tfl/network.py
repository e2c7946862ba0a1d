"""London's network behind TfL's API."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model import Coordinate, Itinerary, Location, LocationSource, Place, PlaceMatch, ServiceAlert
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    NearbyStops,
    TextJourneyQuery,
)
from fingerpost.transit.profile import NetworkProfile
from fingerpost.transit.provenance import FeedVersion, Provenance, RealtimeHealth
from fingerpost.transit.providers.tfl.alerts import list_lift_alerts, list_stop_alerts
from fingerpost.transit.providers.tfl.departures import NOTE, NOTE_OF_REACH, REACH_S, list_departures
from fingerpost.transit.providers.tfl.disambiguation import new_unknown
from fingerpost.transit.providers.tfl.itineraries import ItineraryReader, draw_leg, is_placed
from fingerpost.transit.providers.tfl.journey_question import JourneyQuestion, choose_preference, print_position
from fingerpost.transit.providers.tfl.journeys import LIFTS, LIFTS_PATH, JourneysFound, TflJourneySearch
from fingerpost.transit.providers.tfl.learning import ABILITIES, new_known_profile
from fingerpost.transit.providers.tfl.place_names import StopPointNames
from fingerpost.transit.providers.tfl.server import STATUS_FRESH_S, TflAnswer, TflClient
from fingerpost.transit.providers.tfl.service import KIND, LANGUAGE
from fingerpost.transit.providers.tfl.shapes import LiftDisruption, Prediction, StopDisruption, TflLine
from fingerpost.transit.providers.tfl.stop_ids import NaptanIds, is_group
from fingerpost.transit.providers.tfl.stop_lookup import StopPointLookup
from fingerpost.transit.rules.first_rows import keep_first
from fingerpost.transit.rules.instants import print_instant
from fingerpost.transit.rules.trip_limits import list_kept

_T = TypeVar("_T")

STEP_FREE, STEP_FREE_TO_PLATFORM = "StepFreeToVehicle", "StepFreeToPlatform"
_SIDES = ("origin", "destination")
# TfL takes about this many ids at once.
_MOST_IDS = 20
_WALKING = "streets, as TfL knows them"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    """How lines, stops and lifts fare; ``notes`` say what could not be had."""

    lines: Sequence[TflLine] = ()
    stops: Sequence[StopDisruption] = ()
    lifts: Sequence[LiftDisruption] = ()
    notes: tuple[str, ...] = ()


class TflNetwork:
    """One network; see the port. It keeps nothing between calls, so threads may share it."""

    def __init__(
        self, record: NetworkRecord, learned: LearnedProfile | None, fetch: Fetch, limits: RequestLimits | None = None
    ) -> None:
        self._profile = replace(new_remote_profile(record, learned or new_known_profile(), ABILITIES), reads_texts=True)
        self._zone = ZoneInfo(self._profile.zone)
        self._feeds = (FeedVersion(name=self._profile.name),)
        self._ids = NaptanIds(self._profile.name)
        self._server = TflClient(fetch, record, limits)
        self._stops = StopPointLookup(self._server, self._ids)
        self._names = StopPointNames(self._server, self._ids)
        self._search = TflJourneySearch(self._server, ItineraryReader(self._ids, self._zone), self._zone)

    @property
    def profile(self) -> NetworkProfile:
        """What is known without asking; see the port."""
        return self._profile

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Plan at TfL; see the port. What it offers beyond the query's limits is left out."""
        found, kept = await self._find(query, shorter_walks=False)
        walks_too_far = any(each.walk_m > query.max_walk_m for each in found.itineraries)
        if walks_too_far and not any(each.rides for each in kept):
            again, shorter = await self._find(query, shorter_walks=True)
            kept = list(dict.fromkeys([*kept, *shorter]))
            found = replace(found, why_nothing=found.why_nothing or again.why_nothing)
        return self._answer(found, kept)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        """Plan between two texts as TfL reads them; see ``port.TextPlanner``."""
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
        """List the predicted arrivals of some stops that go on; see the port."""
        own_ids = await self._expand(self._ids.list_own(query.stop_ids))
        told = await _gather([self._list_predictions(own_id) for own_id in own_ids])
        predictions = [each for answer in told if answer is not None for each in answer.data]
        status = await self._find_status({each.line_id for each in predictions if each.line_id}, own_ids)
        first, last = query.instant, query.instant + query.window_s
        now = int(clock.now().timestamp())
        rows = list_departures(predictions, self._ids, self._zone, first=first, last=last, now=now, lines=status.lines)
        notes = [NOTE, *([NOTE_OF_REACH] if last > now + REACH_S else []), *status.notes]
        retrieved_at = min((answer.retrieved_at for answer in told if answer is not None), default=None)
        updated = min((row.last_realtime_update for row in rows if row.last_realtime_update is not None), default=None)
        return DepartureBoard(
            departures=keep_first(rows, query.wanted),
            found_count=len(rows),
            provenance=replace(self._provenance(retrieved_at, notes), realtime_updated=updated),
            alerts=_list_alerts(status, own_ids, now, first, last),
        )

    async def find_places(
        self,
        text: str,
        *,
        language: str | None = None,  # noqa: ARG002  # TfL speaks English
        focus: Coordinate | None = None,
    ) -> Sequence[PlaceMatch]:
        """Find stops by name; see the port."""
        return await self._names.find_places(text, focus)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Find a stop, a station or a hub by its id; see the port."""
        return await self._stops.find_place(stop_id, whole=False)

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Find the station or hub that an id belongs to; see the port."""
        return await self._stops.find_place(stop_id, whole=True)

    async def list_stops_near(
        self,
        coordinate: Coordinate,
        radius_m: float,
        *,
        language: str = "en",  # noqa: ARG002
    ) -> NearbyStops:
        """List the stops around a point; see the port."""
        near = await self._stops.list_near(coordinate, radius_m)
        return NearbyStops(stops=near.data, provenance=self._provenance(near.retrieved_at))

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return None: TfL says nothing of how its sources of real time fare."""
        return None

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
        if len(placed) < len(found.itineraries):
            lost = f"{len(found.itineraries) - len(placed)} journeys were left out: TfL did not say where they lead."
            found = replace(found, notes=(*found.notes, lost))
        kept = [
            each
            for each in list_kept(placed, query)
            if (each.arrival <= query.instant if query.arrive_by else each.departure >= query.instant)
        ]
        return found, kept

    def _answer(self, found: JourneysFound, kept: Sequence[Itinerary]) -> JourneyAnswer:
        return JourneyAnswer(
            itineraries=tuple(kept),
            provenance=self._provenance(found.retrieved_at, found.notes),
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

    async def _expand(self, own_ids: Sequence[str]) -> list[str]:
        """Return the stops at which something arrives: those of a hub or a group for its id."""
        members = await _gather(
            [self._stops.list_member_ids(each) if is_group(each) else _just(each) for each in own_ids]
        )
        return list(dict.fromkeys(own_id for each in members for own_id in each))

    async def _list_predictions(self, own_id: str) -> TflAnswer[tuple[Prediction, ...]] | None:
        return await self._server.find(tuple[Prediction, ...], "StopPoint", own_id, "Arrivals")

    async def _find_status(self, line_ids: set[str], own_ids: Sequence[str]) -> "_Status":
        """Return how a board's lines, stops and lifts fare; a board stands without, and says that it does."""
        try:
            return _Status(
                lines=await self._list_status(tuple[TflLine, ...], sorted(line_ids), "Line", "Status"),
                stops=await self._list_status(tuple[StopDisruption, ...], own_ids, "StopPoint", "Disruption"),
                lifts=(await self._server.ask(LIFTS, *LIFTS_PATH, fresh_s=STATUS_FRESH_S)).data,
            )
        except (StorageUnavailable, SourceChanged):
            return _Status(notes=("TfL did not say how its lines, stops and lifts fare.",))

    async def _list_status(self, shape: type[tuple[_T, ...]], ids: Sequence[str], what: str, word: str) -> Sequence[_T]:
        """Return what is said of lines or stops, by their ids; TfL says nothing of those it does not know."""
        if not ids:
            return ()
        told = await self._server.find(shape, what, ",".join(ids[:_MOST_IDS]), word, fresh_s=STATUS_FRESH_S)
        return () if told is None else told.data

    def _provenance(self, retrieved_at: datetime | None, notes: Sequence[str] = ()) -> Provenance:
        """Return where an answer comes from, and when it was retrieved."""
        instant = int((retrieved_at or clock.now()).timestamp())
        return Provenance(
            network=self._profile.name,
            source=KIND,
            zone=self._profile.zone,
            retrieved_at=instant,
            feeds=self._feeds,
            attribution=(*self._profile.attribution, f"TfL, retrieved {print_instant(instant, self._profile.zone)}"),
            language=LANGUAGE,
            notes=tuple(notes),
            walking=_WALKING,
        )


async def _gather(questions: Sequence[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Ask all at once, and raise the first failure only when all have ended."""
    outcomes = await asyncio.gather(*questions, return_exceptions=True)
    answers = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        answers.append(outcome)
    return answers


async def _just(own_id: str) -> list[str]:
    return [own_id]


def _list_alerts(status: _Status, own_ids: Sequence[str], now: int, first: int, last: int) -> tuple[ServiceAlert, ...]:
    """Return what is wrong with the stops of a board; TfL speaks of the lifts of now, so of no other day's board."""
    lifts = list_lift_alerts(status.lifts, own_ids) if first - REACH_S <= now <= last else ()
    return (*list_stop_alerts(status.stops, first, last), *lifts)
