"""A network that could not be opened, so that its fallback can answer in its stead and say why."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Never

from fingerpost.errors import SourceFailed
from fingerpost.transit.model import Coordinate, Place, PlaceMatch
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, NearbyStops
from fingerpost.transit.profile import NetworkProfile
from fingerpost.transit.provenance import RealtimeHealth


class ClosedNetwork:
    """A network whose every answer is the reason why it cannot be used.

    Args:
        name: the network's name.
        problem: a sentence on why it could not be opened.
        fallback: the profile of the network that will answer; what is not known of this one is taken from there.
    """

    def __init__(self, name: str, problem: str, fallback: NetworkProfile) -> None:
        self._problem = problem
        self._profile = replace(fallback, name=name)

    @property
    def profile(self) -> NetworkProfile:
        """The fallback's profile under this network's name."""
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
