"""The pace of what would keep others waiting: the steps of plans beside calls, long work of one caller beside others'.

Each step of a plan takes the event loop for a while, and sixty-four that begin together would keep all calls waiting
for all of them. So, while there are other calls, one step begins at a time, and then none for twice as long as that
one took.
"""

import asyncio
import time
from weakref import WeakKeyDictionary

# So long after a call others are to be expected.
_RECENT_S = 0.25
_LONGEST_PAUSE_S = 0.05
_LONGEST_REST_S = 0.2
# Of the time that a step kept the loop, or a thread the interpreter.
_PAUSE_TIMES = 2.0
# Half of the time is the others'.
_REST_TIMES = 1.0


class BackgroundPace:
    """Spaces the beginnings of background work, in each event loop by itself, as long as calls come in."""

    def __init__(self) -> None:
        self._caller = ""
        self._called_at = -_RECENT_S
        self._another_called_at = -_RECENT_S
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()

    def note_call(self, caller: str) -> None:
        """Note that a call has come that somebody waits for, and whose it is."""
        if caller != self._caller:
            self._caller, self._another_called_at = caller, self._called_at
        self._called_at = time.monotonic()

    @property
    def is_needed(self) -> bool:
        """Whether a call has come of late."""
        return _is_recent(self._called_at)

    def find_rest_s(self, took_s: float, _caller: str) -> float:
        """Return how long a thread rests after background work that took so long; not at all while no call comes."""
        return min(_PAUSE_TIMES * took_s, _LONGEST_REST_S) if self.is_needed else 0.0

    def find_rest_for_others_s(self, took_s: float, caller: str) -> float:
        """Return how long a thread rests after a caller's work that took so long; not at all while no other calls."""
        other_called_at = self._called_at if caller != self._caller else self._another_called_at
        return min(_REST_TIMES * took_s, _LONGEST_REST_S) if _is_recent(other_called_at) else 0.0

    async def begin(self) -> None:
        """Wait for the turn to begin a piece of background work; not at all where no call has come of late."""
        if not self.is_needed:
            return
        loop = asyncio.get_running_loop()
        turns = self._by_loop.get(loop)
        if turns is None:
            turns = self._by_loop[loop] = _Turns()
        await turns.take()


def _is_recent(called_at: float) -> bool:
    return time.monotonic() - called_at < _RECENT_S


class _Turns:
    """Turns of one event loop."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._free_at = 0.0

    async def take(self) -> None:
        """Wait until nothing else begins, and until the pause after what began last is over."""
        async with self._lock:
            await asyncio.sleep(self._free_at - time.monotonic())
            # It runs once this one has given the loop back, and before the next is let in.
            asyncio.get_running_loop().call_soon(self._note_end, time.monotonic())

    def _note_end(self, begun: float) -> None:
        now = time.monotonic()
        self._free_at = now + min(_PAUSE_TIMES * (now - begun), _LONGEST_PAUSE_S)


PACE = BackgroundPace()
"""Of this process."""
