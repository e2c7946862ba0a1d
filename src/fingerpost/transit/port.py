"""The port for transit data sources: queries, answers, and the protocols that every source implements.

Instants are in Unix seconds, durations in seconds, and distances in metres.
Methods that query a source may raise ``SourceChanged`` or a subclass of ``StorageUnavailable`` (both are in
``fingerpost.errors``). They may also raise ``RegionUnsupported``, for a place or time that the network does not cover,
and the errors in their own docstrings.
"""

# ruff: noqa: ARG002  (the methods for optional abilities ignore their arguments)

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, Protocol

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg, LegLine, NearbyStop, Optimize, ServiceAlert
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds, Coordinate, Location, Place, PlaceMatch
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import Provenance, RealtimeHealth
from fingerpost.transit.model.ride_ref import RideRef


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyParameters:
    """The times and limits of a journey request.

    ``instant`` is the earliest departure, or the latest arrival if ``arrive_by``.
    ``max_walk_m`` limits the total walking of an itinerary.
    ``not_before`` is the current time, the earliest possible departure; None if the query is about the past.
    ``wanted`` is the maximum number of itineraries that the calling tool shows (rule B14); a source returns one more
    good itinerary if it can.
    ``best_only`` requests only the usable itinerary with the earliest arrival (if ``arrive_by``, the latest departure).
    ``window_s`` requests all good itineraries that leave (or arrive, if ``arrive_by``) within this many seconds of
    ``instant`` or, if there are none, those nearest to ``instant``. If it is None, the source chooses the window.
    """

    instant: int
    arrive_by: bool = False
    not_before: int | None = None
    max_walk_m: float = 1500.0
    max_transfers: int = 4
    step_free: bool = False
    optimize: Optimize = Optimize.BALANCED
    language: str = "en"
    wanted: int = 3
    best_only: bool = False
    window_s: int | None = None

    def between(self, origin: Location, destination: Location) -> "JourneyQuery":
        """Return a query with these parameters between two places, which replace those of an existing query."""
        parameters = {each.name: getattr(self, each.name) for each in fields(JourneyParameters)}
        return JourneyQuery(origin=origin, destination=destination, **parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyQuery(JourneyParameters):
    """A journey request between two places."""

    origin: Location
    destination: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class TextJourneyQuery:
    """A request for journeys that start now, between places given as text: names, ids, postcodes, ``lat,lon``.

    The source resolves the texts. ``sides`` are the names of the caller's parameters.
    """

    origin: str
    destination: str
    now: int
    step_free: bool
    sides: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyAnswer:
    """The journeys that a source found.

    ``timetabled`` are scheduled itineraries that realtime data makes unusable; answers still show them (rule B5).
    ``step_free_supported`` is False if the source has no wheelchair data.
    ``no_result_reason`` is the source's explanation of an empty answer, if any.
    ``has_stops``: whether a stop is within walking distance of the origin, and of the destination; None if unknown.
    ``is_final``: whether this network has no trip between these places, at any time and within any limits.
    """

    itineraries: tuple[Itinerary, ...]
    provenance: Provenance
    timetabled: tuple[Itinerary, ...] = ()
    step_free_supported: bool = True
    no_result_reason: str | None = None
    has_stops: tuple[bool, bool] | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureQuery:
    """A request for departures from ``stop_ids`` whose expected times are in [instant, instant + window_s].

    ``wanted`` is the number of departures that the caller shows; a source may leave out later departures, but not those
    in the same second as the last one shown. If ``by_schedule``, the window and the order use scheduled times, and
    added trips are left out. A source without timetables always uses expected times. ``walk_from`` is the rider's
    position, or None for a board without walks.
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
class ServiceGap:
    """The next departure, which explains why a board is empty or why an origin or destination has no trips.

    ``next_departure`` is its instant (Unix seconds); ``next_day`` is its day if that is after the days searched;
    both are None if there is no later departure. ``last_day`` is the last day with any departure, or None.
    ``cancelled_until`` is the day of the last departure found, if every departure found is cancelled. If
    ``of_arrivals``, all fields refer to arrivals. If ``is_before``, the fields describe the last departure before an
    instant, and ``last_day`` is the first day with any departure.
    """

    next_departure: int | None = None
    next_day: date | None = None
    last_day: date | None = None
    cancelled_until: date | None = None
    of_arrivals: bool = False
    is_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureBoard:
    """The first departures on a board, in any order, and the total number found.

    ``alerts`` are the alerts that affect the stops during the window. ``gap`` is set for an empty board if the source
    knows the next departure. ``walks`` holds the walks from ``walk_from`` to stops within reach, keyed by stop id; None
    if not computed.
    """

    departures: Sequence[Departure]
    found_count: int
    provenance: Provenance
    alerts: Sequence[ServiceAlert] = ()
    gap: ServiceGap | None = None
    walks: Mapping[str, WalkToStop] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyStops:
    """Boardable stops near a point, sorted by distance and then by id."""

    stops: Sequence[NearbyStop]
    provenance: Provenance


class Network(Protocol):
    """A named transit network, implemented by its source.

    Callers use only the abilities that its profile declares. Subclasses inherit default methods for the optional
    abilities that they lack.
    """

    @property
    def profile(self) -> NetworkProfile:
        """The network's properties, available without a query; they change when its record changes."""
        ...

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Return journeys in any order, including the best ones.

        Raises:
            OutsideCalendar: the timetable does not cover the day.
        """
        ...

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        """Return the journeys between two places given as text; requires ``reads_texts`` in the profile.

        Raises:
            PlaceAmbiguous: a text matches several places; ``details["side"]`` and ``details["candidates"]`` describe
                the first such text, best candidate first; ``details["other"]`` describes the second, if any.
            PlaceUnknown: no place matches a text; the message names the side.
        """
        name = self.profile.name
        raise NotImplementedError(f"{name} does not resolve place names")

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """Return the first departures in the window, leaving out stop times at which riders cannot board."""
        ...

    async def find_ride(self, ref: RideRef, *, language: str = "en") -> JourneyAnswer:
        """Return a ref's ride as a one-leg itinerary, or only ``no_result_reason`` if the ride no longer exists."""
        raise NotImplementedError(f"{self.profile.name} does not look up rides")

    async def find_service(self, query: JourneyQuery, *, is_destination: bool) -> ServiceGap | None:
        """Describe the service near the origin or destination; None if there is no stop or only a server can answer.

        The result covers departures near the origin, or arrivals near the destination: the next ones at or after the
        query's instant or, if ``arrive_by``, the last ones before it.
        """
        return None

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Return the places whose names match the text, best first (rule D2)."""
        ...

    async def find_stop(self, stop_id: str, *, language: str | None = None, whole_place: bool = False) -> Place | None:
        """Return the stop or station with this id (case-insensitive), or None.

        The ``member_ids`` of a station are the ids of its boardable stops; a stop has only its own id. If
        ``whole_place``, return the place that contains the stop, with all its stops (rule D2).
        """
        ...

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """Return boardable stops within a straight-line radius."""
        ...

    async def find_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Return a place at the position, named after an address or a place in the network's own data, or None.

        The position is never sent to a server.
        """
        return None

    def find_line(self, leg: Leg) -> LegLine | None:
        """Return a leg's line on the map, or None for another network's leg."""
        return None

    async def find_basemap(self, box: Bounds, leg: Leg) -> Basemap | None:
        """Return the water and ways in a box around a leg; None if there is no map, or for another network's leg.

        An answer credits only the sources of its own legs, so a network's map is drawn only for that network's legs.
        """
        return None

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return the state of the network's realtime sources, or None if it has none."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNetworks:
    """The open networks, and the errors of networks that cannot be used.

    ``answering`` are in order of preference (rule A13); ``by_token_only`` are demo networks, which resolve only their
    own ids once a network has been added; ``fallbacks`` answer only in place of other networks; ``problems`` holds an
    error message for each network that cannot be used.
    """

    answering: tuple[Network, ...] = ()
    by_token_only: tuple[Network, ...] = ()
    fallbacks: tuple[Network, ...] = ()
    problems: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def list_owners(self, stop_id: str) -> list[Network]:
        """Return the networks with the feed of a stop id (the part before its first colon), in order of preference."""
        feed, colon, _ = stop_id.strip().upper().partition(":")
        if not colon:
            return []
        return [network for network in chain(self.answering, self.by_token_only) if feed in network.profile.feed_names]


class Networks(Protocol):
    """The networks in a home folder, which may be added or removed between calls."""

    async def open(self) -> OpenNetworks:
        """Return the recorded networks; those that cannot be opened are in ``problems``."""
        ...


class NetworkSource(Protocol):
    """A kind of source, such as the embedded engine or OpenTripPlanner, that opens networks from their records."""

    def stamp(self) -> Hashable:
        """Return a value that changes when a network of this kind must be reopened; called before each query."""
        return None

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> Network:
        """Open the network of a record, or return the open one with its record updated. This may block.

        ``learned`` holds the facts that a remote server reported when the network was added or refreshed, if any.

        Raises:
            SettingsInvalid: the network cannot be opened; the message includes a remedy.
        """
        ...

    def retire(self, name: str) -> None:
        """Stop any background work of a network whose record was removed."""
        return

    async def close(self) -> None:
        """Stop any background work of this source's networks; a later ``open`` starts it again."""
        return
