"""A network with a fallback that answers when it is unavailable (rule A13)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.transit.model import Coordinate, Place, PlaceMatch
from fingerpost.transit.networks.asking import UNAVAILABLE, late
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    NearbyStops,
    Network,
)
from fingerpost.transit.profile import Ability, NetworkProfile
from fingerpost.transit.provenance import Provenance, RealtimeHealth

_T = TypeVar("_T")
_AnswerT = TypeVar("_AnswerT", JourneyAnswer, DepartureBoard, NearbyStops)


class FallbackNetwork:
    """A network and its fallback; both share FEED and tokens, so ids are valid in either.

    The profile is the first network's. What an answer lacks because the fallback gave it stands in its provenance.
    """

    def __init__(self, network: Network, fallback: Network) -> None:
        self._network = network
        self._fallback = fallback

    @property
    def profile(self) -> NetworkProfile:
        """The first network's profile, with whatever only the fallback can do."""
        own, other = self._network.profile, self._fallback.profile
        return replace(
            own,
            abilities=own.abilities | other.abilities,
            feed_names=own.feed_names | other.feed_names,
        )

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Plan, on the fallback if need be; see the port."""
        needed = (Ability.PLANS, Ability.ARRIVE_BY) if query.arrive_by else (Ability.PLANS,)
        return await self._ask(needed, lambda network: network.plan_journeys(query))

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """List a board, of the fallback if need be; see the port."""
        return await self._ask((Ability.BOARDS,), lambda network: network.list_departures(query))

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """List stops, of the fallback if need be; see the port."""
        return await self._ask(
            (Ability.STOPS,), lambda network: network.list_stops_near(coordinate, radius_m, language=language)
        )

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Find places; the fallback's names are as good, and nothing is lost by them."""
        found, _ = await self._ask_either(
            (Ability.NAMES,), lambda network: network.find_places(text, language=language, focus=focus)
        )
        return found

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop in either network; see the port."""
        found, _ = await self._ask_either(
            (Ability.NAMES,), lambda network: network.find_stop(stop_id, language=language)
        )
        return found

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop's place in either network; see the port."""
        found, _ = await self._ask_either(
            (Ability.NAMES,), lambda network: network.find_stop_place(stop_id, language=language)
        )
        return found

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return how the first network's real time fares; see the port."""
        return await self._network.find_realtime_health()

    async def _ask(self, needed: Sequence[Ability], query: Callable[[Network], Awaitable[_AnswerT]]) -> _AnswerT:
        answer, failure = await self._ask_either(needed, query)
        if failure is None:
            return answer
        return replace(answer, provenance=self._say_what_is_lost(answer.provenance, failure))

    async def _ask_either(
        self, needed: Sequence[Ability], query: Callable[[Network], Awaitable[_T]]
    ) -> tuple[_T, ToolError | None]:
        """Return an answer, and why it is the fallback's, None where it is not."""
        if not self._network.profile.can(*needed):
            return await query(self._fallback), None
        profile = self._network.profile
        deadline_s = profile.names_deadline_s if Ability.NAMES in needed else profile.answer_deadline_s
        # Whoever waits for both must not have lost patience when the fallback is asked.
        limit_s = None if deadline_s is None else deadline_s / 2
        try:
            async with clock.time_limit(limit_s):
                return await query(self._network), None
        except UNAVAILABLE as error:
            failure = late(profile, limit_s) if isinstance(error, TimeoutError) else error
        if not self._fallback.profile.can(*needed):
            raise failure
        return await query(self._fallback), failure

    def _say_what_is_lost(self, provenance: Provenance, failure: ToolError) -> Provenance:
        own, other = self._network.profile, self._fallback.profile
        missing = sorted(ability.value for ability in own.abilities - other.abilities)
        lost = f"{own.name} could not be asked ({failure.message.rstrip('.')}); its fallback {other.name} answered"
        lost += f", without {', '.join(missing)}." if missing else "."
        return replace(provenance, network=own.name, lost=(*provenance.lost, lost))
