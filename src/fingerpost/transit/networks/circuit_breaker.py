"""Circuit breaker for remote networks: an unreachable server does not delay further queries (rule A13)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fingerpost import clock, errors
from fingerpost.runtime.retry import CircuitBreaker
from fingerpost.transit.networks.wrapper import WrapperNetwork
from fingerpost.transit.port import Network

_T = TypeVar("_T")

FAILURE_THRESHOLD = 3
COOLDOWN_S = 30.0


class NetworkBreaker(CircuitBreaker):
    """Counts failures of remote networks per circuit, and stores the last failure of each circuit."""

    def __init__(self, *, threshold: int = FAILURE_THRESHOLD, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(threshold=threshold, cooldown_s=COOLDOWN_S, clock_s=clock_s)
        self.last_failures: dict[str, errors.StorageUnavailable] = {}


class CircuitBreakerNetwork(WrapperNetwork):
    """A network that rejects queries for a while after several failures or timeouts in a row.

    While the circuit is open, queries raise the last failure. After that, one query probes the network for up to its
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
                self._breaker.last_failures[circuit] = failure
                self._breaker.record_failure(circuit)
            elif has_answered:
                self._breaker.record_success(circuit)
            else:
                self._breaker.release(circuit)
