"""Circuit breaker: calls to a source or tool that keeps failing are refused for a while."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from fingerpost.runtime.instruments import OPENED_BREAKERS


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float | None = None
    being_tried: bool = False


class Breaker:
    """Counts failures in a row by name: a host's, or a tool's.

    After ``threshold`` of them the name is refused for ``rest_s`` seconds. Then one call tries it, and its success
    closes the circuit. Each call that entered must report its end: ``succeeded``, ``failed`` or ``left``.
    Metrics have ``kind``, because a name may hold an address.
    """

    def __init__(
        self,
        *,
        threshold: int = 5,
        rest_s: float = 30.0,
        clock_s: Callable[[], float] = time.monotonic,
        kind: str = "host",
    ) -> None:
        self._kind = kind
        self.threshold = threshold
        self._rest_s = rest_s
        self._clock_s = clock_s
        self._circuits: dict[str, _Circuit] = {}

    def enter(self, name: str) -> float | None:
        """Return None if the name may be asked, else the seconds to wait."""
        circuit = self._circuits.get(name)
        if circuit is None or circuit.open_until_s is None:
            return None
        left_s = circuit.open_until_s - self._clock_s()
        if left_s > 0 or circuit.being_tried:
            # Nobody knows how long the one who tries will take.
            return max(left_s, 1.0)
        circuit.being_tried = True
        return None

    def is_tried(self, name: str) -> bool:
        """Whether a rested name is tried by one call, which is the last that entered."""
        circuit = self._circuits.get(name)
        return circuit is not None and circuit.being_tried

    def succeeded(self, name: str) -> None:
        """Record a success; a refusal counts as one."""
        self._circuits.pop(name, None)

    def failed(self, name: str) -> None:
        circuit = self._circuits.setdefault(name, _Circuit())
        circuit.failures += 1
        circuit.being_tried = False
        if circuit.failures >= self.threshold:
            circuit.open_until_s = self._clock_s() + self._rest_s
            OPENED_BREAKERS.add(1, {"fingerpost.breaker.kind": self._kind})

    def left(self, name: str) -> None:
        circuit = self._circuits.get(name)
        if circuit is not None:
            circuit.being_tried = False
