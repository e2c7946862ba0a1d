"""Helpers for the conformance checks: assertions, and queries to the network under test."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.ride_ref import RideRef, list_refs
from fingerpost.transit.port import DepartureQuery, JourneyQuery, Network
from tests.conformance.town import DAY, Town, to_unix


class NetworkBroken(AssertionError):
    """A source fails a conformance check."""


class AbilityMissing(Exception):
    """A check needs an ability that the network does not declare."""

    def __init__(self, ability):
        super().__init__(ability)
        self.ability = ability


# The abilities that individual plan options require.
_ABILITIES_BY_OPTION = {"arrive_by": Ability.ARRIVE_BY, "step_free": Ability.STEP_FREE}


@dataclass(frozen=True, slots=True)
class TownNetwork:
    """A network that serves the town. Its shorthand queries raise AbilityMissing if the network lacks an ability."""

    network: Network
    town: Town

    def can(self, ability):
        return self.network.profile.can(ability)

    def require(self, *abilities):
        for ability in abilities:
            if not self.can(ability):
                raise AbilityMissing(ability)

    @property
    def places(self):
        self.require(Ability.NAMES, Ability.STOPS)
        return self.network

    def stop(self, name):
        return Location(
            coordinate=self.town.coordinate(name),
            source=LocationSource.INPUT,
            name=name,
            stop_ids=(self.town.stop_id(name),),
        )

    def point(self, coordinate):
        return Location(coordinate=coordinate, source=LocationSource.INPUT)

    async def plan(self, origin, destination, clock, **options):
        self.require(Ability.PLANS)
        self.require(*(ability for option, ability in _ABILITIES_BY_OPTION.items() if options.get(option)))
        start, end = (self.stop(place) if isinstance(place, str) else place for place in (origin, destination))
        query = JourneyQuery(origin=start, destination=end, instant=to_unix(clock), **options)
        return await self.network.plan_journeys(query)

    async def find_rides(self, itineraries):
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

    async def board(self, stop, first, last, wanted=50, *, day=DAY, by_schedule=False):
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
    def name(self):
        return self.run.__name__

    def __str__(self):
        return self.name


def expect(condition, sentence, got=None):
    if not condition:
        raise NetworkBroken(sentence if got is None else f"{sentence}; got {got!r}"[:800])


def expect_same(got, expected, sentence):
    if got != expected:
        raise NetworkBroken(f"{sentence}: expected {expected!r}, got {got!r}"[:800])


def format_trip(itinerary):
    """Format the scheduled rides of an itinerary: ``2 08:12-08:22, 3 08:27-08:45``."""
    return ", ".join(
        f"{leg.line} {_format_time(leg.departure_scheduled)}-{_format_time(leg.arrival_scheduled)}"
        for leg in itinerary.rides
    )


def format_trips(itineraries):
    return sorted({format_trip(itinerary) for itinerary in itineraries}, key=lambda text: text.partition(" ")[2])


def format_board(board):
    """Format the rows of a board, sorted by expected time: ``1 08:10``, followed by realtime data."""
    rows = sorted(board.departures, key=lambda row: (row.expected, row.line))
    return [
        f"{row.line} {_format_time(row.scheduled)}"
        + (" cancelled" if row.cancelled else "")
        + (f" {row.departure_delay_s:+d}" if row.departure_delay_s is not None else "")
        for row in rows
    ]


def list_rides(itineraries):
    return [leg for itinerary in itineraries for leg in itinerary.rides]


def _format_time(instant):
    seconds = instant - to_unix("00:00")
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}"
