"""Circuit breaker for remote networks: an unreachable server does not delay further queries (rule A13)."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fingerpost import clock, errors
from fingerpost.runtime.instruments import OPENED_BREAKERS
from fingerpost.transit.networks.wrapper import WrapperNetwork
from fingerpost.transit.port import Network

_T = TypeVar("_T")

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

    While the circuit is open, queries raise the last failure. Afterwards, one query probes the network for up to its
    full deadline, even if its caller gives up. ``key`` identifies the network's circuits in the shared ``breaker``.
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
            name, last = self.profile.name, self._breaker.last_failures[circuit]
            raise last.with_message(
                f"{name} failed {self._breaker.threshold} times in a row and will be queried again in "
                f"{max(1, round(wait_s))} s; last error: {last.message}",
                details={"network": name, "retry_after_s": wait_s},
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
