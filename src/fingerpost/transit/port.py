"""The port of public transport: queries, answers, and the protocols that tools see instead of sources.

Instants are Unix seconds, durations seconds, distances metres.
Every method that asks a source may raise the branches of ``fingerpost.errors.StorageUnavailable``, and
``SourceChanged``. Nothing else of a source's own reaches its callers.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, Protocol

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.itinerary import (
    Departure,
    Fare,
    Itinerary,
    Leg,
    LegLine,
    NearbyStop,
    Optimize,
    ServiceAlert,
)
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds, Coordinate, Location, Place, PlaceMatch
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import Provenance, RealtimeHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyQuery:
    """A journey request.

    ``instant`` is the earliest departure, or the latest arrival where ``arrive_by``.
    ``max_walk_m`` bounds the sum of an itinerary's walking.
    ``not_before`` is the present instant, before which nobody can leave; None if the query is about the past.
    ``wanted`` is how many good itineraries a caller may show; a source offers that many and one more if it can.
    It is the same for every caller, because what is searched does not depend on how much is shown (rule B14).
    ``window_s`` asks for all good ones that leave (or arrive, where ``arrive_by``) within so many seconds of
    ``instant``; a source that finds none there offers the nearest beyond. None leaves the window to the source.
    """

    origin: Location
    destination: Location
    instant: int
    arrive_by: bool = False
    not_before: int | None = None
    max_walk_m: float = 1500.0
    max_transfers: int = 4
    step_free: bool = False
    optimize: Optimize = Optimize.BALANCED
    language: str = "en"
    wanted: int = 3
    window_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJourneyQuery:
    """A journey request between texts that the source resolves: names, postcodes, its own ids, ``lat,lon``.

    ``sides`` are the caller's names of the two ends; the rest is as in ``JourneyQuery``.
    """

    origin: str
    destination: str
    instant: int
    not_before: int | None = None
    step_free: bool = False
    language: str = "en"
    sides: tuple[str, str] = ("origin", "destination")


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyAnswer:
    """The journeys that a source found.

    ``timetabled`` holds scheduled itineraries that realtime made unusable; they stay visible (rule B5).
    ``step_free_supported`` is False if the source has no wheelchair data at all.
    ``why_nothing`` is the source's sentence on why nothing was found, if it gives one.
    """

    itineraries: tuple[Itinerary, ...]
    provenance: Provenance
    timetabled: tuple[Itinerary, ...] = ()
    step_free_supported: bool = True
    why_nothing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureQuery:
    """Departures from some stops, expected in [instant, instant + window_s], both ends included.

    ``wanted`` is how many of the first the caller shows; a source may leave out departures later than the last of
    these, but none at the same second.
    With ``by_schedule`` both go by the timetable's times, and rides outside the timetable are left out. A source
    without timetables uses the expected times anyway.
    ``walk_from`` is the rider's position, None if walks to the stops are not wanted.
    """

    stop_ids: Sequence[str]
    instant: int
    window_s: int
    wanted: int
    language: str = "en"
    by_schedule: bool = False
    walk_from: Coordinate | None = None


class WalkToStop(NamedTuple):
    """A rider's walk to a stop, in whole metres and seconds, rounded up."""

    metres: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardGap:
    """Why a board is empty: the next departure after its window.

    ``next_departure`` is its instant (Unix seconds), or ``next_day`` its day if it is beyond the days searched; both
    are None if nothing leaves any more. ``last_day`` is the last day with any departure, None if there is none.
    ``cancelled_until`` is the last day searched, if every departure up to then is cancelled.
    """

    next_departure: int | None = None
    next_day: date | None = None
    last_day: date | None = None
    cancelled_until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureBoard:
    """The first departures of a board, in any order, and how many there are in all.

    ``alerts`` are those of the stops themselves that are in force in the window.
    ``gap`` is set for an empty board if the source knows the next departure.
    ``walks`` are those from ``walk_from`` by stop id, for stops within reach; None if the source measures none.
    """

    departures: Sequence[Departure]
    found_count: int
    provenance: Provenance
    alerts: Sequence[ServiceAlert] = ()
    gap: BoardGap | None = None
    walks: Mapping[str, WalkToStop] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyStops:
    """Boardable stops near a point, nearest first, then by id."""

    stops: Sequence[NearbyStop]
    provenance: Provenance


