"""A remote network behind a circuit breaker, so that a server that is dead or hangs slows nobody (rule A13)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import ParamSpec, TypeVar, cast

from fingerpost import clock
from fingerpost.errors import (
    DataNotFound,
    SourceFailed,
    SourceKeyRefused,
    SourceTimeout,
    SourceUnreachable,
    StorageUnavailable,
)
from fingerpost.runtime.circuit_breaker import Breaker
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import RealtimeHealth
from fingerpost.transit.port import (
    DepartureBoard,
    DepartureQuery,
    JourneyAnswer,
    JourneyQuery,
    NearbyStops,
    Network,
    PositionNamer,
    TextJourneyQuery,
    TextPlanner,
)

_P = ParamSpec("_P")
_T = TypeVar("_T")

FAILURES_IN_A_ROW = 3
REST_S = 30.0

_SEARCHES, _NAMES, _POSITIONS = "searches", "names", "positions"


class NetworkBreaker:
    """Counts the failures of remote networks, by circuit, and keeps what each failed with last.

    After ``threshold`` failures in a row a circuit rests for ``rest_s`` seconds; see ``resilience.breaker.Breaker``.
    """

    def __init__(
        self,
        *,
        threshold: int = FAILURES_IN_A_ROW,
        rest_s: float = REST_S,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._breaker = Breaker(threshold=threshold, rest_s=rest_s, clock_s=clock_s, kind="network")
        self._last: dict[str, StorageUnavailable] = {}

    def enter(self, circuit: str, network: str) -> None:
        """Pass, or raise what the last failure was, so that a caller reads the same code as before.

        Raises:
            StorageUnavailable: the circuit rests.
        """
        wait_s = self._breaker.enter(circuit)
        if wait_s is None:
            return
        last = self._last[circuit]
        raise type(last)(
            f"{network} failed {self._breaker.threshold} times in a row and is asked again in {max(1, round(wait_s))} s"
            f"; last: {last.message.rstrip('.')}",
            {"network": network, "retry_after_s": wait_s},
        )

    def end(self, circuit: str, failure: StorageUnavailable | None, *, has_answered: bool) -> None:
        """Note how a query ended that was let in; with neither a failure nor an answer it says nothing."""
        if failure is not None:
            self._last[circuit] = failure
            self._breaker.failed(circuit)
        elif has_answered:
            self._breaker.succeeded(circuit)
            self._last.pop(circuit, None)
        else:
            self._breaker.left(circuit)


class GuardedNetwork:
    """A network that is not asked for a while after it failed, or was too late, several times in a row.

    Meanwhile every query raises at once what the last one failed with; then one query tries the network, and its
    success lets all others through again. Names are counted apart, because another server may answer them.

    Args:
        network: the one to guard.
        breaker: shared by all networks of a process.
        key: tells this network's circuits from others'; another key is another server.
    """

    def __init__(self, network: Network, breaker: NetworkBreaker, key: str) -> None:
        self._network = network
        self._breaker = breaker
        self._key = key

    @property
    def profile(self) -> NetworkProfile:
        """The network's own profile."""
        return self._network.profile

    async def plan_journeys(self, query: JourneyQuery) -> JourneyAnswer:
        """Plan; see the port."""
        return await self._guard(_SEARCHES, self._network.plan_journeys, query)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        """Plan between two texts; see ``port.TextPlanner``. Only for a network that reads them."""
        return await self._guard(_SEARCHES, cast("TextPlanner", self._network).plan_texts, query)

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        """List a board; see the port."""
        return await self._guard(_SEARCHES, self._network.list_departures, query)

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        """List stops; see the port."""
        return await self._guard(_SEARCHES, self._network.list_stops_near, coordinate, radius_m, language=language)

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop; see the port."""
        return await self._guard(_SEARCHES, self._network.find_stop, stop_id, language=language)

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        """Find a stop's place; see the port."""
        return await self._guard(_SEARCHES, self._network.find_stop_place, stop_id, language=language)

    async def find_places(
        self, text: str, *, language: str | None = None, focus: Coordinate | None = None
    ) -> Sequence[PlaceMatch]:
        """Find places; see the port."""
        return await self._guard(_NAMES, self._network.find_places, text, language=language, focus=focus)

    async def ask_address(self, coordinate: Coordinate, *, language: str | None = None) -> Place | None:
        """Ask what is at a position; see ``port.PositionNamer``. Only for a network whose server can be asked.

        It is counted apart, because a caller waits for it less long than for names.
        """
        namer = cast("PositionNamer", self._network)
        return await self._guard(_POSITIONS, namer.ask_address, coordinate, language=language)

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return how real time fares; asked of no server, so nothing guards it."""
        return await self._network.find_realtime_health()

    async def _guard(self, what: str, ask: Callable[_P, Awaitable[_T]], *given: _P.args, **named: _P.kwargs) -> _T:
        """Ask where the breaker lets us, and tell it how that ended."""
        circuit = f"{self._key} {what}"
        self._breaker.enter(circuit, self.profile.name)
        failure: StorageUnavailable | None = None
        has_answered = False
        try:
            answer = await ask(*given, **named)
            has_answered = True
        except (SourceTimeout, SourceUnreachable, SourceFailed) as error:
            failure = error if error.retryable else None
            raise
        except asyncio.CancelledError:
            left_s = clock.find_left_s()
            if left_s is not None and left_s <= 0:
                # Given up because it was late; whoever only went away says nothing about the network.
                failure = SourceTimeout(f"{self.profile.name} did not answer in time")
            raise
        except (DataNotFound, SourceKeyRefused):
            has_answered = True
            raise
        finally:
            self._breaker.end(circuit, failure, has_answered=has_answered)
        return answer
