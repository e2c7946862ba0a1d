"""A tool's own limit of calls a second, which refuses at once and never queues (rule E2)."""

import threading
import time
from collections import deque
from collections.abc import Callable

from fingerpost.errors import SourceLimited

DEFAULT_PER_SECOND = 5
_SPAN_S = 1.0


class CallLimit:
    """At most ``per_second`` calls within any second, counted in this process.

    Args:
        tool: whose calls are counted.
        clock_s: seconds; by default of a clock that nobody sets.
    """

    def __init__(self, tool: str, per_second: int, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._tool = tool
        self._per_second = per_second
        self._clock_s = clock_s
        self._passed_s: deque[float] = deque(maxlen=per_second)
        self._lock = threading.Lock()

    def enter(self) -> None:
        """Count a call; one that is refused does not count.

        Raises:
            SourceLimited: as many calls as may pass have passed within the last second.
        """
        with self._lock:
            now_s = self._clock_s()
            if len(self._passed_s) == self._per_second and now_s - self._passed_s[0] < _SPAN_S:
                wait_s = self._passed_s[0] + _SPAN_S - now_s
                raise SourceLimited(f"{self._tool} takes {self._per_second} calls a second", retry_after_s=wait_s)
            self._passed_s.append(now_s)
