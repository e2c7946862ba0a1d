"""Circuit breaker: a source or tool that keeps failing is left alone for a while, so that nobody waits in vain."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float | None = None
    being_tried: bool = False


class Breaker:
    """Counts failures in a row by name: a host's, or a tool's.

    After ``threshold`` of them the name is refused for ``rest_s`` seconds. Then one call tries it, and all others are
    refused until that one has ended: its success closes the circuit, its failure opens it again.
    Whoever was let in must say how it ended: ``succeeded``, ``failed`` or ``left``.
    """

    def __init__(
        self, *, threshold: int = 5, rest_s: float = 30.0, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.threshold = threshold
        self._rest_s = rest_s
        self._clock_s = clock_s
        self._circuits: dict[str, _Circuit] = {}

    def enter(self, name: str) -> float | None:
        """Return None where the name may be asked, else how many seconds to wait before asking again."""
        circuit = self._circuits.get(name)
        if circuit is None or circuit.open_until_s is None:
            return None
        left_s = circuit.open_until_s - self._clock_s()
        if left_s > 0 or circuit.being_tried:
            # Nobody knows how long the one who tries will take.
            return max(left_s, 1.0)
        circuit.being_tried = True
        return None

    def succeeded(self, name: str) -> None:
        """Note that it answered, be it with a refusal."""
        self._circuits.pop(name, None)

    def failed(self, name: str) -> None:
        """Note that it did not answer, or answered that it cannot."""
        circuit = self._circuits.setdefault(name, _Circuit())
        circuit.failures += 1
        circuit.being_tried = False
        if circuit.failures >= self.threshold:
            circuit.open_until_s = self._clock_s() + self._rest_s

    def left(self, name: str) -> None:
        """Note that a call ended without telling whether the source or tool is well."""
        circuit = self._circuits.get(name)
        if circuit is not None:
            circuit.being_tried = False
