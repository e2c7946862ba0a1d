"""Wait between retries with exponential backoff, and block calls for a while after repeated failures."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from fingerpost.runtime.instruments import OPENED_BREAKERS


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with jitter; ``attempts`` includes the first."""

    attempts: int = 3
    initial_s: float = 0.2
    max_wait_s: float = 5.0

    def find_wait_s(self, attempt: int, *, spread: float, requested_s: float = 0.0) -> float | None:
        """Return the wait after a failed attempt (counted from 1), or None after the last.

        ``spread`` in 0..1 scales the wait by 0.5 to 1.5. ``requested_s`` is the wait that the source requested; if it
        exceeds ``max_wait_s``, the call is not retried.
        """
        if attempt >= self.attempts or requested_s > self.max_wait_s:
            return None
        return max(requested_s, min(self.initial_s * 2.0 ** (attempt - 1) * (0.5 + spread), self.max_wait_s))


async def sleep(seconds: float) -> None:
    """Wait before the next attempt; tests replace this function."""
    await asyncio.sleep(seconds)


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float = 0.0
    is_probing: bool = False


class CircuitBreaker:
    """Counts consecutive failures by name, such as a tool's; ``threshold`` failures block a name for ``cooldown_s``.

    Then one call may probe the name, and its success closes the circuit. After ``acquire``, each call must end with
    ``record_success``, ``record_failure`` or ``release``.
    """

    def __init__(
        self, *, threshold: int, cooldown_s: float = 30.0, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.threshold = threshold
        self._cooldown_s = cooldown_s
        self._clock_s = clock_s
        self._circuits: defaultdict[str, _Circuit] = defaultdict(_Circuit)

    def acquire(self, name: str) -> float | None:
        """Return None if the name may be called, else the seconds to wait."""
        circuit = self._circuits[name]
        if circuit.failures < self.threshold:
            return None
        remaining_s = circuit.open_until_s - self._clock_s()
        if remaining_s > 0 or circuit.is_probing:
            # The duration of the probing call is unknown.
            return max(remaining_s, 1.0)
        circuit.is_probing = True
        return None

    def is_probing(self, name: str) -> bool:
        """Whether a call is probing a blocked name."""
        return self._circuits[name].is_probing

    def record_success(self, name: str) -> None:
        """Close the circuit; call this also if a source answers by refusing the request."""
        self._circuits.pop(name, None)

    def record_failure(self, name: str) -> None:
        circuit = self._circuits[name]
        circuit.failures += 1
        circuit.is_probing = False
        if circuit.failures >= self.threshold:
            circuit.open_until_s = self._clock_s() + self._cooldown_s
            OPENED_BREAKERS.add(1)

    def release(self, name: str) -> None:
        self._circuits[name].is_probing = False
