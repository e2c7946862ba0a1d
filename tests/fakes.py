"""Fake networks with given answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Departure, Itinerary, Mode, NearbyStop
from fingerpost.transit.model.place import Bounds, PlaceMatch
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    NearbyStops,
    Network,
    OpenNetworks,
)

EVERYWHERE = Bounds(south=-90, west=-180, north=90, east=180)


@dataclass(frozen=True)
class Journeys:
    """The content of a ``JourneyAnswer``."""

    itineraries: Sequence[Itinerary] = ()
    timetabled: Sequence[Itinerary] = ()
    step_free_supported: bool = True


Found = Sequence[Itinerary] | Journeys


@dataclass(kw_only=True)
class FakeNetwork(Network):
    """A network with given answers; errors among them are raised.

    ``journeys`` are the answers to ``plan_journeys`` in turn, the last one for ever; ``asked`` the queries so far.
    """

    name: str = "FAKE"
    bounds: Bounds = EVERYWHERE
    zone: str = "Europe/Helsinki"
    is_demo: bool = False
    modes: frozenset[Mode] = frozenset({Mode.BUS})
    abilities: frozenset[Ability] = frozenset(Ability)
    feed_names: frozenset[str] | None = None
    priority: int = 0
    last_day: date | None = None
    journeys: Sequence[Found | ToolError] = ((),)
    departures: Sequence[Departure] | ToolError = ()
    places: dict[str, Sequence[PlaceMatch]] = field(default_factory=dict)
    near: Sequence[NearbyStop] = ()
    provenance: Provenance | None = None
    asked: list[JourneyQuery | DepartureQuery] = field(default_factory=list)

    @property
    def profile(self) -> NetworkProfile:
        known = (match.place.id or "" for matches in self.places.values() for match in matches)
        feeds = frozenset(each.partition(":")[0].upper() for each in known if ":" in each)
        return NetworkProfile(
            name=self.name,
            source="fake",
            bounds=self.bounds,
            zone=self.zone,
            abilities=self.abilities,
            feed_names=feeds if self.feed_names is None else self.feed_names,
            modes=self.modes,
            last_day=self.last_day,
            is_demo=self.is_demo,
            priority=self.priority,
        )

    @property
    def journeys_asked(self) -> list[JourneyQuery]:
        return [question for question in self.asked if isinstance(question, JourneyQuery)]

    def describe(self, language: str) -> Provenance:
        return self.provenance or Provenance(
            network=self.name,
            source="fake",
            zone=self.zone,
            language=language,
            retrieved_at=int(clock.now().timestamp()),
        )

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        found = self.journeys[min(len(self.journeys_asked), len(self.journeys) - 1)]
        self.asked.append(query)
        if isinstance(found, ToolError):
            raise found
        given = found if isinstance(found, Journeys) else Journeys(found)
        return JourneyAnswer(
            itineraries=tuple(given.itineraries),
            timetabled=tuple(given.timetabled),
            step_free_supported=given.step_free_supported,
            provenance=self.describe(query.language),
        )

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        self.asked.append(query)
        if isinstance(self.departures, ToolError):
            raise self.departures
        last = query.instant + query.window_s
        times = [each.scheduled if query.by_schedule else each.expected for each in self.departures]
        within = [each for each in times if query.instant <= each <= last]
        return DepartureBoard(
            departures=self.departures, found_count=len(within), provenance=self.describe(query.language)
        )

    async def find_places(self, text, *, language=None, focus=None):
        return self.places.get(text, ())

    async def find_stop(self, stop_id, *, language=None, whole_place=False):
        known = (match.place for matches in self.places.values() for match in matches)
        return next((place for place in known if place.id is not None and place.id.upper() == stop_id.upper()), None)

    async def list_stops_near(self, coordinate, radius_m, *, language="en"):
        near = [stop for stop in self.near if stop.distance_m <= radius_m]
        return NearbyStops(stops=near, provenance=self.describe(language))


class FakeNetworks:
    """Some networks, or an error to raise."""

    def __init__(self, *networks, error=None, problems=None):
        self.networks = networks
        self._error = error
        self._problems = problems or {}

    async def open(self):
        if self._error is not None:
            raise self._error
        return OpenNetworks(answering=self.networks, problems=self._problems)

    async def close(self):
        pass
