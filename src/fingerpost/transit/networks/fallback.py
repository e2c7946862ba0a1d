"""A network with a fallback, which answers when the network is unavailable (rule A13)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.instruments import FALLBACKS, NETWORK
from fingerpost.transit import port
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds, Coordinate, Place
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import RealtimeHealth
from fingerpost.transit.networks.querying import (
    CANNOT_ANSWER,
    CallScopedNetwork,
    Failures,
    NetworkFailure,
    bind_to_call,
    measure_query,
    query_within,
)
from fingerpost.transit.networks.wrapper import WrapperNetwork
from fingerpost.transit.port import Network

_T = TypeVar("_T")


class _UnknownIds(Exception):
    """The fallback has none of the requested stops; the message lists their ids."""


class FallbackNetwork(WrapperNetwork, CallScopedNetwork):
    """A network and its fallback, which share stop ids (rule A13).

    Answers have the first network's name; the provenance of a fallback's answer lists missing data. ``failures`` are
    the failures in the current call, which does not query a failed network again.
    """

    def __init__(self, network: Network, fallback: Network, failures: Failures | None = None) -> None:
        super().__init__(network)
        self._fallback = fallback
        self._failures = failures

    def bind_to_call(self, failures: Failures) -> "FallbackNetwork":
        return FallbackNetwork(bind_to_call(self.network, failures), bind_to_call(self._fallback, failures), failures)

    @property
    def profile(self) -> NetworkProfile:
        """The first network's profile, plus the abilities of the fallback."""
        profile, fallback = self.network.profile, self._fallback.profile
        return replace(
            profile,
            abilities=profile.abilities | fallback.abilities,
            feed_names=profile.feed_names | fallback.feed_names,
            fallback=fallback.name,
            answer_deadline_s=None if fallback.answer_deadline_s is None else profile.answer_deadline_s,
            names_deadline_s=None if fallback.names_deadline_s is None else profile.names_deadline_s,
        )

    async def forward(self, query: Callable[[Network], Awaitable[_T]], *, names: bool = False) -> _T:
        return await self._query((Ability.NAMES if names else Ability.STOPS,), query, names=names)

    async def plan_journeys(self, query: port.JourneyQuery) -> port.JourneyAnswer:
        """Plan a trip; stops that the fallback does not recognize are replaced with their coordinates."""
        needed = (Ability.PLANS, Ability.ARRIVE_BY) if query.arrive_by else (Ability.PLANS,)

        async def plan(network: Network) -> port.JourneyAnswer:
            notes: list[str] = []
            ends = {"origin": query.origin, "destination": query.destination}
            for side, end in ends.items():
                unknown = await self._list_unknown(end.stop_ids, network)
                if unknown:
                    ends[side] = replace(end, stop_ids=_exclude(end.stop_ids, unknown))
                    notes.append(
                        f"{network.profile.name} does not recognize {', '.join(unknown)}; the stop's coordinates were "
                        f"used as the {side} instead."
                    )
            adapted_query = replace(query, origin=ends["origin"], destination=ends["destination"])
            return _label(await network.plan_journeys(adapted_query), notes)

        return await self._query(needed, plan)

    async def plan_texts(self, query: port.TextJourneyQuery) -> port.JourneyAnswer:
        return await self._query((Ability.PLANS,), lambda network: network.plan_texts(query), reads_texts=True)

    async def list_departures(self, query: port.DepartureQuery) -> port.DepartureBoard:
        """List departures; if the fallback has none of the stops, raise the first network's failure."""

        async def list_board(network: Network) -> port.DepartureBoard:
            unknown = await self._list_unknown(query.stop_ids, network)
            if not unknown:
                return await network.list_departures(query)
            known = _exclude(query.stop_ids, unknown)
            if not known:
                raise _UnknownIds(", ".join(unknown))
            note = f"{network.profile.name} does not recognize {', '.join(unknown)}, whose departures are left out."
            return _label(await network.list_departures(replace(query, stop_ids=known)), [note])

        needed = (Ability.BOARDS, Ability.TIMETABLES) if query.by_schedule else (Ability.BOARDS,)
        return await self._query(needed, list_board)

    async def find_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        found = await self.network.find_address(coordinate, language=language)
        return found or await self._fallback.find_address(coordinate, language=language)

    def find_line(self, leg: Leg) -> LegLine | None:
        return self.network.find_line(leg) or self._fallback.find_line(leg)

    async def find_basemap(self, box: Bounds, leg: Leg) -> Basemap | None:
        return await self.network.find_basemap(box, leg) or await self._fallback.find_basemap(box, leg)

    async def find_realtime_health(self) -> RealtimeHealth | None:
        return await self.network.find_realtime_health()

    async def find_stop(self, stop_id: str, *, language: str | None = None, whole_place: bool = False) -> Place | None:
        """Find a stop or place; raise ToolError if the first network failed and the fallback lacks the id."""

        async def find_known(network: Network) -> Place | None:
            found = await network.find_stop(stop_id, language=language, whole_place=whole_place)
            if found is None and network is not self.network:
                raise _UnknownIds(stop_id)
            return found

        try:
            return await self._query((Ability.NAMES,), find_known)
        except _UnknownIds:
            return None

    async def _list_unknown(self, stop_ids: Sequence[str], network: Network) -> list[str]:
        """Return the ids that the fallback lacks, because a query would skip them silently."""
        if network is self.network:
            return []
        return [stop_id for stop_id in stop_ids if await network.find_stop(stop_id) is None]

    async def _query(
        self,
        needed: Sequence[Ability],
        query: Callable[[Network], Awaitable[_T]],
        *,
        names: bool = False,
        reads_texts: bool = False,
    ) -> _T:
        profile, fallback = self.network.profile, self._fallback.profile
        if not profile.can(*needed):
            return await query(self._fallback)
        failed = {} if self._failures is None else self._failures
        if profile.name not in failed:
            limit_s = _find_limit_s(profile.names_deadline_s if names else profile.answer_deadline_s)
            try:
                return await query_within(self.network, query, limit_s)
            except CANNOT_ANSWER as error:
                failed[profile.name] = NetworkFailure(profile.name, error)
        failure = failed[profile.name].error
        if not fallback.can(*needed) or (reads_texts and not fallback.reads_texts):
            raise failure
        FALLBACKS.add(1, {NETWORK: profile.name, "fingerpost.network.fallback": fallback.name})
        try:
            with measure_query(self._fallback):
                answer = await query(self._fallback)
        except _UnknownIds as unknown:
            raise failure.with_message(
                f"{failure.message}; its fallback {fallback.name} does not recognize {unknown}",
                hint=failure.hint or f"Try again later, or give the stop's name, which {fallback.name} may recognize",
            ) from failure
        failed[profile.name] = NetworkFailure(profile.name, failure, fallback=fallback.name)
        return _label(answer, [self._format_fallback_notice(failure)], profile.name)

    def _format_fallback_notice(self, failure: ToolError) -> str:
        profile, fallback = self.network.profile, self._fallback.profile
        missing = sorted(ability.value for ability in profile.abilities - fallback.abilities)
        notice = f"{profile.name} could not be queried ({failure.message}); its fallback {fallback.name} answered"
        return notice + (f", without {', '.join(missing)}." if missing else ".")


def _exclude(stop_ids: Sequence[str], unknown: Sequence[str]) -> tuple[str, ...]:
    return tuple(stop_id for stop_id in stop_ids if stop_id not in unknown)


def _find_limit_s(deadline_s: float | None) -> float | None:
    """Return half of the network's deadline or, if less, of the remaining time; the fallback gets the rest."""
    bounds = [bound for bound in (deadline_s, clock.find_remaining_s()) if bound is not None]
    return max(0.0, min(bounds)) / 2 if bounds else None


def _label(answer: _T, lost: Sequence[str], network: str | None = None) -> _T:
    """Add notices of missing data and the network's name to an answer's provenance; places have no provenance."""
    if not isinstance(answer, (port.JourneyAnswer, port.DepartureBoard, port.NearbyStops)):
        return answer
    provenance = answer.provenance
    labelled = replace(provenance, network=network or provenance.network, lost=(*lost, *provenance.lost))
    return replace(answer, provenance=labelled)
