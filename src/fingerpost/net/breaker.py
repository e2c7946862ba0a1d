"""A source that keeps failing is left in peace for a while, so that nobody waits for it in vain."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from fingerpost.errors import SourceUnreachable


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    open_until_s: float | None = None
    being_tried: bool = False


class Breaker:
    """Counts failures in a row, host by host.

    After ``threshold`` of them a host is not asked for ``rest_s`` seconds. Then one request tries it:
    its success closes the circuit, its failure opens it again.
    """

    def __init__(
        self, *, threshold: int = 5, rest_s: float = 30.0, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = threshold
        self._rest_s = rest_s
        self._clock_s = clock_s
        self._circuits: dict[str, _Circuit] = {}

    def enter(self, host: str) -> None:
        """Pass, or refuse at once.

        Raises:
            SourceUnreachable: the host rests; ``details["retry_after_s"]`` says for how long.
        """
        circuit = self._circuits.get(host)
        if circuit is None or circuit.open_until_s is None:
            return
        left_s = circuit.open_until_s - self._clock_s()
        if left_s > 0 or circuit.being_tried:
            raise SourceUnreachable(
                f"{host} failed {circuit.failures} times in a row and is left in peace for a moment",
                {"retry_after_s": max(left_s, 1.0)},
            )
        circuit.being_tried = True

    def succeeded(self, host: str) -> None:
        """Note that the host answered, be it with a refusal."""
        self._circuits.pop(host, None)

    def failed(self, host: str) -> None:
        """Note that the host did not answer, or answered that it cannot."""
        circuit = self._circuits.setdefault(host, _Circuit())
        circuit.failures += 1
        circuit.being_tried = False
        if circuit.failures >= self._threshold:
            circuit.open_until_s = self._clock_s() + self._rest_s

    def left(self, host: str) -> None:
        """Note that a request ended without telling anything about the host."""
        circuit = self._circuits.get(host)
        if circuit is not None:
            circuit.being_tried = False
