"""Helpers for the conformance checks: assertions, and queries to the network under test."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from fingerpost.testing.networks.town import DAY, Town, to_unix
from fingerpost.transit.model.itinerary import Itinerary, Leg
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.ride_ref import RideRef, list_refs
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, Network


class NetworkBroken(AssertionError):
    """A source fails a conformance check."""


class AbilityMissing(Exception):
    """A check needs an ability that the network does not declare."""

    def __init__(self, ability: Ability) -> None:
        super().__init__(ability)
        self.ability = ability


# The abilities that individual plan options require.
_ABILITIES_BY_OPTION = {"arrive_by": Ability.ARRIVE_BY, "step_free": Ability.STEP_FREE}


@dataclass(frozen=True, slots=True)
class TownNetwork:
    """A network that serves the town. Its shorthand queries raise AbilityMissing if the network lacks an ability."""

    network: Network
    town: Town

    def can(self, ability: Ability) -> bool:
        return self.network.profile.can(ability)

    def require(self, *abilities: Ability) -> None:
        for ability in abilities:
            if not self.can(ability):
                raise AbilityMissing(ability)

    @property
    def places(self) -> Network:
        """Return the network if it supports place look-ups, or raise AbilityMissing."""
        self.require(Ability.NAMES, Ability.STOPS)
        return self.network

    def stop(self, name: str) -> Location:
        return Location(
            coordinate=self.town.coordinate(name),
            source=LocationSource.INPUT,
            name=name,
            stop_ids=(self.town.stop_id(name),),
        )

    def point(self, coordinate: Coordinate) -> Location:
        return Location(coordinate=coordinate, source=LocationSource.INPUT)

    async def plan(
        self, origin: str | Location, destination: str | Location, clock: str, **options: object
    ) -> JourneyAnswer:
        self.require(Ability.PLANS)
        self.require(*(ability for option, ability in _ABILITIES_BY_OPTION.items() if options.get(option)))
        start, end = (self.stop(place) if isinstance(place, str) else place for place in (origin, destination))
        query = JourneyQuery(origin=start, destination=end, instant=to_unix(clock), **options)  # type: ignore[arg-type]
        return await self.network.plan_journeys(query)

    async def find_rides(self, itineraries: Iterable[Itinerary]) -> list[tuple[Leg, Leg | None]]:
        """Return each ride that has a ref, with the ride that the network finds for that ref."""
        refs = [
            (leg, RideRef.read(ref))
            for trip in itineraries
            for leg, ref in zip(trip.legs, list_refs(trip), strict=True)
            if ref
        ]
        answers = [await self.network.find_ride(ref) for _, ref in refs if ref]
        found = [answer.itineraries[0].rides[0] if answer.itineraries else None for answer in answers]
        return list(zip([ride for ride, _ in refs], found, strict=True))

    async def board(
        self, stop: str, first: str, last: str, wanted: int = 50, *, day: date = DAY, by_schedule: bool = False
    ) -> DepartureBoard:
        """List the departures from a stop between two clock times on a day, by expected or scheduled time."""
        self.require(Ability.BOARDS, *([Ability.TIMETABLES] if by_schedule or day != DAY else []))
        query = DepartureQuery(
            stop_ids=[self.town.stop_id(stop)],
            instant=to_unix(first, day),
            window_s=to_unix(last) - to_unix(first),
            wanted=wanted,
            by_schedule=by_schedule,
        )
        return await self.network.list_departures(query)


@dataclass(frozen=True, slots=True)
class NetworkCheck:
    """One check in the suite. ``live`` checks need realtime data, which the town then serves."""

    run: Callable[[TownNetwork], Awaitable[None]]
    live: bool

    @property
    def name(self) -> str:
        return self.run.__name__

    def __str__(self) -> str:
        return self.name


def expect(condition: bool, sentence: str, got: object = None) -> None:
    if not condition:
        raise NetworkBroken(sentence if got is None else f"{sentence}; got {got!r}"[:800])


def expect_same(got: object, expected: object, sentence: str) -> None:
    if got != expected:
        raise NetworkBroken(f"{sentence}: expected {expected!r}, got {got!r}"[:800])


def format_trip(itinerary: Itinerary) -> str:
    """Format the scheduled rides of an itinerary: ``2 08:12-08:22, 3 08:27-08:45``."""
    return ", ".join(
        f"{leg.line} {_format_time(leg.departure_scheduled)}-{_format_time(leg.arrival_scheduled)}"
        for leg in itinerary.rides
    )


def format_trips(itineraries: Collection[Itinerary]) -> list[str]:
    return sorted({format_trip(itinerary) for itinerary in itineraries}, key=lambda text: text.partition(" ")[2])


def format_board(board: DepartureBoard) -> list[str]:
    """Format the rows of a board, sorted by expected time: ``1 08:10``, followed by realtime data."""
    rows = sorted(board.departures, key=lambda row: (row.expected, row.line))
    return [
        f"{row.line} {_format_time(row.scheduled)}"
        + (" cancelled" if row.cancelled else "")
        + (f" {row.departure_delay_s:+d}" if row.departure_delay_s is not None else "")
        for row in rows
    ]


def list_rides(itineraries: Sequence[Itinerary]) -> list[Leg]:
    return [leg for itinerary in itineraries for leg in itinerary.rides]


def _format_time(instant: int) -> str:
    seconds = instant - to_unix("00:00")
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}"
