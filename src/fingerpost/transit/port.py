"""What a source of public transport can do: small protocols, which tools see instead of providers.

Instants are Unix seconds, durations seconds, distances metres.
Every method may raise the branches of ``fingerpost.errors.StorageUnavailable``.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model import (
    Bounds,
    Coordinate,
    Departure,
    Fare,
    Itinerary,
    Leg,
    LegLine,
    Location,
    Mode,
    NearbyStop,
    Optimize,
    Place,
    PlaceMatch,
    Provenance,
    RealtimeHealth,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyQuestion:
    """A trip that somebody wants to make.

    ``instant`` is the earliest departure, or the latest arrival where ``arrive_by``.
    ``max_walk_m`` bounds the sum of an itinerary's walking.
    ``wanted`` is how many good itineraries the caller will show; a source offers that many and one more if it can.
    """

    origin: Location
    destination: Location
    instant: int
    arrive_by: bool = False
    max_walk_m: float = 1500.0
    max_transfers: int = 4
    step_free: bool = False
    optimize: Optimize = Optimize.BALANCED
    language: str = "en"
    wanted: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyAnswer:
    """What a source found.

    ``timetabled`` holds what the timetable promised where realtime took it away: disrupted itineraries
    that stay visible (ruling B5).
    ``step_free_supported`` is False where the source has no wheelchair data at all.
    """

    itineraries: tuple[Itinerary, ...]
    timetabled: tuple[Itinerary, ...] = ()
    step_free_supported: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardQuestion:
    """Departures from some stops, expected in [instant, instant + window_s], both ends included.

    ``wanted`` is how many of the first of them the caller will show; a source may leave out the rest.
    """

    stop_ids: Sequence[str]
    instant: int
    window_s: int
    wanted: int
    language: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardAnswer:
    """The first departures of a board, order not promised, and how many there are in all."""

    departures: Sequence[Departure]
    found_count: int


class PlansJourneys(Protocol):
    """A source that plans trips."""

    async def plan_journeys(self, question: JourneyQuestion) -> JourneyAnswer:
        """Return what the source found, best choices included, order not promised.

        Raises:
            OutsideCalendar: the timetable does not cover the day.
        """
        ...


class ListsDepartures(Protocol):
    """A source of departure boards."""

    async def list_departures(self, question: BoardQuestion) -> BoardAnswer:
        """Return the departures of the window that leave first, calls without boarding left out."""
        ...


class FindsPlaces(Protocol):
    """A source that turns text and ids into places."""

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Return candidates, best first (ruling D2); empty where nothing resembles the text."""
        ...

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the one stop or station of that id, case ignored, or None.

        A station's ``member_ids`` are its boardable stops, a stop's its own id.
        """
        ...

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the whole place that a stop id stands for as a retry token, or None (ruling D2)."""
        ...


class FindsStops(Protocol):
    """A source that knows which stops lie near a point."""

    async def list_stops_near(
        self, coordinate: Coordinate, radius_m: float, *, language: str = "en"
    ) -> Sequence[NearbyStop]:
        """Return boardable stops within the straight-line radius, nearest first, then by id."""
        ...


@runtime_checkable
class FollowsRealtime(Protocol):
    """A source that reads real time of its own, and can say how that fares."""

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return how the sources of real time fare now, None where there are none."""
        ...


@runtime_checkable
class PricesItineraries(Protocol):
    """A source that knows what its own itineraries cost."""

    def price(self, itinerary: Itinerary) -> Fare | None:
        """Return what an itinerary that this source has planned costs, or why it cannot say; None for walks alone."""
        ...


@runtime_checkable
class DrawsLegs(Protocol):
    """A source that knows where the legs of its own itineraries run."""

    def draw_leg(self, leg: Leg) -> LegLine:
        """Return the line of a leg that this source has planned."""
        ...


class Network(PlansJourneys, ListsDepartures, FindsPlaces, FindsStops, Protocol):
    """One region's public transport behind one name."""

    @property
    def name(self) -> str:
        """The network's name, upper case."""
        ...

    @property
    def bounds(self) -> Bounds:
        """The box that the network covers."""
        ...

    @property
    def zone(self) -> str:
        """The IANA time zone that riders are told times in."""
        ...

    @property
    def is_demo(self) -> bool:
        """Whether this is a demo network, which any added network beats."""
        ...

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that run here."""
        ...

    def describe(self, language: str) -> Provenance:
        """Return what every answer says about where it comes from."""
        ...


class Networks(Protocol):
    """The networks that are there now; one may come or go between two calls."""

    async def list_networks(self) -> Sequence[Network]:
        """Return all networks in order of preference (ruling A13): added before demo, then smaller area first.

        Raises:
            SettingsInvalid: a stored network cannot be read; the message says what to do.
        """
        ...


class Source(Protocol):
    """One kind of source, such as the embedded engine or OpenTripPlanner; it opens the networks of its records."""

    @property
    def kind(self) -> str:
        """The word in a record's ``source``."""
        ...

    async def complete(self, record: NetworkRecord) -> NetworkRecord:
        """Return a new record with what the source itself knows: bounds, zone, languages; asked once, when it is added.

        Raises:
            ParameterError: the record lacks what this kind of source needs.
            StorageUnavailable: the source cannot be asked.
        """
        ...

    def stamp(self, record: NetworkRecord) -> Hashable:
        """Return a value that changes whenever the network of a record must be opened anew; cheap."""
        ...

    def open(self, record: NetworkRecord, before: Network | None) -> Network:
        """Open the network of a record; ``before`` is what was open for it until now. May block.

        Raises:
            SettingsInvalid: it cannot be opened; the message says what to do.
        """
        ...

    async def close(self) -> None:
        """End what goes on behind the networks' answers."""
        ...
