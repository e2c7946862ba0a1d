"""Answer a network's queries with the embedded engine, from a timetable and realtime data."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, TypeVar

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceLimited, new_outside_calendar_error
from fingerpost.runtime.concurrency import ThreadPool, compute
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit import port
from fingerpost.transit.embedded.boardings import find_endpoint_service, find_gap
from fingerpost.transit.embedded.departures import list_rows
from fingerpost.transit.embedded.display_names import DisplayNames
from fingerpost.transit.embedded.itineraries import find_ends, find_itineraries, find_near_stops, find_ref_ride
from fingerpost.transit.embedded.network_places import NetworkPlaces, TimetableStops
from fingerpost.transit.embedded.network_walks import NetworkWalks, TimetableLeg
from fingerpost.transit.embedded.realtime_updater import RealtimeUpdater
from fingerpost.transit.embedded.snapshot import Snapshot, Span
from fingerpost.transit.embedded.timetable_profile import NIGHT_ENDS_H, TimetableProfile
from fingerpost.transit.engine.raptor.kernel.range_raptor import list_departures
from fingerpost.transit.engine.raptor.kernel.search import run_search
from fingerpost.transit.engine.raptor.search_timetable.build import NotBuilt, SearchTimetableCache, SearchTimetables
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.kernel_mode import is_ready, must_wait
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, LegLine
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds, Coordinate, Place, PlaceMatch, distance_m
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import OutOfService, Provenance, RealtimeHealth
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.osm.addresses.index import AddressIndex
from fingerpost.transit.osm.basemap import StoredBasemap, draw_basemap
from fingerpost.transit.osm.streets.stop_access import MATCHED_M
from fingerpost.transit.osm.streets.store import StoredStreets
from fingerpost.transit.rules.preferences import MAX_WALK_M
from fingerpost.transit.rules.times import to_local_date

_log = logging.getLogger(__name__)
_R = TypeVar("_R")

# Use only one thread, because parallel builds would slow down each other and all searches.
_BUILDER = ThreadPool("days", 1)
# In the last half hour of a day, a query triggers the build for the next day. The delay keeps one-shot commands fast,
# because the interpreter waits at exit for builds that have started.
_BEFORE_MIDNIGHT_S = 1800
_AFTER_QUERY_S = 5
# A search may need up to eight timetables: scheduled or expected, one day or a week, with or without steps.
_MAX_BUILDS = 8
_COMPILER_POLL_S = 0.1

# Longer boards have many rows, so they are built in a thread.
_SHORT_BOARD_S = 3 * 3600
_SMALL_STOP_TIMES = 5000  # a search takes a millisecond, and a thread would add 10%


class EmbeddedNetwork(port.Network):
    """A thread-safe network over an immutable timetable and a realtime overlay.

    Queries wait for the ``check`` future; its result is an error message if files are damaged.
    """

    def __init__(
        self,
        record: NetworkRecord,
        timetable: Timetable,
        *,
        notes: Sequence[str] = (),
        streets: StoredStreets | None = None,
        addresses: AddressIndex | None = None,
        basemap: StoredBasemap | None = None,
        check: Future[str | None] | None = None,
        days: SearchTimetableCache | None = None,
    ) -> None:
        self.timetable = timetable
        self._check = check
        self.basemap = basemap
        self._snapshot = Snapshot(timetable, Overlay(), SearchTimetables(timetable, cache=days))
        self.realtime: RealtimeUpdater | None = None
        self._names = DisplayNames(timetable)
        self.stops = TimetableStops(timetable, self._names)
        self.walks = NetworkWalks(self.stops, streets, basemap)
        self._places = NetworkPlaces(self.stops, addresses)
        self.configure(record, notes)

    def configure(self, record: NetworkRecord, notes: Sequence[str] = ()) -> None:
        """Apply a changed record, and set the notes that all answers include."""
        self._feed_profile = TimetableProfile(record, self.timetable, tuple(notes))

    @property
    def profile(self) -> NetworkProfile:
        return self._feed_profile.profile

    @property
    def record(self) -> NetworkRecord:
        return self._feed_profile.record

    def _build_provenance(
        self,
        snapshot: Snapshot,
        language: str,
        out_of_service: tuple[OutOfService, ...] = (),
        *,
        step_free: bool = False,
    ) -> Provenance:
        return self.profile.new_provenance(
            int(clock.now().timestamp()),
            source="embedded",
            language=self._feed_profile.choose_language(language),
            walking=self.walks.describe(step_free=step_free),
            out_of_service=out_of_service,
            realtime_updated=snapshot.overlay.timestamp,
            realtime_problems=() if self.realtime is None else self.realtime.list_problems(snapshot.overlay),
            realtime_unmatched=() if self.realtime is None else self.realtime.list_unmatched(snapshot.overlay),
        )

    async def _prepare_query(self) -> None:
        await self._check_files()
        if self.realtime is not None:
            await self.realtime.catch_up()
        # Do not wait for the compiler in a thread, because that would block calls that need no kernel.
        began = time.monotonic()
        while must_wait():
            if time.monotonic() - began >= clock.get_compiler_wait_s():
                raise SourceLimited(
                    "The engine is being compiled, which happens once and takes a minute or two", retry_after_s=30
                )
            await asyncio.sleep(_COMPILER_POLL_S)

    async def _check_files(self) -> None:
        # Copy the attribute, because another event loop may reset it during the wait.
        check = self._check
        if check is None:
            return
        damage = await asyncio.shield(asyncio.wrap_future(check))
        if damage is not None:
            raise SourceFailed(damage, retryable=False)
        self._check = None

    def follow(self, realtime: RealtimeUpdater | None) -> None:
        if self.realtime is not None:
            self.realtime.stop()
        self.realtime = realtime
        if realtime is None:
            self._snapshot = Snapshot(self.timetable, Overlay(), self._snapshot.planned)

    async def find_realtime_health(self) -> RealtimeHealth | None:
        if self.realtime is None:
            return None
        await self.realtime.catch_up()
        return self.realtime.health()

    def publish(self, overlay: Overlay, day: date) -> None:
        """Publish a new realtime overlay; running queries continue with the previous one.

        The search timetable for ``day`` is built first, so that no query waits for it.
        """
        snapshot = Snapshot(self.timetable, overlay, self._snapshot.planned)
        snapshot.live.get_search_timetable(day, is_reverse=False, step_free=False)
        self._snapshot = snapshot

    async def _search(self, find: Callable[..., _R], *args: Any, is_quick: bool) -> _R:
        """Run a search, in a thread unless it is quick; the builder's thread builds missing search timetables."""
        # Building with uncompiled kernels is slow, and would block builds for other networks.
        for _ in range(_MAX_BUILDS if is_ready() else 0):
            try:
                return find(*args, may_build=False) if is_quick else await compute(find, *args, may_build=False)
            except NotBuilt as missing:
                await _BUILDER.run(missing.build)
        return await compute(find, *args)

    def _schedule_next_day(self, instant: int, *, is_reverse: bool = False, step_free: bool = False) -> None:
        zone = self._feed_profile.zone
        now = int(clock.now().timestamp())
        tomorrow = to_local_date(now + _BEFORE_MIDNIGHT_S, zone)
        if is_ready() and to_local_date(now, zone) == to_local_date(instant, zone) < tomorrow:
            step_free = step_free and self._feed_profile.has_wheelchair_data
            asyncio.get_running_loop().call_later(_AFTER_QUERY_S, self._submit_builds, tomorrow, is_reverse, step_free)

    def _submit_builds(self, day: date, is_reverse: bool, step_free: bool) -> None:
        snapshot = self._snapshot
        for timetables in {snapshot.live_step_free if step_free else snapshot.live, snapshot.planned}:
            if (day, is_reverse, step_free, 0) not in timetables.cached:
                build = partial(timetables.get_search_timetable, day, is_reverse=is_reverse, step_free=step_free)
                _BUILDER.submit(build).add_done_callback(_log_failure)

    async def plan_journeys(self, query: port.JourneyQuery) -> port.JourneyAnswer:
        await self._prepare_query()
        self._schedule_next_day(query.instant, is_reverse=query.arrive_by, step_free=query.step_free)
        is_quick = run_search.is_ready and len(self.timetable.stop_time_stop) <= _SMALL_STOP_TIMES
        return await self._search(self._plan, query, is_quick=is_quick)

    def _plan(self, query: port.JourneyQuery, *, may_build: bool = True) -> port.JourneyAnswer:
        snapshot, covered = self._snapshot, self._feed_profile.covered_days
        ends = (query.origin.coordinate, query.destination.coordinate)
        out_of_service = self._feed_profile.list_inactive_near(query.instant, ends, query.max_walk_m)
        step_free = query.step_free and self._feed_profile.has_wheelchair_data
        provenance = self._build_provenance(snapshot, query.language, out_of_service, step_free=step_free)
        provenance = self.walks.add_attribution(provenance)
        day = to_local_date(query.instant, self._feed_profile.zone)
        if covered and day < covered[0]:
            raise new_outside_calendar_error(self.profile.name, *covered)
        walks, timetable = self.walks.get_open_walks(
            snapshot.overlay, query.instant, arrive_by=query.arrive_by, step_free=step_free
        )
        snapshot = snapshot.replace_timetable(timetable)
        names = self._names.in_language(provenance.language)
        near = find_ends(self.stops, walks, query)
        found = find_itineraries(snapshot, names, near, walks, query, step_free=step_free, may_build=may_build)
        if step_free:
            found = [[self.walks.mark_unknown_kerbs(trip, walks) for trip in trips] for trips in found]
        itineraries, timetabled = map(tuple, found)
        trips = (*itineraries, *timetabled)
        # Trips on the last covered day, including cancelled ones, may run past midnight.
        night_s = NIGHT_ENDS_H * 3600 if query.arrive_by else 0
        last = to_local_date(query.instant - night_s, self._feed_profile.zone)
        if covered and last > covered[1]:
            times = (trip.arrival if query.arrive_by else trip.departure for trip in trips if trip.rides)
            if all(to_local_date(time, self._feed_profile.zone) != day for time in times):
                raise new_outside_calendar_error(self.profile.name, *covered)
        notes = self.walks.list_notes(ends, trips, step_free=step_free)
        has_stops = [len(end.walks.stop) > 0 for end in near]
        # Stops on streets are sought this much further, because the map may show them elsewhere.
        is_near = [
            has or self.stops.has_near(end, MAX_WALK_M + MATCHED_M) for has, end in zip(has_stops, ends, strict=True)
        ]
        return port.JourneyAnswer(
            itineraries=itineraries,
            timetabled=timetabled,
            step_free_supported=self._feed_profile.has_wheelchair_data,
            provenance=replace(provenance, notes=(*provenance.notes, *notes)) if notes else provenance,
            # The walks of a trip share the limit, but one walk alone may use all of it.
            has_stops=(
                has_stops[0] or (is_near[0] and bool(self._list_near(query, is_destination=False))),
                has_stops[1] or (is_near[1] and bool(self._list_near(query, is_destination=True))),
            ),
            is_final=not all(is_near) and distance_m(*ends) > MAX_WALK_M,
        )

    async def find_ride(self, ref: RideRef, *, language: str = "en") -> port.JourneyAnswer:
        await self._check_files()
        if self.realtime is not None:
            await self.realtime.catch_up()
        return await compute(self._find_ride, ref, language)

    def _find_ride(self, ref: RideRef, language: str) -> port.JourneyAnswer:
        snapshot = self._snapshot
        provenance = self._build_provenance(snapshot, language)
        ride = find_ref_ride(snapshot, self._names.in_language(provenance.language), self.stops, ref, language)
        if isinstance(ride, str):
            return port.JourneyAnswer(itineraries=(), provenance=provenance, no_result_reason=ride)
        return port.JourneyAnswer(itineraries=(Itinerary((ride,)),), provenance=provenance)

    def find_line(self, leg: Leg) -> LegLine | None:
        return self.walks.draw(leg) if self._has_built(leg) else None

    def _has_built(self, leg: Leg) -> bool:
        return isinstance(leg.handle, TimetableLeg) and leg.handle.timetable is self.timetable

    async def find_basemap(self, box: Bounds, leg: Leg) -> Basemap | None:
        if self.basemap is None or not self._has_built(leg):
            return None
        return await compute(draw_basemap, self.basemap, box)

    async def list_departures(self, query: port.DepartureQuery) -> port.DepartureBoard:
        await self._prepare_query()
        self._schedule_next_day(query.instant)
        snapshot = self._snapshot
        is_quick = list_departures.is_ready and query.window_s <= _SHORT_BOARD_S
        board = await self._search(self._build_board, snapshot, query, is_quick=is_quick)
        rows = board.departures
        # A timetable, unlike a board, lists no cancelled departures.
        is_cancelled = query.by_schedule and len(rows) == board.found_count and all(row.cancelled for row in rows)
        if board.found_count and not is_cancelled:
            return board
        return replace(
            board,
            gap=await compute(find_gap, snapshot, self.stops.list_rows(query.stop_ids), self._feed_profile.zone, query),
        )

    async def find_service(self, query: port.JourneyQuery, *, is_destination: bool) -> port.ServiceGap | None:
        return await compute(self._find_service, query, is_destination)

    def _list_near(self, query: port.JourneyQuery, is_destination: bool) -> list[int]:
        location = query.destination if is_destination else query.origin
        walks = self.walks.get_walks(step_free=query.step_free and self._feed_profile.has_wheelchair_data)
        endpoint = find_near_stops(self.stops, walks, location, query.max_walk_m, is_destination=is_destination)
        return list(endpoint.walks.stop.tolist())

    def _find_service(self, query: port.JourneyQuery, is_destination: bool) -> port.ServiceGap | None:
        zone = self._feed_profile.zone
        stops = self._list_near(query, is_destination)
        if not stops:
            return None
        return find_endpoint_service(
            self._snapshot, stops, zone, query.instant, of_arrivals=is_destination, is_before=query.arrive_by
        )

    def _build_board(
        self, snapshot: Snapshot, query: port.DepartureQuery, *, may_build: bool = True
    ) -> port.DepartureBoard:
        rows = self.stops.list_rows(query.stop_ids)
        out_of_service = self._feed_profile.list_inactive_at(query.instant, rows)
        provenance = self._build_provenance(snapshot, query.language, out_of_service)
        names = self._names.in_language(provenance.language)
        departures, found_count = list_rows(snapshot, names, rows, self._feed_profile.zone, query, may_build=may_build)
        window = Span(query.instant, query.instant + query.window_s)
        walks = None
        if query.walk_from is not None:
            # Realtime data may move a departure to a stop that is not on the board.
            departure_rows = self.stops.list_rows(departure.stop_id for departure in departures)
            to_stops = self.walks.measure_to_stops(query.walk_from, [*{*rows, *departure_rows}])
            walks = {self._names.get_stop_point(stop).id or "": walk for stop, walk in to_stops.items()}
            provenance = self.walks.add_attribution(provenance)
        return port.DepartureBoard(
            departures=[self._add_platform(departure, len(rows)) for departure in departures],
            found_count=found_count,
            alerts=snapshot.alerts.list_stop_alerts(rows, window, query.language),
            walks=walks,
            provenance=provenance,
        )

    def _add_platform(self, departure: Departure, stop_count: int) -> Departure:
        """Set the platform from the stop's name if the board has several stops and the feed has no platform code."""
        if stop_count < 2 or departure.platform is not None:
            return departure
        platform = self.stops.places.find_platform_code(departure.stop_id)
        return departure if platform is None else replace(departure, platform=platform)

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        await self._check_files()
        return await self._places.find(text, language, focus)

    async def find_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        await self._check_files()
        return self._places.find_address(coordinate, language)

    async def find_stop(self, stop_id: str, *, language: str | None = None, whole_place: bool = False) -> Place | None:
        await self._check_files()
        find = partial(self.stops.find_stop, stop_id, language, whole_place=whole_place)
        return find() if self.stops.has("places") else await compute(find)

    async def list_stops_near(
        self, coordinate: Coordinate, radius_m: float, *, language: str = "en"
    ) -> port.NearbyStops:
        await self._check_files()
        find = partial(self.stops.list_near, coordinate, radius_m, self._feed_profile.choose_language(language))
        stops = find() if self.stops.has("_modes_by_stop") else await compute(find)
        return port.NearbyStops(stops=stops, provenance=self._build_provenance(self._snapshot, language))


def _log_failure(done: "Future[Any]") -> None:
    if (failure := done.exception()) is not None:
        _log.error("the search timetable for the next day could not be built", exc_info=failure)
