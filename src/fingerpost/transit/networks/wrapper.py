"""Base class for networks that wrap another network."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from fingerpost.transit import port
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.port import Network

_T = TypeVar("_T")


class WrapperNetwork(Network, ABC):
    """A network that passes queries to another through ``forward``; ``names`` marks geocoder queries.

    Remote servers provide no map, addresses or realtime health, so only ``FallbackNetwork`` forwards such queries.
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    @property
    def profile(self) -> NetworkProfile:
        return self.network.profile

    @abstractmethod
    async def forward(self, query: Callable[[Network], Awaitable[_T]], *, names: bool = False) -> _T: ...

    async def plan_journeys(self, query: port.JourneyQuery) -> port.JourneyAnswer:
        return await self.forward(lambda network: network.plan_journeys(query))

    async def plan_texts(self, query: port.TextJourneyQuery) -> port.JourneyAnswer:
        return await self.forward(lambda network: network.plan_texts(query))

    async def list_departures(self, query: port.DepartureQuery) -> port.DepartureBoard:
        return await self.forward(lambda network: network.list_departures(query))

    async def find_ride(self, ref: RideRef, *, language: str = "en") -> port.JourneyAnswer:
        return await self.forward(lambda network: network.find_ride(ref, language=language))

    async def has_stops(self, query: port.JourneyQuery, *, is_destination: bool) -> bool | None:
        return await self.network.has_stops(query, is_destination=is_destination)

    async def find_service(self, query: port.JourneyQuery, *, is_destination: bool) -> port.ServiceGap | None:
        return await self.network.find_service(query, is_destination=is_destination)

    async def list_stops_near(
        self, coordinate: Coordinate, radius_m: float, *, language: str = "en"
    ) -> port.NearbyStops:
        return await self.forward(lambda network: network.list_stops_near(coordinate, radius_m, language=language))

    async def find_stop(self, stop_id: str, *, language: str | None = None, whole_place: bool = False) -> Place | None:
        return await self.forward(
            lambda network: network.find_stop(stop_id, language=language, whole_place=whole_place)
        )

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        return await self.forward(lambda network: network.find_places(text, language=language, focus=focus), names=True)

    def find_line(self, leg: Leg) -> LegLine | None:
        return self.network.find_line(leg)
