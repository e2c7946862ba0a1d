"""Networks that wrap another: a circuit breaker, and a network with a fallback (rule A13)."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fingerpost import clock, errors
from fingerpost.runtime.instruments import FALLBACKS, NETWORK, OPENED_BREAKERS
from fingerpost.transit import port
from fingerpost.transit.model.itinerary import Leg, LegLine
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds, Coordinate, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import RealtimeHealth
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.networks.querying import (
    CANNOT_ANSWER,
    CallScopedNetwork,
    Failures,
    NetworkFailure,
    bind_to_call,
    measure_query,
    query_within,
)
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


FAILURE_THRESHOLD = 3
COOLDOWN_S = 30.0


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float = 0.0
    is_probing: bool = False


class NetworkBreaker:
    """Counts consecutive failures of remote networks by circuit; ``threshold`` failures open a circuit for 30 s.

    Then one query may probe the circuit; if it succeeds, the circuit closes. After ``acquire``, each query must end
    with ``record_success``, ``record_failure`` or ``release``.
    """

    def __init__(self, *, threshold: int = FAILURE_THRESHOLD, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.threshold = threshold
        self.last_failures: dict[str, errors.StorageUnavailable] = {}
        self._clock_s = clock_s
        self._circuits: defaultdict[str, _Circuit] = defaultdict(_Circuit)

    def acquire(self, name: str) -> float | None:
        """Return None if the circuit may be queried, else the seconds to wait."""
        circuit = self._circuits[name]
        if circuit.failures < self.threshold:
            return None
        remaining_s = circuit.open_until_s - self._clock_s()
        if remaining_s > 0 or circuit.is_probing:
            # The duration of the probing query is unknown.
            return max(remaining_s, 1.0)
        circuit.is_probing = True
        return None

    def is_probing(self, name: str) -> bool:
        return self._circuits[name].is_probing

    def record_success(self, name: str) -> None:
        """Close the circuit; also call this if a source answers but refuses the request."""
        self._circuits.pop(name, None)

    def record_failure(self, name: str, failure: errors.StorageUnavailable) -> None:
        circuit = self._circuits[name]
        self.last_failures[name] = failure
        circuit.failures += 1
        circuit.is_probing = False
        if circuit.failures >= self.threshold:
            circuit.open_until_s = self._clock_s() + COOLDOWN_S
            OPENED_BREAKERS.add(1)

    def release(self, name: str) -> None:
        self._circuits[name].is_probing = False


class CircuitBreakerNetwork(WrapperNetwork):
    """A network that rejects queries for a while after several failures or timeouts in a row.

    While the circuit is open, queries raise the last failure. Afterwards, one query probes the network for up to the
    network's full deadline, even if the caller gives up. ``key`` identifies the network's circuits in the shared
    ``breaker``.
    """

    def __init__(self, network: Network, breaker: NetworkBreaker, key: str) -> None:
        super().__init__(network)
        self._breaker = breaker
        self._key = key
        self._probes: set[asyncio.Task[Any]] = set()

    async def forward(self, query: Callable[[Network], Awaitable[_T]], *, names: bool = False) -> _T:
        circuit = f"{self._key} names" if names else self._key
        wait_s = self._breaker.acquire(circuit)
        if wait_s is not None:
            last = self._breaker.last_failures[circuit]
            raise last.with_message(
                f"{self.profile.name} failed {self._breaker.threshold} times in a row and will be queried again in "
                f"{max(1, round(wait_s))} s; last error: {last.message}",
                details={"network": self.profile.name, "retry_after_s": wait_s},
            )
        if not self._breaker.is_probing(circuit):
            return await self._send(circuit, query)
        probe = asyncio.ensure_future(self._probe(circuit, query))
        self._probes.add(probe)
        probe.add_done_callback(self._end_probe)
        return await asyncio.shield(probe)

    async def _probe(self, circuit: str, query: Callable[[Network], Awaitable[_T]]) -> _T:
        clock.clear_time_limits()
        async with clock.time_limit(self.profile.answer_deadline_s):
            return await self._send(circuit, query)

    def _end_probe(self, probe: asyncio.Task[Any]) -> None:
        self._probes.discard(probe)
        if not probe.cancelled():
            probe.exception()  # Mark the exception as retrieved, because the caller may have disconnected.

    async def _send(self, circuit: str, query: Callable[[Network], Awaitable[_T]]) -> _T:
        failure: errors.StorageUnavailable | None = None
        has_answered = False
        try:
            answer = await query(self.network)
            has_answered = True
            return answer
        except (errors.SourceTimeout, errors.SourceUnreachable, errors.SourceFailed) as error:
            failure = error if error.retryable else None
            raise
        except asyncio.CancelledError:
            remaining_s = clock.find_remaining_s()
            if remaining_s is not None and remaining_s <= 0:
                # Only an expired deadline counts as a failure; the caller may also have disconnected.
                failure = errors.SourceTimeout(f"{self.profile.name} did not answer in time")
            raise
        except (errors.DataNotFound, errors.SourceKeyRefused):
            has_answered = True
            raise
        finally:
            if failure is not None:
                self._breaker.record_failure(circuit, failure)
            elif has_answered:
                self._breaker.record_success(circuit)
            else:
                self._breaker.release(circuit)


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
            answer = _label(await network.plan_journeys(adapted_query), notes)
            # The first network may find a trip where the fallback has no stops.
            return answer if network is self.network else replace(answer, is_final=False)

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
        """Find a stop or place; raise errors.ToolError if the first network failed and the fallback lacks the id."""

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
        """Return the ids that the fallback lacks; a query would skip them silently."""
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

    def _format_fallback_notice(self, failure: errors.ToolError) -> str:
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
    """Add the network's name and notices of missing data to an answer's provenance, if it has one."""
    if not isinstance(answer, (port.JourneyAnswer, port.DepartureBoard, port.NearbyStops)):
        return answer
    provenance = answer.provenance
    labelled = replace(provenance, network=network or provenance.network, lost=(*lost, *provenance.lost))
    return replace(answer, provenance=labelled)
