"""A network with a fallback that answers when it is unavailable (rule A13)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar, cast

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.instruments import FALLBACKS, NETWORK
from fingerpost.transit import port
from fingerpost.transit.model.place import Coordinate, Location, Place
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.networks.asking import (
    UNAVAILABLE,
    Failures,
    LeftOut,
    as_tool_error,
    ask_within,
    measuring_query,
    within_call,
)
from fingerpost.transit.networks.wrapper import QueryKind, WrapperNetwork
from fingerpost.transit.port import Network

_T = TypeVar("_T")


class _SplitIds(NamedTuple):
    """Stop ids, split into those that a network knows and those that it does not (rule A8)."""

    known: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class _IdsUnknown(Exception):
    """The fallback knows none of the ids that it would have to answer for; the message lists them."""


class FallbackNetwork(WrapperNetwork):
    """A network and its fallback; both should share FEED and tokens.

    If they do not, each is asked for the ids that it knows, and the answer reports the others.
    Answers carry the first network's name; provenance says what is missing if the fallback gave them.
    ``failures`` are those of the current call: a network that failed is not asked again.
    """

    def __init__(self, network: Network, fallback: Network, failures: Failures | None = None) -> None:
        super().__init__(network)
        self._fallback = fallback
        self._failures = failures

    def within_call(self, failures: Failures) -> "FallbackNetwork":
        return FallbackNetwork(within_call(self.network, failures), within_call(self._fallback, failures), failures)

    @property
    def profile(self) -> NetworkProfile:
        """The first network's profile, plus the abilities of the fallback.

        A fallback in this process has no deadline, like any engine there.
        """
        own, other = self.network.profile, self._fallback.profile
        return replace(
            own,
            abilities=own.abilities | other.abilities,
            feed_names=own.feed_names | other.feed_names,
            stand_in=other.name,
            answer_deadline_s=None if other.answer_deadline_s is None else own.answer_deadline_s,
            names_deadline_s=None if other.names_deadline_s is None else own.names_deadline_s,
        )

    async def forward(self, query: Callable[[Network], Awaitable[_T]], kind: QueryKind = QueryKind.SEARCHES) -> _T:
        if kind is QueryKind.POSITIONS:
            return await query(self.network)
        by_name = kind is QueryKind.NAMES
        return await self._ask((Ability.NAMES if by_name else Ability.STOPS,), query, by_name=by_name)

    async def plan_journeys(self, query: port.JourneyQuery) -> port.JourneyAnswer:
        """Plan; stops that the answering network does not know are replaced by their position."""
        needed = (Ability.PLANS, Ability.ARRIVE_BY) if query.arrive_by else (Ability.PLANS,)
        notes: list[str] = []

        async def plan(network: Network) -> port.JourneyAnswer:
            notes.clear()

            async def fit(side: str, end: Location) -> Location:
                ids = await self._split(end.stop_ids, network)
                if not ids.unknown:
                    return end
                name = network.profile.name
                notes.append(f"{name} does not know {', '.join(ids.unknown)}; its position was taken as the {side}.")
                return replace(end, stop_ids=ids.known)

            origin = await fit("origin", query.origin)
            destination = await fit("destination", query.destination)
            return await network.plan_journeys(replace(query, origin=origin, destination=destination))

        return await self._ask(needed, plan, notes)

    async def plan_texts(self, query: port.TextJourneyQuery) -> port.JourneyAnswer:
        return await self._ask(
            (Ability.PLANS,), lambda network: cast("port.TextPlanner", network).plan_texts(query), reads_texts=True
        )

    async def list_departures(self, query: port.DepartureQuery) -> port.DepartureBoard:
        """List a board; if the fallback knows none of the stops, raise the first network's failure."""
        own, other = self.network.profile, self._fallback.profile
        if not _split_by_feed(query.stop_ids, own, other).known and other.can(Ability.BOARDS):
            board = await self._fallback.list_departures(query)
            return _label(board, own.name, [f"{other.name} answered for {own.name}, which does not know its stop ids."])
        notes: list[str] = []

        async def list_board(network: Network) -> port.DepartureBoard:
            notes.clear()
            ids = await self._split(query.stop_ids, network)
            if not ids.known:
                raise _IdsUnknown(", ".join(ids.unknown))
            if ids.unknown:
                name = network.profile.name
                notes.append(f"{name} does not know {', '.join(ids.unknown)}, whose departures are left out.")
            return await network.list_departures(replace(query, stop_ids=ids.known) if ids.unknown else query)

        return await self._ask((Ability.BOARDS,), list_board, notes)

    async def find_address(
        self, coordinate: Coordinate, *, language: str | None = None, may_ask: bool = False
    ) -> Place | None:
        """Name a position by what either network knows in this process, or by the first network's server."""
        found = await super().find_address(coordinate, language=language, may_ask=may_ask)
        if found is not None or may_ask:
            return found
        return await self._fallback.find_address(coordinate, language=language)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        return await self._find(stop_id, lambda network: network.find_stop(stop_id, language=language))

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        return await self._find(stop_id, lambda network: network.find_stop_place(stop_id, language=language))

    async def _find(self, stop_id: str, find: Callable[[Network], Awaitable[Place | None]]) -> Place | None:
        """Return what an id stands for; None only if a network that could know it answered.

        Raises:
            ToolError: the first network failed, and the fallback does not know the id.
        """
        if _split_by_feed([stop_id], self.network.profile, self._fallback.profile).unknown:
            return await find(self._fallback)

        async def find_known(network: Network) -> Place | None:
            may_know = network is self.network or _has_feed_of(stop_id, network.profile)
            found = await find(network) if may_know else None
            if found is None and network is not self.network:
                raise _IdsUnknown(stop_id)
            return found

        try:
            return await self._ask((Ability.NAMES,), find_known)
        except _IdsUnknown:
            # The first network cannot look stops up, and the fallback has none of that id.
            return None

    async def _split(self, stop_ids: Sequence[str], network: Network) -> _SplitIds:
        """Return which ids a network knows; the fallback is asked, because it would skip unknown ones silently."""
        if network is self.network:
            return _split_by_feed(stop_ids, network.profile, self._fallback.profile)
        known = [
            stop_id
            for stop_id in stop_ids
            if _has_feed_of(stop_id, network.profile) and await network.find_stop(stop_id) is not None
        ]
        return _SplitIds(tuple(known), tuple(stop_id for stop_id in stop_ids if stop_id not in known))

    async def _ask(
        self,
        needed: Sequence[Ability],
        query: Callable[[Network], Awaitable[_T]],
        notes: Sequence[str] = (),
        *,
        by_name: bool = False,
        reads_texts: bool = False,
    ) -> _T:
        """Return an answer with notes on what it lacks; the query may add to ``notes``."""
        own, other = self.network.profile, self._fallback.profile
        if not own.can(*needed):
            return _label(await query(self._fallback), None, notes)
        failed = {} if self._failures is None else self._failures
        if own.name not in failed:
            limit_s = _find_limit_s(own.names_deadline_s if by_name else own.answer_deadline_s)
            try:
                return _label(await ask_within(self.network, query, limit_s), None, notes)
            except UNAVAILABLE as error:
                failed[own.name] = LeftOut(own.name, as_tool_error(error, own, limit_s))
        failure = failed[own.name].error
        if not other.can(*needed) or (reads_texts and not other.reads_texts):
            raise failure
        FALLBACKS.add(1, {NETWORK: own.name, "fingerpost.network.fallback": other.name})
        try:
            with measuring_query(self._fallback):
                answer = await query(self._fallback)
        except _IdsUnknown as unknown:
            raise failure.with_message(
                f"{failure.clause}; its fallback {other.name} does not know {unknown}",
                hint=failure.hint or f"Ask again later, or for the stop by its name, which {other.name} may know",
            ) from failure
        failed[own.name] = LeftOut(own.name, failure, stand_in=other.name)
        return _label(answer, own.name, [self._format_lost_parts(failure), *notes])

    def _format_lost_parts(self, failure: ToolError) -> str:
        own, other = self.network.profile, self._fallback.profile
        missing = sorted(ability.value for ability in own.abilities - other.abilities)
        lost = f"{own.name} could not be asked ({failure.clause}); its fallback {other.name} answered"
        return lost + (f", without {', '.join(missing)}." if missing else ".")


