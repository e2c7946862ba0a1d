"""One network answered by the embedded engine: the ports, over a timetable."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model import (
    Bounds,
    Coordinate,
    Fare,
    Itinerary,
    Leg,
    LegLine,
    Location,
    LocationSource,
    Mode,
    NearbyStop,
    Place,
    PlaceMatch,
    Provenance,
    RealtimeHealth,
)
from fingerpost.transit.port import BoardAnswer, BoardQuestion, JourneyAnswer, JourneyQuestion
from fingerpost.transit.providers.embedded.departures import departure_of, is_call_off
from fingerpost.transit.providers.embedded.fares import NetworkFares
from fingerpost.transit.providers.embedded.itineraries import itinerary_of
from fingerpost.transit.providers.embedded.leg_lines import draw_leg
from fingerpost.transit.providers.embedded.snapshot import Snapshot
from fingerpost.transit.providers.embedded.timetable_words import TimetableWords
from fingerpost.transit.raptor.board import BoardDeparture, list_board_departures
from fingerpost.transit.raptor.endpoints import Endpoint, find_endpoint
from fingerpost.transit.raptor.journeys import Journey
from fingerpost.transit.raptor.search import SearchQuery, find_journeys
from fingerpost.transit.raptor.search_timetable.cache import SearchTimetables
from fingerpost.transit.rules.disruption import is_disrupted
from fingerpost.transit.rules.language import choose
from fingerpost.transit.rules.modes import mode_of
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex
from fingerpost.transit.timetable.overlay import Overlay
from fingerpost.transit.timetable.service_days import find_covered_days, local_day
from fingerpost.transit.timetable.timetable import STATION, STOP, WHEELCHAIR_UNKNOWN, Timetable
from fingerpost.transit.timetable.walking import DETOUR_FACTOR, FOOTPATH_RADIUS_M, straight_line_m

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.network_realtime import NetworkRealtime

# A network's box reaches this far beyond its outermost stops: as far as anyone may ask to walk.
MARGIN_M = 3000.0
# A saved place and the stop saved with it are one place within this distance.
SAME_PLACE_M = 300.0
_WALKING = f"straight line x {DETOUR_FACTOR:g}; changes between stops up to {FOOTPATH_RADIUS_M:g} m apart"


class EmbeddedNetwork:
    """A network over one timetable, which never changes, and what real time says of it. Safe to share by threads."""

    def __init__(self, name: str, timetable: Timetable, *, is_demo: bool, notes: Sequence[str] = ()) -> None:
        self.name = name
        self.is_demo = is_demo
        self._timetable = timetable
        self._notes = tuple(notes)
        self._snapshot = Snapshot(timetable, Overlay(), SearchTimetables(timetable))
        self._realtime: NetworkRealtime | None = None
        self._words = TimetableWords(timetable)
        self._covered = find_covered_days(timetable)
        self._fares = NetworkFares(timetable, name)

    @property
    def zone(self) -> str:
        """The zone of the network's first feed."""
        return self._timetable.feeds[0].zone

    @cached_property
    def bounds(self) -> Bounds:
        """The box around all boardable stops, and a walk beyond."""
        served = self._timetable.stop_kind == STOP
        lats, lons = self._timetable.stop_lat[served], self._timetable.stop_lon[served]
        dy = MARGIN_M / METRES_PER_DEGREE
        dx = dy / max(0.01, float(np.cos(np.radians(np.abs(lats).max()))))
        return Bounds(
            south=float(lats.min()) - dy,
            north=float(lats.max()) + dy,
            west=float(lons.min()) - dx,
            east=float(lons.max()) + dx,
        )

    @cached_property
    def modes(self) -> frozenset[Mode]:
        """The modes of all routes that have trips."""
        routes = np.unique(self._timetable.trip_route)
        return frozenset(mode_of(int(kind)) for kind in self._timetable.route_type[routes])

    def describe(self, language: str) -> Provenance:
        """Return what every answer from here says of itself."""
        first, last = self._covered or (None, None)
        return Provenance(
            network=self.name,
            source="embedded",
            zone=self.zone,
            attribution=self._attribution,
            language=self._choose(language),
            demo=self.is_demo,
            notes=self._notes,
            walking=_WALKING,
            first_day=first,
            last_day=last,
            realtime_updated=self.overlay.timestamp if self._realtime is None else self._realtime.now().updated,
            realtime_problems=() if self._realtime is None else self._realtime.now().problems,
        )

    @cached_property
    def _attribution(self) -> tuple[str, ...]:
        lines = (feed.licences or (feed.publisher or ", ".join(feed.agencies),) for feed in self._timetable.feeds)
        return tuple(dict.fromkeys(line for of_feed in lines for line in of_feed if line))

    @cached_property
    def _languages(self) -> frozenset[str]:
        table = self._timetable
        spoken = {feed.language for feed in table.feeds if feed.language}
        return frozenset(spoken | {*table.stop_names, *table.headsign_names, *table.route_names})

    def _choose(self, language: str) -> str:
        return choose(language, self._languages)

    # ----------------------------------------------------------------------------------------- realtime

    @property
    def timetable(self) -> Timetable:
        """What is planned."""
        return self._timetable

    @property
    def realtime(self) -> "NetworkRealtime | None":
        """What the network follows, None where it has no sources."""
        return self._realtime

    def follow(self, realtime: "NetworkRealtime | None") -> None:
        """Follow other sources from now on; None leaves the timetable alone."""
        if self._realtime is not None:
            self._realtime.leave()
        self._realtime = realtime
        if realtime is None:
            self._snapshot = Snapshot(self._timetable, Overlay(), self._snapshot.planned)

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return how the sources fare now; see the port."""
        if self._realtime is None:
            return None
        await self._realtime.catch_up()
        return self._realtime.health()

    @property
    def overlay(self) -> Overlay:
        """What real time says at this moment."""
        return self._snapshot.overlay

    def publish(self, overlay: Overlay, day: date) -> None:
        """Replace what real time says; questions that are under way keep what they began with.

        The slice that questions of ``day`` need is built before the swap, so that none of them waits for it.
        """
        snapshot = Snapshot(self._timetable, overlay, self._snapshot.planned)
        snapshot.live.get_search_timetable(day, mirrored=False, step_free=False)
        self._snapshot = snapshot

    # ---------------------------------------------------------------------------------------- journeys

    async def plan_journeys(self, question: JourneyQuestion) -> JourneyAnswer:
        """Plan on the timetable and on what really runs; see the port."""
        if self._realtime is not None:
            await self._realtime.catch_up()
        if self._is_light(question):
            return self._plan(question)
        return await asyncio.to_thread(self._plan, question)

    def _is_light(self, question: JourneyQuestion) -> bool:
        """Whether the search takes no longer than handing it to a thread would."""
        day, snapshot = local_day(question.instant, self.zone), self._snapshot
        return snapshot.live is snapshot.planned and snapshot.live.is_light(
            day, mirrored=question.arrive_by, step_free=question.step_free and self._has_wheelchair_data
        )

    def _plan(self, question: JourneyQuestion) -> JourneyAnswer:
        day = local_day(question.instant, self.zone)
        if self._covered and day < self._covered[0]:
            raise self._outside()
        snapshot = self._snapshot
        origin, destination = (self._end(end, question.max_walk_m) for end in (question.origin, question.destination))
        supported = self._has_wheelchair_data
        wish = SearchQuery(
            origin=origin,
            destination=destination,
            instant=question.instant,
            arrive_by=question.arrive_by,
            max_rides=question.max_transfers + 1,
            max_walk_m=int(question.max_walk_m),
            step_free=question.step_free and supported,
            wanted=question.wanted,
        )
        journeys = self._find(snapshot.live, wish)
        if self._covered and day > self._covered[1] and not self._is_spill(journeys, day, question.arrive_by):
            raise self._outside()
        words = self._words.in_language(self._choose(question.language))

        def shown(found: list[Journey]) -> tuple[Itinerary, ...]:
            return tuple(
                itinerary_of(snapshot, words, question.language, journey, question.origin, question.destination)
                for journey in found
            )

        promised = () if snapshot.live is snapshot.planned else shown(self._find(snapshot.planned, wish))
        return JourneyAnswer(
            itineraries=shown(journeys),
            timetabled=tuple(filter(is_disrupted, promised)),
            step_free_supported=supported,
        )

    def draw_leg(self, leg: Leg) -> LegLine:
        """Draw a leg after its trip's shape; see the port."""
        return draw_leg(self._timetable, leg)

    def price(self, itinerary: Itinerary) -> Fare | None:
        """Price an itinerary by the feeds' own fares; see the port."""
        return self._fares.price(itinerary)

    def _is_spill(self, journeys: list[Journey], day: date, arrive_by: bool) -> bool:
        """Whether trips of the last covered day still run on the day after it."""
        return any(
            local_day(journey.arrival if arrive_by else journey.departure, self.zone) == day
            for journey in journeys
            if journey.rides
        )

    def _find(self, slices: SearchTimetables, wish: SearchQuery) -> list[Journey]:
        journeys = find_journeys(self._timetable, slices, wish)
        if wish.step_free and not journeys:
            # Better a way with a step, which the answer names, than none.
            journeys = find_journeys(self._timetable, slices, replace(wish, step_free=False))
        return journeys

    def _end(self, location: Location, max_walk_m: float) -> Endpoint:
        table, here = self._timetable, location.coordinate
        own = [row for stop_id in location.stop_ids if (row := self._row(stop_id)) is not None]
        if location.source is LocationSource.USER_VARIABLE and own:
            # Whoever saved a stop beside a place is at the stop only where the two are the same place (ruling D2).
            away_m = straight_line_m(here.lat, here.lon, table.stop_lat[own], table.stop_lon[own])
            own = [row for row, metres in zip(own, away_m.tolist(), strict=True) if metres <= SAME_PLACE_M]
        return find_endpoint(table, here.lat, here.lon, own, max_walk_m)

    def _outside(self) -> OutsideCalendar:
        first, last = self._covered or (None, None)
        return OutsideCalendar(
            f"The timetable of {self.name} covers {first} to {last} only",
            {"first_day": str(first), "last_day": str(last)},
            hint=f"Choose a date from {first} to {last}",
        )

    @cached_property
    def _has_wheelchair_data(self) -> bool:
        table = self._timetable
        return bool((table.stop_wheelchair != WHEELCHAIR_UNKNOWN).any()) or bool(
            (table.trip_wheelchair != WHEELCHAIR_UNKNOWN).any()
        )

    # ------------------------------------------------------------------------------------------ boards

    async def list_departures(self, question: BoardQuestion) -> BoardAnswer:
        """List a board of what really runs, and of what does not after all; see the port."""
        if self._realtime is not None:
            await self._realtime.catch_up()
        day = local_day(question.instant, self.zone)
        snapshot = self._snapshot
        if all(each.is_ready(day, mirrored=False, step_free=False) for each in (snapshot.live, snapshot.planned)):
            return self._board(snapshot, question)
        return await asyncio.to_thread(self._board, snapshot, question)

    def _board(self, snapshot: Snapshot, question: BoardQuestion) -> BoardAnswer:
        rows = [row for stop_id in question.stop_ids if (row := self._row(stop_id)) is not None]
        day = local_day(question.instant, self.zone)

        def calls_in(slices: SearchTimetables, wanted: int | None) -> tuple[list[BoardDeparture], int]:
            piece = slices.get_search_timetable(day, mirrored=False, step_free=False)
            return list_board_departures(self._timetable, piece, rows, question.instant, question.window_s, wanted)

        calls, count = calls_in(snapshot.live, question.wanted)
        if snapshot.live is not snapshot.planned:
            off = [call for call in calls_in(snapshot.planned, None)[0] if is_call_off(snapshot, call)]
            calls = sorted(calls + off, key=lambda call: call.departure)[: question.wanted]
            count += len(off)
        words = self._words.in_language(self._choose(question.language))
        return BoardAnswer(departures=[departure_of(snapshot, words, call) for call in calls], found_count=count)

    # ------------------------------------------------------------------------------------------ places

    @cached_property
    def _places(self) -> PlaceIndex:
        table = self._timetable
        parents = table.stop_parent.tolist()
        kinds = table.stop_kind.tolist()
        ids = list(table.stop_printed_id)
        names: dict[str, list[str]] = {language: list(column) for language, column in table.stop_names.items()}
        stops = []
        for row, kind in enumerate(kinds):
            if kind not in (STOP, STATION):
                continue
            named = {language: column[row] for language, column in names.items() if column[row]}
            feed_language = table.feeds[int(table.stop_feed[row])].language
            name = self._words.stop_name(row)
            if feed_language:
                named.setdefault(feed_language, name)
            stops.append(
                NamedStop(
                    id=ids[row],
                    name=name,
                    names=named,
                    lat=float(table.stop_lat[row]),
                    lon=float(table.stop_lon[row]),
                    parent_id=ids[parents[row]] if parents[row] >= 0 else None,
                    kind="station" if kind == STATION else "stop",
                )
            )
        return PlaceIndex(stops)

    @cached_property
    def _rows(self) -> dict[str, int]:
        """Rows by printed id, and by the feed's own spelling, both as they are and in upper case."""
        table = self._timetable
        feeds = table.stop_feed.tolist()
        exact: dict[str, int] = {}
        folded: dict[str, int] = {}
        for row, (printed, local) in enumerate(zip(table.stop_printed_id, table.stop_local_id, strict=True)):
            for text in (printed, f"{table.feeds[feeds[row]].name}:{local}"):
                exact.setdefault(text, row)
                folded.setdefault(text.upper(), row)
        return {**folded, **exact}

    def _row(self, stop_id: str) -> int | None:
        row = self._rows.get(stop_id)
        return self._rows.get(stop_id.upper()) if row is None else row

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Search the offline index; see the port."""
        if "_places" not in self.__dict__:
            await asyncio.to_thread(lambda: self._places)
        return self._places.search(text, language=language, focus=focus)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return exactly that stop or station; see the port."""
        row = self._row(stop_id)
        return None if row is None else self._places.find_stop(self._timetable.stop_printed_id[row], language)

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the place that the id stands for as a token; see the port."""
        row = self._row(stop_id)
        return None if row is None else self._places.find_place_of(self._timetable.stop_printed_id[row], language)

    # ------------------------------------------------------------------------------------ stops nearby

    async def list_stops_near(
        self, coordinate: Coordinate, radius_m: float, *, language: str = "en"
    ) -> Sequence[NearbyStop]:
        """List boardable stops around a point; see the port."""
        table, words = self._timetable, self._words.in_language(self._choose(language))
        distance_m = straight_line_m(coordinate.lat, coordinate.lon, table.stop_lat, table.stop_lon)
        rows = np.flatnonzero((distance_m <= radius_m) & (table.stop_kind == STOP)).tolist()
        near = [
            NearbyStop(stop=words.stop_point(row), distance_m=float(distance_m[row]), modes=self._modes_by_stop[row])
            for row in rows
        ]
        return sorted(near, key=lambda stop: (stop.distance_m, stop.stop.id or ""))

    @cached_property
    def _modes_by_stop(self) -> list[tuple[Mode, ...]]:
        """The modes that call at each stop, sorted."""
        table = self._timetable
        trips = np.repeat(np.arange(len(table.trip_route)), np.diff(table.trip_first_stop_time))
        kinds = table.route_type[table.trip_route[trips]].astype(np.int64)
        pairs = np.unique(table.stop_time_stop.astype(np.int64) * 65536 + kinds)
        modes: list[set[Mode]] = [set() for _ in range(table.stop_count)]
        for stop, kind in zip((pairs // 65536).tolist(), (pairs % 65536).tolist(), strict=True):
            modes[stop].add(mode_of(kind))
        return [tuple(sorted(of_stop)) for of_stop in modes]
