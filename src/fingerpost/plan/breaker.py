"""A breaker a tool: after some failures in a row the tool is left alone for a while, by all runs of the process."""

import asyncio


class Breaker:
    """Counts a tool's failures in a row; time is the event loop's own."""

    def __init__(self, failures: int, rest_s: float) -> None:
        self._most = failures
        self._rest_s = rest_s
        self._count = 0
        self._shut_until: float | None = None

    def wait_s(self) -> float | None:
        """Return how long the tool is still left alone; None where it may be asked.

        When the rest is over one call may try; the next waits for what came of it.
        """
        if self._shut_until is None:
            return None
        now = asyncio.get_running_loop().time()
        if now < self._shut_until:
            return self._shut_until - now
        self._shut_until = now + self._rest_s
        return None

    def told(self, *, is_well: bool) -> None:
        """Take note of how a call ended. Only what a retry might mend counts as a failure."""
        if is_well:
            self._count, self._shut_until = 0, None
            return
        self._count += 1
        if self._count >= self._most:
            self._shut_until = asyncio.get_running_loop().time() + self._rest_s
