"""Base classes for networks that query HTTP servers and for the sources that open them, and ride lookup by ref."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Any, ClassVar

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, ParameterError, SettingsInvalid
from fingerpost.net.request import Fetch, Request, RequestLimits
from fingerpost.net.response import Response
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit import port
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, LegLine, ServiceAlert, StopPoint
from fingerpost.transit.model.place import (
    DEFAULT_LANGUAGE,
    Coordinate,
    Location,
    LocationSource,
    Place,
    PlaceMatch,
    choose_language,
)
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion, Provenance
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.journeys import JourneyPage, JourneyRequest, draw_leg, resolve_end
from fingerpost.transit.remote.kit.places import StopIdCodec, StopLookup
from fingerpost.transit.rules.times import format_instant

# Learning a profile needs longer limits, because the list of all stops is long.
_LEARNING_LIMITS = RequestLimits(read_s=40.0, total_s=60.0)

# Servers filter by expected time, so a query by schedule adds margins for early and late trips.
EARLIEST_S = 600
LATEST_S = 2 * 3600


class ServerSource(port.NetworkSource):
    """Opens networks on one kind of server; without ``limits``, each network's deadline applies to its requests."""

    learn_profile: ClassVar["staticmethod[[Fetch, NetworkRecord], Awaitable[LearnedProfile]]"]
    open_network: ClassVar["staticmethod[[NetworkRecord, LearnedProfile, Fetch], port.Network]"]

    def __init__(self, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._fetch = fetch
        self._limits = limits

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        """Fetch the network's profile from its server, to be stored when the network is added or refreshed.

        Raises:
            ParameterError: the record lacks a setting that this kind of source needs, such as a URL.
            StorageUnavailable, SourceChanged: the server is unreachable, or its response has an unknown format.
        """
        try:
            return await self.learn_profile(_limit(self._fetch, self._limits or _LEARNING_LIMITS), record)
        except ParameterError as error:
            raise error.with_message(f"The URL of {record.name} cannot be used: {error.message}") from error

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> port.Network:
        fetch = self._fetch if self._limits is None else _limit(self._fetch, self._limits)
        try:
            return self.open_network(record, learned or LearnedProfile(learned_at=clock.now()), fetch)
        except ParameterError as error:
            raise SettingsInvalid(
                f"The URL of {record.name} cannot be used: {error.message}", hint=error.remedy
            ) from error


def _limit(fetch: Fetch, limits: RequestLimits) -> Fetch:
    async def fetch_within(request: Request, known: Response | None = None) -> Response:
        return await fetch(replace(request, limits=limits), known)

    return fetch_within


class ServerNetwork(port.Network, ABC):
    """A network on one server; see ``port.Network``. Instances are thread-safe.

    ``credit`` is a sentence that the server's terms require in addition to the attribution; ``{retrieved}`` is
    replaced with the time of the response. If ``retries_with_steps``, a step-free query that finds no rides is repeated
    without the step-free condition.
    """

    retries_with_steps: ClassVar[bool] = True
    walking: ClassVar[str] = "streets, according to the server"
    credit: str | None = None

    def __init__(
        self,
        profile: NetworkProfile,
        record: NetworkRecord,
        learned: LearnedProfile,
        *,
        ids: StopIdCodec,
        stops: StopLookup,
    ) -> None:
        self._profile = profile
        self._languages = record.languages or learned.languages
        self._ids = ids
        self._stops = stops

    @property
    def profile(self) -> NetworkProfile:
        return self._profile

    async def plan_journeys(self, query: port.JourneyQuery) -> port.JourneyAnswer:
        ends = (query.origin, query.destination)
        if query.origin.stop_ids and query.destination.stop_ids:
            origin, destination = await gather_all(resolve_end(end, self._ids, self._stops) for end in ends)
        else:
            # At most one end waits for the server, so tasks would only take time.
            origin, destination = [await resolve_end(end, self._ids, self._stops) for end in ends]
        language = self._choose_language(query.language)
        request = JourneyRequest(query=query, origin=origin, destination=destination, language=language)
        found = await self._find_journeys(request)
        if self.retries_with_steps and query.step_free and not found.has_rides:
            # The answer then warns about steps.
            found = await self._find_journeys(replace(request, query=replace(query, step_free=False)))
        return self._new_answer(found, query.language)

    async def _find_journeys(self, request: JourneyRequest) -> JourneyPage:
        found = reduce(JourneyPage.add, [page async for page in self._list_pages(request)])
        if found.walks_too_far and not found.has_rides and not request.shorter_walks:
            return found.add(await self._find_journeys(replace(request, shorter_walks=True)))
        return found

    async def find_ride(self, ref: RideRef, *, language: str = "en") -> port.JourneyAnswer:
        return await find_ref_ride(self, ref, language, self._new_provenance(None, language))

    def _new_board(
        self,
        query: port.DepartureQuery,
        rows: Sequence[Departure],
        answers: Sequence[Answer[Any]],
        *,
        notes: Sequence[str] = (),
        alerts: Sequence[ServiceAlert] = (),
        zone: str | None = None,
    ) -> port.DepartureBoard:
        """Return the board of the rows in a query's window, with the notes and the age of the server's ``answers``."""
        retrieved_at = min((answer.retrieved_at for answer in answers), default=None)
        notes = list(dict.fromkeys([*notes, *(note for answer in answers for note in answer.notes)]))
        updates = [row.last_realtime_update for row in rows if row.last_realtime_update is not None]
        first, last = query.instant, query.instant + query.window_s
        in_window = list_in_window(rows, first, last, by_schedule=query.by_schedule)
        provenance = self._new_provenance(retrieved_at, query.language, notes, zone=zone)
        return port.DepartureBoard(
            departures=take_first(in_window, query.wanted, by_schedule=query.by_schedule),
            found_count=len(in_window),
            provenance=replace(provenance, realtime_updated=min(updates, default=None)),
            alerts=alerts,
        )

    async def find_stop(self, stop_id: str, *, language: str | None = None, whole_place: bool = False) -> Place | None:
        find = self._stops.find_stop_place if whole_place else self._stops.find_stop
        return await find(stop_id, self._choose_language(language))

    async def list_stops_near(
        self, coordinate: Coordinate, radius_m: float, *, language: str = "en"
    ) -> port.NearbyStops:
        answer = await self._stops.list_near(coordinate, radius_m, self._choose_language(language))
        provenance = self._new_provenance(answer.retrieved_at, language, answer.notes)
        return port.NearbyStops(stops=answer.data, provenance=provenance)

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        return await self._stops.find_places(text, self._choose_language(language), focus)

    def find_line(self, leg: Leg) -> LegLine | None:
        return draw_leg(leg) if self._profile.can(Ability.GEOMETRY) else None

    @abstractmethod
    def _list_pages(self, request: JourneyRequest) -> AsyncIterator[JourneyPage]:
        """Yield pages until the query is answered; a page may contain nothing usable, for example only long walks."""

    def _choose_language(self, language: str | None) -> str | None:
        """Return the language for names, or None for the server's default."""
        chosen = choose_language(language, self._languages)
        return None if chosen == DEFAULT_LANGUAGE else chosen

    def _new_answer(self, found: JourneyPage, language: str) -> port.JourneyAnswer:
        return port.JourneyAnswer(
            itineraries=found.live,
            timetabled=found.timetabled,
            provenance=self._new_provenance(found.retrieved_at, language, found.list_notes(), zone=found.zone),
            no_result_reason=found.no_result_reason,
        )

    def _new_provenance(
        self, retrieved_at: datetime | None, language: str, notes: Sequence[str] = (), *, zone: str | None = None
    ) -> Provenance:
        profile = self._profile
        instant = int((retrieved_at or clock.now()).timestamp())
        answer_zone = zone if zone is not None and clock.is_zone(zone) else profile.zone
        retrieved = format_instant(instant, answer_zone)
        credit = () if self.credit is None else (self.credit.format(retrieved=retrieved, year=retrieved[:4]),)
        feeds = profile.feeds or (FeedVersion(name=profile.name),)
        return profile.new_provenance(
            instant,
            zone=answer_zone,
            feeds=tuple(replace(feed, name=feed.name.upper()) for feed in feeds),
            attribution=(*profile.attribution, *credit),
            language=self._choose_language(language) or DEFAULT_LANGUAGE,
            notes=tuple(notes),
            walking=self.walking,
        )


def find_common_zone(names: Iterable[str | None]) -> str | None:
    zones = Counter(name for name in names if clock.is_zone(name))
    return zones.most_common(1)[0][0] if zones else None


def list_in_window(rows: Iterable[Departure], first: int, last: int, *, by_schedule: bool = False) -> list[Departure]:
    in_window = (row for row in rows if first <= _get_time(row, by_schedule) <= last)
    return sorted(in_window, key=lambda row: (_get_time(row, by_schedule), row.line))


def take_first(rows: list[Departure], wanted: int, *, by_schedule: bool = False) -> list[Departure]:
    """Return the first ``wanted`` of the sorted rows, plus any that depart in the same second as the last one."""
    if len(rows) <= wanted or wanted < 1:
        return rows
    last = _get_time(rows[wanted - 1], by_schedule)
    return [row for row in rows if _get_time(row, by_schedule) <= last]


def _get_time(row: Departure, by_schedule: bool) -> int:
    return row.scheduled if by_schedule else row.expected


_MAX_ROWS = 500
_WINDOW_S = 120


async def find_ref_ride(
    network: port.Network, ref: RideRef, language: str, provenance: Provenance
) -> port.JourneyAnswer:
    """Return a ref's ride; if only the board lists the ride, estimate its arrival and add a note."""
    name, ids, row = network.profile.name, (ref.start_id, ref.end_id), None
    start, end = await gather_all(network.find_stop(stop_id, language=language) for stop_id in ids)
    if start is None or end is None:
        reason = f"{name} has no stop with the id {ids[0] if start is None else ids[1]}"
        return port.JourneyAnswer(itineraries=(), provenance=provenance, no_result_reason=reason)
    # Without a trip id, a matching row may be another ride of the same line.
    if ref.has_trip_id and network.profile.can(Ability.TIMETABLES):
        board = await network.list_departures(
            port.DepartureQuery(
                stop_ids=start.member_ids,
                instant=ref.departure - EARLIEST_S,
                window_s=EARLIEST_S + LATEST_S,
                wanted=_MAX_ROWS,
                language=language,
            )
        )
        row, provenance = ref.choose(board.departures), board.provenance
    if row is None or not row.cancelled:
        begin = ref.departure if row is None else row.expected
        found = await _search(network, ref, begin, (start, end), language)
        if found is not None:
            return found
    if row is None:
        reason = f"{name} lists no such ride from {start.name}"
        return port.JourneyAnswer(itineraries=(), provenance=provenance, no_result_reason=reason)
    if not row.cancelled:
        note = (
            f"{name} does not report when {row.line} arrives; the arrival time assumes that the delay stays the same."
        )
        provenance = replace(provenance, notes=(*provenance.notes, note))
    return port.JourneyAnswer(itineraries=(Itinerary((_build_leg(ref, row, start, end),)),), provenance=provenance)


async def _search(
    network: port.Network, ref: RideRef, begin: int, places: tuple[Place, Place], language: str
) -> port.JourneyAnswer | None:
    parameters = port.JourneyParameters(instant=begin, max_transfers=0, language=language, window_s=_WINDOW_S)
    ends = (
        Location(coordinate=place.coordinate, source=LocationSource.GEOCODE, stop_ids=place.member_ids)
        for place in places
    )
    try:
        found = await network.plan_journeys(parameters.between(*ends))
    except OutsideCalendar:
        return None
    trips, end_ids = (*found.itineraries, *found.timetabled), (ref.end_id, *places[1].member_ids)
    ride = ref.choose(ride for trip in trips for ride in trip.rides if ride.end.id in end_ids)
    if ride is None:
        return None
    ride = ride._replace(stays_seated=ref.stays_seated)
    return replace(found, itineraries=(Itinerary((ride,)),), timetabled=())


def _build_leg(ref: RideRef, row: Departure, start: Place, end: Place) -> Leg:
    return Leg(
        mode=row.mode,
        start=StopPoint(name=start.name, coordinate=start.coordinate, id=row.stop_id, platform=row.platform),
        end=StopPoint(name=end.name, coordinate=end.coordinate, id=end.id),
        departure_scheduled=row.scheduled,
        arrival_scheduled=row.scheduled + ref.arrival - ref.departure,
        departure_delay_s=row.departure_delay_s,
        arrival_delay_s=row.departure_delay_s,
        cancelled=row.cancelled,
        line=row.line,
        headsign=row.destination,
        stays_seated=ref.stays_seated,
        trip_id=row.trip_id,
        last_realtime_update=row.last_realtime_update,
        alerts=row.alerts,
    )