def _has_feed_of(stop_id: str, profile: NetworkProfile) -> bool:
    return stop_id.strip().upper().partition(":")[0] in profile.feed_names


def _split_by_feed(stop_ids: Sequence[str], own: NetworkProfile, other: NetworkProfile) -> _SplitIds:
    """Split off the ids whose FEED only the other network has, without asking."""
    foreign = tuple(each for each in stop_ids if _has_feed_of(each, other) and not _has_feed_of(each, own))
    return _SplitIds(tuple(each for each in stop_ids if each not in foreign), foreign)


def _find_limit_s(deadline_s: float | None) -> float | None:
    """Return how long to wait for a network with a fallback: half of its deadline, or of the caller's time left."""
    bounds = [each for each in (deadline_s, clock.find_left_s()) if each is not None]
    return max(0.0, min(bounds)) / 2 if bounds else None


def _label(answer: _T, network: str | None, notes: Sequence[str]) -> _T:
    """Return an answer under a network's name, None for its own, with notes on what it lacks; places have neither."""
    if not isinstance(answer, (port.JourneyAnswer, port.DepartureBoard, port.NearbyStops)):
        return answer
    provenance = answer.provenance
    name = network or provenance.network
    if not notes and provenance.network == name:
        return answer
    return replace(answer, provenance=replace(provenance, network=name, lost=(*provenance.lost, *notes)))
