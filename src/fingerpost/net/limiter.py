"""Rate limiting: delay requests to stay within a server's rate limit, across all processes that share a store."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from fingerpost import clock
from fingerpost.errors import SourceLimited
from fingerpost.net.request import parse_host
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.limits import MAX_PAUSE_MS, Limits, Pace

# The rate limit for servers on the operator's network.
OPERATOR_PER_SECOND, OPERATOR_BURST = 50, 100

_SECOND_MS = 1000
# Stop waiting in the queue just before the deadline, to raise SourceLimited instead of a timeout.
_MARGIN_S = 0.05


@dataclass(slots=True)
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiter_count: int = 0
    next_turn_ms: float = 0.0


class Limiter:
    """Delays requests to stay within each host's rate limit; requests are sent in order of arrival.

    Args:
        paces: rate limits by lower-case host, or host and path; a path's pace overrides the pace of its host.
        operator_hosts: the operator's hosts, which get ``OPERATOR_PER_SECOND`` and ``OPERATOR_BURST``.
        clock_ms: returns Unix milliseconds; all processes that share a store must use the same clock.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        paces: Mapping[str, Pace] | None = None,
        default_per_second: int = 8,
        default_burst: int = 8,
        operator_hosts: Collection[str] = (),
        clock_ms: Callable[[], int] = clock.read_system_ms,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits = limits or Limits()
        self._paces = dict(paces or {})
        self._default = (default_per_second, default_burst)
        self._operator_hosts = frozenset(host.lower() for host in operator_hosts)
        self._clock_ms = clock_ms
        self._sleep = sleep
        self._queues: dict[str, _Queue] = {}

    def pace(self, address: str) -> Pace:
        """Return the pace for a server and an optional path; a configured pace applies to all ports of its host."""
        lowered = address.lower()
        server, slash, path = lowered.partition("/")
        host = parse_host(server)
        per_second, burst = (OPERATOR_PER_SECOND, OPERATOR_BURST) if host in self._operator_hosts else self._default
        configured = self._paces.get(f"{host}{slash}{path}") or self._paces.get(host)
        return configured or Pace(name=server, per_second=per_second, burst=burst)

    async def wait(self, address: str, *, max_wait_s: float, longest_pause_s: float = math.inf) -> None:
        """Wait for a turn; raise SourceLimited for waits over ``max_wait_s`` and pauses over ``longest_pause_s``."""
        pace = self.pace(address)
        deadline_ms = self._clock_ms() + max_wait_s * _SECOND_MS
        queue = self._queues.setdefault(pace.name, _Queue())
        # Refuse at once if the queue is too long to finish in time.
        next_turn_s = (queue.next_turn_ms - self._clock_ms()) / _SECOND_MS if queue.lock.locked() else 0.0
        queue_s = (queue.waiter_count + 1) / pace.per_second
        if next_turn_s > 0 and next_turn_s + queue_s > max_wait_s:
            raise _new_limit_error(address, next_turn_s + queue_s)
        queue.waiter_count += 1
        try:
            async with asyncio.timeout(max(0.0, max_wait_s - _MARGIN_S)):
                await queue.lock.acquire()
        except TimeoutError as error:
            raise _new_limit_error(address, queue_s) from error
        finally:
            queue.waiter_count -= 1
        try:
            await self._take_turn(address, pace, queue, deadline_ms, longest_pause_s)
        finally:
            queue.lock.release()

    async def _take_turn(
        self, address: str, pace: Pace, queue: _Queue, deadline_ms: float, longest_pause_s: float
    ) -> None:
        while True:
            now_ms = self._clock_ms()
            # Count here if possible, because a thread would take longer.
            wait_ms = self._limits.try_take(pace, now_ms)
            if wait_ms is None:
                wait_ms = await run_in_thread(self._limits.take, pace, now_ms)
            if wait_ms == 0:
                return
            # Without a pause, the first request in the queue waits at most one interval.
            is_too_long = wait_ms > max(pace.interval_ms, longest_pause_s * _SECOND_MS)
            if is_too_long or now_ms + wait_ms > deadline_ms:
                raise _new_limit_error(address, wait_ms / _SECOND_MS)
            queue.next_turn_ms = now_ms + wait_ms
            await self._sleep(wait_ms / _SECOND_MS)

    async def pause(self, address: str, wait_s: float) -> None:
        """Block all requests that share a server's pace, after the server has answered with Retry-After."""
        pace, now_ms = self.pace(address), self._clock_ms()
        pause_ms = min(round(wait_s * _SECOND_MS), MAX_PAUSE_MS)
        await run_in_thread(self._limits.pause, pace, pause_ms, now_ms)


def _new_limit_error(address: str, wait_s: float) -> SourceLimited:
    host = address.partition("/")[0]
    return SourceLimited(f"{host} cannot be called again for {math.ceil(wait_s)} s", retry_after_s=wait_s)
