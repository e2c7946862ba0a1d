"""A network with a fallback that answers when it is unavailable (rule A13)."""

import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.instruments import FALLBACKS, NETWORK
from fingerpost.transit.model.place import Coordinate, Location, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import Provenance, RealtimeHealth
from fingerpost.transit.networks.asking import (
    UNAVAILABLE,
    ask_within,
    failures_of_this_call,
    late,
    measuring_query,
    note_stand_in,
)
from fingerpost.transit.networks.known_ids import (
    KnownIds,
    has_feed_of,
    keep_known,
    split_by_asking,
    split_by_feed,
)
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    NamesPositions,
    NearbyStops,
    Network,
    PositionNamer,
    TextJourneyQuery,
    find_text_planner,
)

_T = TypeVar("_T")
_AnswerT = TypeVar("_AnswerT", JourneyAnswer, DepartureBoard, NearbyStops)


class _IdsUnknown(Exception):
    """The fallback knows none of the ids that it would have to answer for."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        super().__init__(", ".join(ids))


class FallbackNetwork:
    """A network and its fallback; both should share FEED and tokens.

    Where they do not, each is asked for what it knows, and what could not be asked for is said.
    The profile is the first network's. What an answer lacks because the fallback gave it stands in its provenance.
    """

    def __init__(self, network: Network, fallback: Network) -> None:
        self._network = network
        self._fallback = fallback

    @property
    def profile(self) -> NetworkProfile:
        """The first network's profile, with whatever only the fallback can do.

        A fallback in this process is waited for without a deadline, like any engine there.
        """
        own, other = self._network.profile, self._fallback.profile
        return replace(
            own,
            abilities=own.abilities | other.abilities,
            feed_names=own.feed_names | other.feed_names,
            stand_in=other.name,
            answer_deadline_s=None if other.answer_deadline_s is None else own.answer_deadline_s,
            names_deadline_s=None if other.names_deadline_s is None else own.names_deadline_s,
        )

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Plan, on the fallback if need be; see the port. A stop that is unknown there is taken by its position."""
        needed = (Ability.PLANS, Ability.ARRIVE_BY) if query.arrive_by else (Ability.PLANS,)
        said: list[str] = []

        async def plan(network: Network) -> JourneyAnswer:
            said.clear()

            async def fit(side: str, end: Location) -> Location:
                ids = await self._split(end.stop_ids, network)
                if ids.unknown:
                    name = network.profile.name
                    said.append(f"{name} does not know {_join(ids.unknown)}; its position was taken as the {side}.")
                return keep_known(end, ids)

            origin = await fit("origin", query.origin)
            destination = await fit("destination", query.destination)
            return await network.plan_journeys(replace(query, origin=origin, destination=destination))

        return await self._ask(needed, plan, said)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        """Plan between two texts, on the fallback if need be; see ``port.TextPlanner``.

        Raises:
            ToolError: as the first network, where the fallback does not read texts.
        """

        async def plan(network: Network) -> JourneyAnswer:
            planner = find_text_planner(network)
            if planner is None:
                raise failures_of_this_call()[self.profile.name]
            return await planner.plan_texts(query)

        return await self._ask((Ability.PLANS,), plan, [])

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """List a board, of the fallback if need be; see the port.

        Raises:
            ToolError: as the first network, where the fallback knows none of the stops.
        """
        own, other = self._network.profile, self._fallback.profile
        if not split_by_feed(query.stop_ids, own, other).known and other.can(Ability.BOARDS):
            board = await self._fallback.list_departures(query)
            return _say(board, own.name, [f"{other.name} answered for {own.name}, which does not know its stop ids."])
        said: list[str] = []

        async def list_board(network: Network) -> DepartureBoard:
            said.clear()
            ids = await self._split(query.stop_ids, network)
            if not ids.known:
                raise _IdsUnknown(ids.unknown)
            if ids.unknown:
                said.append(
                    f"{network.profile.name} does not know {_join(ids.unknown)}, whose departures are left out."
                )
            return await network.list_departures(replace(query, stop_ids=ids.known) if ids.unknown else query)

        return await self._ask((Ability.BOARDS,), list_board, said)

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """List stops, of the fallback if need be; see the port."""
        return await self._ask(
            (Ability.STOPS,), lambda network: network.list_stops_near(coordinate, radius_m, language=language), []
        )

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Find places; that the fallback gave them is noted for whoever asks, as ``asking.note_stand_in`` says."""
        found, failure = await self._ask_either(
            (Ability.NAMES,), lambda network: network.find_places(text, language=language, focus=focus)
        )
        self._note(failure)
        return found

    async def find_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Return what is at a position, where the first network, or else the fallback, knows such things."""
        for network in (self._network, self._fallback):
            if isinstance(network, NamesPositions):
                found = await network.find_address(coordinate, language=language)
                if found is not None:
                    return found
        return None

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Ask the first network what is at a position, never the fallback, which may not be asked for the trip."""
        return await cast("PositionNamer", self._network).ask_address(coordinate, language=language)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop in the network whose FEED it bears; see the port."""
        return await self._find(stop_id, lambda network: network.find_stop(stop_id, language=language))

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop's place in the network whose FEED it bears; see the port."""
        return await self._find(stop_id, lambda network: network.find_stop_place(stop_id, language=language))

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return how the first network's real time fares; see the port."""
        return await self._network.find_realtime_health()

    async def _find(self, stop_id: str, find: Callable[[Network], Awaitable[Place | None]]) -> Place | None:
        """Return what an id stands for, None only where a network that could know it says so.

        Raises:
            ToolError: as the first network, where the fallback does not know the id.
        """
        if split_by_feed([stop_id], self._network.profile, self._fallback.profile).unknown:
            return await find(self._fallback)

        async def find_known(network: Network) -> Place | None:
            may_know = network is self._network or has_feed_of(stop_id, network.profile)
            found = await find(network) if may_know else None
            if found is None and network is not self._network:
                raise _IdsUnknown([stop_id])
            return found

        try:
            found, failure = await self._ask_either((Ability.NAMES,), find_known)
        except _IdsUnknown:
            # The first network cannot look stops up, and the fallback has none of that id.
            return None
        self._note(failure)
        return found

    async def _split(self, stop_ids: Sequence[str], network: Network) -> KnownIds:
        """Return which ids a network knows; the fallback is asked, because it would leave out unknown ones silently."""
        if network is self._network:
            return split_by_feed(stop_ids, network.profile, self._fallback.profile)
        return await split_by_asking(stop_ids, network)

    async def _ask(
        self, needed: Sequence[Ability], query: Callable[[Network], Awaitable[_AnswerT]], said: Sequence[str]
    ) -> _AnswerT:
        """Return an answer that says what it lacks; the query adds to ``said`` what it could not ask for."""
        answer, failure = await self._ask_either(needed, query)
        if failure is None:
            return _say(answer, answer.provenance.network, said)
        return _say(answer, self._network.profile.name, [self._say_what_is_lost(failure), *said])

    async def _ask_either(
        self, needed: Sequence[Ability], query: Callable[[Network], Awaitable[_T]]
    ) -> tuple[_T, ToolError | None]:
        """Return an answer, and why it is the fallback's, None where it is not.

        A network that failed during this call is not asked again for it.
        """
        profile = self._network.profile
        if not profile.can(*needed):
            return await query(self._fallback), None
        failed = failures_of_this_call()
        failure = failed.get(profile.name)
        if failure is None:
            limit_s = _find_limit_s(profile.names_deadline_s if Ability.NAMES in needed else profile.answer_deadline_s)
            try:
                return await ask_within(self._network, query, limit_s), None
            except UNAVAILABLE as error:
                failure = late(profile, limit_s) if isinstance(error, TimeoutError) else error
            failed[profile.name] = failure
        if not self._fallback.profile.can(*needed):
            raise failure
        stand_in = self._fallback.profile.name
        FALLBACKS.add(1, {NETWORK: profile.name, "fingerpost.network.fallback": stand_in})
        try:
            with measuring_query(self._fallback):
                return await query(self._fallback), failure
        except _IdsUnknown as unknown:
            raise self._explain(failure, unknown.ids) from failure

    def _note(self, failure: ToolError | None) -> None:
        if failure is not None:
            note_stand_in(self._network.profile.name, failure, self._fallback.profile.name)

    def _explain(self, failure: ToolError, ids: Sequence[str]) -> ToolError:
        """Return the first network's failure, with why the fallback does not answer in its stead."""
        explained = copy.copy(failure)
        other = self._fallback.profile.name
        explained.message = f"{failure.message.rstrip('.')}; its fallback {other} does not know {_join(ids)}"
        explained.args = (explained.message,)
        explained.hint = failure.hint or f"Ask again later, or for the stop by its name, which {other} may know"
        return explained

    def _say_what_is_lost(self, failure: ToolError) -> str:
        own, other = self._network.profile, self._fallback.profile
        missing = sorted(ability.value for ability in own.abilities - other.abilities)
        lost = f"{own.name} could not be asked ({failure.message.rstrip('.')}); its fallback {other.name} answered"
        return lost + (f", without {', '.join(missing)}." if missing else ".")


def _find_limit_s(deadline_s: float | None) -> float | None:
    """Return how long to wait for a network with one behind it: half of its deadline, or of what the caller has left.

    Whoever waits for both must not have lost patience when the fallback is asked; in a chain each has half of the rest.
    """
    bounds = [each for each in (deadline_s, clock.find_left_s()) if each is not None]
    return max(0.0, min(bounds)) / 2 if bounds else None


def _say(answer: _AnswerT, network: str, said: Sequence[str]) -> _AnswerT:
    """Return an answer under a network's name, with what it lacks."""
    provenance: Provenance = answer.provenance
    if not said and provenance.network == network:
        return answer
    return replace(answer, provenance=replace(provenance, network=network, lost=(*provenance.lost, *said)))


def _join(ids: Sequence[str]) -> str:
    return ", ".join(ids)
