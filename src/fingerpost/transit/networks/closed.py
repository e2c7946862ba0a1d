"""A stand-in for a network that could not be opened, so that its fallback answers and says why."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Never

from fingerpost.errors import SourceFailed
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import RealtimeHealth
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, NearbyStops


class ClosedNetwork:
    """A network that raises the reason why it could not be opened on every query.

    Args:
        name: the network's name.
        problem: a sentence on why it could not be opened.
        fallback: the profile of the network that will answer; what is not known of this one is taken from there.
        priority: of this network's own record.
    """

    def __init__(self, name: str, problem: str, fallback: NetworkProfile, *, priority: int = 0) -> None:
        self._problem = problem
        self._profile = replace(fallback, name=name, priority=priority)

    @property
    def profile(self) -> NetworkProfile:
        """The fallback's profile under this network's name and priority."""
        return self._profile

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:  # noqa: ARG002  # the port's signature
        """Raise SourceFailed."""
        self._refuse()

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:  # noqa: ARG002
        """Raise SourceFailed."""
        self._refuse()

    async def find_places(
        self,
        text: str,  # noqa: ARG002
        *,
        language: str | None = None,  # noqa: ARG002
        focus: Coordinate | None = None,  # noqa: ARG002
    ) -> Sequence[PlaceMatch]:
        """Raise SourceFailed."""
        self._refuse()

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Raise SourceFailed."""
        self._refuse()

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:  # noqa: ARG002
        """Raise SourceFailed."""
        self._refuse()

    async def list_stops_near(
        self,
        coordinate: Coordinate,  # noqa: ARG002
        radius_m: float,  # noqa: ARG002
        *,
        language: str = "en",  # noqa: ARG002
    ) -> NearbyStops:
        """Raise SourceFailed."""
        self._refuse()

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return None: nothing is followed."""
        return None

    def _refuse(self) -> Never:
        raise SourceFailed(self._problem)