class Network(Protocol):
    """One region's public transport behind one name.

    Callers use only the abilities that its profile declares.
    """

    @property
    def profile(self) -> NetworkProfile:
        """The facts that need no query; they change if the record of the network changes."""
        ...

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Return the journeys that the source found, the best ones included, in any order.

        Raises:
            OutsideCalendar: the timetable does not cover the day.
        """
        ...

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        """Return the journeys between two texts; only if the profile's ``reads_texts`` is True.

        Raises:
            PlaceAmbiguous: a text fits several places; ``details["side"]`` and ``details["candidates"]`` name the
                first such end, in the source's own order of quality; ``details["other"]`` has the same of the second.
            PlaceUnknown: the source knows no place of a text; the message names the end.
        """
        ...

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """Return the first departures of the window, without stop times that riders cannot board."""
        ...

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Return candidates, best first (rule D2); empty where nothing resembles the text."""
        ...

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the one stop or station of that id, case ignored, or None.

        A station's ``member_ids`` are its boardable stops, a stop's its own id.
        """
        ...

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the whole place that a stop id stands for as a retry token, or None (rule D2)."""
        ...

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """Return boardable stops within the straight-line radius."""
        ...

    async def find_address(
        self, coordinate: Coordinate, *, language: str | None = None, may_ask: bool = False
    ) -> Place | None:
        """Return a place at the position, named by its address or a place nearby; None if nothing is near.

        ``may_ask`` sends the position to the network's server, if its profile's ``names_positions`` is True; set it
        only for positions that queries to the server contain anyway.
        """
        ...

    def find_fare(self, itinerary: Itinerary) -> Fare | None:
        """Return what an itinerary of this network costs, or why that is unknown; None for walks or another's rides."""
        ...

    def find_line(self, leg: Leg) -> LegLine | None:
        """Return the line of a leg on the map, None if another network made the leg."""
        ...

    async def find_basemap(self, box: Bounds, leg: Leg) -> Basemap | None:
        """Return the water and ways in a box around a leg, None without a map or if another network made the leg.

        Answers credit the sources of their legs only, so the map of a fallback is not drawn behind other legs.
        """
        ...

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return the state of the network's own realtime sources, None if it follows none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNetworks:
    """The networks at one moment.

    ``answering`` are in order of preference (rule A13); ``by_token_only`` are demo networks that answer only for their
    own ids, because networks were added; ``problems`` has a sentence on each network that cannot be used now.
    """

    answering: tuple[Network, ...] = ()
    by_token_only: tuple[Network, ...] = ()
    problems: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def list_owners(self, stop_id: str) -> list[Network]:
        """Return the networks whose FEED stands before the first colon of an id, in order of preference."""
        feed, colon, _ = stop_id.strip().upper().partition(":")
        if not colon:
            return []
        return [network for network in chain(self.answering, self.by_token_only) if feed in network.profile.feed_names]


class Networks(Protocol):
    """All networks of one home folder, of every kind; one may come or go between two calls."""

    async def open(self) -> OpenNetworks:
        """Return the networks of the records; those that cannot be opened are in ``problems``."""
        ...

    async def close(self) -> None:
        """Stop background work; a later query starts it again."""
        ...


class NetworkSource(Protocol):
    """One kind of source, such as the embedded engine or OpenTripPlanner, which opens the networks of its records."""

    @property
    def kind(self) -> str:
        """The kind's name in a record's ``source``."""
        ...

    def stamp(self) -> Hashable:
        """Return a value that changes when a network of this kind has to be reopened; called before each query."""
        ...

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> Network:
        """Open the network of a record; the same object as before where only the record has changed. May block.

        ``learned`` is the stored result of ``RemoteSource.learn``, None if there is none.

        Raises:
            SettingsInvalid: it cannot be opened; the message says what to do.
        """
        ...

    def retire(self, name: str) -> None:
        """Stop the background work of a network that has no record any more."""
        ...

    async def close(self) -> None:
        """Stop the background work of all networks of this source; a later ``open`` starts it again."""
        ...


class RemoteSource(NetworkSource, Protocol):
    """A kind of source whose networks are answered by a server."""

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        """Ask the server of a record for its profile, which is stored when the network is added or refreshed.

        Raises:
            ParameterError: the record lacks what this kind of source needs.
            StorageUnavailable, SourceChanged: the server cannot be asked, or answered in an unknown shape.
        """
        ...
