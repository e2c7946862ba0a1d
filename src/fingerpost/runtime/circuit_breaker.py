"""Circuit breaker: block calls to a source or tool for a while after repeated failures."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from fingerpost.runtime.instruments import OPENED_BREAKERS


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float | None = None
    is_probing: bool = False


class CircuitBreaker:
    """Counts consecutive failures by name, such as a host; blocks it for ``cooldown_s`` after ``threshold`` failures.

    Then one call may probe the name, and its success closes the circuit. After ``acquire``, each call must end with
    ``record_success``, ``record_failure`` or ``release``. Metrics report ``kind``, because a name may be an address.
    """

    def __init__(
        self,
        *,
        threshold: int = 5,
        cooldown_s: float = 30.0,
        clock_s: Callable[[], float] = time.monotonic,
        kind: str = "host",
    ) -> None:
        self._kind = kind
        self.threshold = threshold
        self._rest_s = cooldown_s
        self._clock_s = clock_s
        self._circuits: dict[str, _Circuit] = {}

    def acquire(self, name: str) -> float | None:
        """Return None if the name may be called, else the seconds to wait."""
        circuit = self._circuits.get(name)
        if circuit is None or circuit.open_until_s is None:
            return None
        left_s = circuit.open_until_s - self._clock_s()
        if left_s > 0 or circuit.is_probing:
            # The duration of the probing call is unknown.
            return max(left_s, 1.0)
        circuit.is_probing = True
        return None

    def is_probing(self, name: str) -> bool:
        """Whether a call is probing a blocked name."""
        circuit = self._circuits.get(name)
        return circuit is not None and circuit.is_probing

    def record_success(self, name: str) -> None:
        """Close the circuit; call it for refused requests too."""
        self._circuits.pop(name, None)

    def record_failure(self, name: str) -> None:
        circuit = self._circuits.setdefault(name, _Circuit())
        circuit.failures += 1
        circuit.is_probing = False
        if circuit.failures >= self.threshold:
            circuit.open_until_s = self._clock_s() + self._rest_s
            OPENED_BREAKERS.add(1, {"fingerpost.breaker.kind": self._kind})

    def release(self, name: str) -> None:
        circuit = self._circuits.get(name)
        if circuit is not None:
            circuit.is_probing = False
