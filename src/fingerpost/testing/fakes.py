"""Networks that answer what they were told to: sources without a timetable, for tests and benchmarks of tools.

They enter by the same door as real ones: ``FakeNetwork`` is a ``transit.port.Network``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fingerpost.errors import ToolError
from fingerpost.transit.model import (
    Bounds,
    Coordinate,
    Departure,
    Mode,
    NearbyStop,
    Place,
    PlaceMatch,
    Provenance,
)
from fingerpost.transit.port import BoardAnswer, BoardQuestion, JourneyAnswer, JourneyQuestion

EVERYWHERE = Bounds(south=-90, west=-180, north=90, east=180)


@dataclass(kw_only=True)
class FakeNetwork:
    """A network whose answers are given.

    Attributes:
        journeys: the answers to ``plan_journeys``, one a question; the last one again for every later question.
            An error is raised.
        departures: the answer to every ``list_departures``; an error is raised.
        places: what ``find_places`` returns for a text that is its key, ``find_stop`` for an id.
        near: what ``list_stops_near`` returns.
        asked: the questions so far, in order.
    """

    name: str = "FAKE"
    bounds: Bounds = EVERYWHERE
    zone: str = "Europe/Helsinki"
    is_demo: bool = False
    modes: frozenset[Mode] = frozenset({Mode.BUS})
    journeys: Sequence[JourneyAnswer | ToolError] = (JourneyAnswer(itineraries=()),)
    departures: Sequence[Departure] | ToolError = ()
    places: dict[str, Sequence[PlaceMatch]] = field(default_factory=dict)
    near: Sequence[NearbyStop] = ()
    provenance: Provenance | None = None
    asked: list[JourneyQuestion | BoardQuestion] = field(default_factory=list)

    @property
    def journeys_asked(self) -> list[JourneyQuestion]:
        """The questions for trips so far."""
        return [question for question in self.asked if isinstance(question, JourneyQuestion)]

    def describe(self, language: str) -> Provenance:
        """Return the given provenance, else one that names the network."""
        return self.provenance or Provenance(network=self.name, source="fake", zone=self.zone, language=language)

    async def plan_journeys(self, question: JourneyQuestion) -> JourneyAnswer:
        """Return the next given answer."""
        answer = self.journeys[min(len(self.journeys_asked), len(self.journeys) - 1)]
        self.asked.append(question)
        if isinstance(answer, ToolError):
            raise answer
        return answer

    async def list_departures(self, question: BoardQuestion) -> BoardAnswer:
        """Return the given departures, those outside the window too, and count those within."""
        self.asked.append(question)
        if isinstance(self.departures, ToolError):
            raise self.departures
        last = question.instant + question.window_s
        within = [each for each in self.departures if question.instant <= each.expected <= last]
        return BoardAnswer(departures=self.departures, found_count=len(within))

    async def find_places(
        self,
        text: str,
        *,
        language: str | None = None,  # noqa: ARG002  # the port's signature
        focus: Coordinate | None = None,  # noqa: ARG002
    ) -> Sequence[PlaceMatch]:
        """Return what is given for exactly this text."""
        return self.places.get(text, ())

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Return the given place of this id."""
        known = (match.place for matches in self.places.values() for match in matches)
        return next((place for place in known if place.id is not None and place.id.upper() == stop_id.upper()), None)

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Return the given place of this id."""
        return await self.find_stop(stop_id, language=language)

    async def list_stops_near(
        self,
        coordinate: Coordinate,  # noqa: ARG002
        radius_m: float,
        *,
        language: str = "en",  # noqa: ARG002
    ) -> Sequence[NearbyStop]:
        """Return the given stops that lie within the radius."""
        return [stop for stop in self.near if stop.distance_m <= radius_m]


class FakeNetworks:
    """Some networks, in the order given; an error instead is raised."""

    def __init__(self, *networks: FakeNetwork, error: ToolError | None = None) -> None:
        self.networks = networks
        self._error = error

    async def list_networks(self) -> Sequence[FakeNetwork]:
        """Return the networks."""
        if self._error is not None:
            raise self._error
        return self.networks
