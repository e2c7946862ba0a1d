"""Search journeys on a server: the ends of a trip, and what pages of results add up to."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, distance_m
from fingerpost.transit.rules.trip_limits import UNMEASURED, is_possible, say_impossible

PAGE_SIZE = 6
"""Itineraries to request at least: more than are shown, because some walk too far."""

# A saved place and the stop saved with it are one place within this distance (rule D2).
_SAME_PLACE_M = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEnd:
    """One end of a trip: a stop by the server's id, else a position."""

    location: Location
    stop_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStop:
    """A stop by the server's own ids."""

    stop_id: str
    station_id: str | None
    coordinate: Coordinate


async def find_end(
    location: Location,
    list_own: Callable[[str], Sequence[str]],
    find_stops: Callable[[Sequence[str]], Awaitable[Sequence[KnownStop]]],
) -> JourneyEnd:
    """Return an end: of several stops the station that they share, else the nearest one (rule D2).

    ``list_own`` returns the server's ids of a printed one, ``find_stops`` what it knows of some printed ids.
    """
    if not location.stop_ids:
        return JourneyEnd(location=location)
    may_be_elsewhere = location.source is LocationSource.USER_VARIABLE
    if len(location.stop_ids) == 1 and not may_be_elsewhere:
        own = list_own(location.stop_ids[0])
        if len(own) == 1:
            return JourneyEnd(location=location, stop_id=own[0])
    away = [(distance_m(location.coordinate, stop.coordinate), stop) for stop in await find_stops(location.stop_ids)]
    if may_be_elsewhere:
        away = [(metres, stop) for metres, stop in away if metres <= _SAME_PLACE_M]
    if not away:
        return JourneyEnd(location=location)
    stations = {stop.station_id for _, stop in away}
    shared = stations.pop() if len(stations) == 1 and len(away) > 1 else None
    _, nearest = min(away, key=lambda pair: pair[0])
    return JourneyEnd(location=location, stop_id=shared or nearest.stop_id)


@dataclass(slots=True)
class FoundJourneys:
    """What pages of results add up to.

    Attributes:
        live: itineraries within the query's limits, by real time.
        promised: unusable ones that the timetable promised.
        troubles: notes on what the server left out.
        impossible: itineraries whose times contradict each other.
        walks_too_far: whether any was dropped because of its walking.
    """

    live: list[Itinerary] = field(default_factory=list)
    promised: list[Itinerary] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    impossible: set[Itinerary] = field(default_factory=set)
    has_unmeasured_walk: bool = False
    walks_too_far: bool = False
    retrieved_at: datetime | None = None

    @property
    def notes(self) -> list[str]:
        """Sentences on what was left out, and what was guessed."""
        return [
            *dict.fromkeys(self.troubles),
            *([UNMEASURED] if self.has_unmeasured_walk else []),
            *self.list_left_out(),
            *say_impossible(len(self.impossible)),
        ]

    def list_left_out(self) -> list[str]:
        """Return notes of the dialect's own."""
        return []

    @property
    def has_rides(self) -> bool:
        return any(itinerary.rides for itinerary in self.live)

    def drop_impossible(self, itineraries: Sequence[Itinerary]) -> list[Itinerary]:
        possible = [itinerary for itinerary in itineraries if is_possible(itinerary)]
        self.impossible.update(itinerary for itinerary in itineraries if not is_possible(itinerary))
        return possible

    def add_promised(self, itineraries: Iterable[Itinerary]) -> None:
        self.promised = list(dict.fromkeys([*self.promised, *itineraries]))

    def add_live(self, itineraries: Iterable[Itinerary]) -> None:
        self.live = list(dict.fromkeys([*self.live, *itineraries]))

    def add(self, other: "FoundJourneys") -> None:
        """Add what a second search found."""
        self.add_live(other.live)
        self.add_promised(other.promised)
        self.troubles += other.troubles
        self.impossible |= other.impossible
        self.has_unmeasured_walk |= other.has_unmeasured_walk
