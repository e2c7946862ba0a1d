"""Rate limiting: one token bucket per server, shared by all processes that share a file."""

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pyrate_limiter import Rate, TokenBucket
from pyrate_limiter.abstracts.algorithm import Decision, State, StateAlgorithm
from pyrate_limiter.clocks import WallClock

from fingerpost.errors import SourceLimited
from fingerpost.net.pace import Pace
from fingerpost.net.request import host_of

# A server of the operator's own network limits nobody else.
OWN_PER_SECOND, OWN_BURST = 50, 100

_SECOND_MS = 1000
# A request whose time runs out in the queue is told so before its own deadline calls it a timeout.
_MARGIN_S = 0.05


class Limit(Protocol):
    """Storage of one rate limit's state. ``check`` and ``pause`` may block and are called in a thread."""

    def try_check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision | None:
        """As ``check``, at once; None where that might block."""
        ...

    def check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision:
        """Take tokens at ``now`` (milliseconds), or say how long they are not to be had."""
        ...

    def pause(self, until_ms: int) -> None:
        """Let nobody pass before an instant."""
        ...


class MemoryLimit:
    """A rate limit of this process alone, kept in memory."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._paused_until_ms = 0
        self._lock = threading.Lock()

    def try_check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision | None:
        """As ``check``, which waits for nobody."""
        return self.check(algorithm, rates, now, weight)

    def check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision:
        """Take tokens, or say how long they are not to be had."""
        with self._lock:
            if now < self._paused_until_ms:
                return Decision(failing_rate=rates[0], retry_after_ms=self._paused_until_ms - now)
            before = algorithm.initial(rates) if self._state is None else self._state
            self._state, decision = algorithm.step(rates, before, now, weight)
            return decision

    def pause(self, until_ms: int) -> None:
        """Let nobody pass before an instant."""
        with self._lock:
            self._paused_until_ms = max(self._paused_until_ms, until_ms)


@dataclass(slots=True)
class _Queue:
    """Requests of one process that wait for one limit, behind the one that holds the lock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    first_passes_ms: float = 0.0


class Limiter:
    """Delays requests to a host to its rate, first come, first served.

    Args:
        open_limit: gives the store of a limit by name.
        paces: by host, or host and path, in lower case; a path's stands in place of its host's.
            Other hosts have ``default_per_second`` and ``default_burst`` each.
        own_hosts: the operator's own, which have ``OWN_PER_SECOND`` and ``OWN_BURST`` each.
        clock_ms: milliseconds, the same for all who share a store.
        sleep: waits some seconds.
    """

    def __init__(
        self,
        open_limit: Callable[[str], Limit] | None = None,
        *,
        paces: Mapping[str, Pace] | None = None,
        default_per_second: int = 8,
        default_burst: int = 8,
        own_hosts: Collection[str] = (),
        clock_ms: Callable[[], int] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._open_limit = open_limit or (lambda _: MemoryLimit())
        self._paces = dict(paces or {})
        self._default = (default_per_second, default_burst)
        self._own_hosts = frozenset(host.lower() for host in own_hosts)
        self._clock_ms = clock_ms or WallClock().now
        self._sleep = sleep
        self._limits: dict[str, Limit] = {}
        self._queues: dict[str, _Queue] = {}

    def pace(self, address: str) -> Pace:
        """Return how fast a server, or a server and a path, may be asked; a pace that is stated is its host's.

        On another port than its scheme's own another server answers, which may be asked at a pace of its own.
        """
        wanted = address.lower()
        server, slash, path = wanted.partition("/")
        host = host_of(server)
        per_second, burst = (OWN_PER_SECOND, OWN_BURST) if host in self._own_hosts else self._default
        stated = self._paces.get(f"{host}{slash}{path}") or self._paces.get(host)
        return stated or Pace(name=server, per_second=per_second, burst=burst)

    async def wait(self, address: str, *, longest_s: float) -> None:
        """Wait until a host, or a host and a path, may be asked.

        Raises:
            SourceLimited: that would be later than ``longest_s`` from now.
        """
        pace = self.pace(address)
        deadline_ms = self._clock_ms() + longest_s * 1000
        queue = self._queues.setdefault(pace.name, _Queue())
        # Whoever stands so far behind that it would be too late is told at once.
        first_s = (queue.first_passes_ms - self._clock_ms()) / 1000 if queue.lock.locked() else 0.0
        behind_s = (queue.waiting + 1) / pace.per_second
        if first_s > 0 and first_s + behind_s > longest_s:
            raise _refuse(address, first_s + behind_s)
        queue.waiting += 1
        try:
            async with asyncio.timeout(max(0.0, longest_s - _MARGIN_S)):
                await queue.lock.acquire()
        except TimeoutError as error:
            raise _refuse(address, behind_s) from error
        finally:
            queue.waiting -= 1
        try:
            await self._take(address, pace, queue, deadline_ms)
        finally:
            queue.lock.release()

    async def _take(self, address: str, pace: Pace, queue: _Queue, deadline_ms: float) -> None:
        algorithm, rates, limit = TokenBucket(), [_rate_of(pace)], self._limit(pace.name)
        while True:
            now_ms = self._clock_ms()
            # A thread was measured to cost more than the check itself, and mostly nobody else holds the limit.
            decision = limit.try_check(algorithm, rates, now_ms, 1)
            if decision is None:
                decision = await asyncio.to_thread(limit.check, algorithm, rates, now_ms, 1)
            if decision.allowed:
                return
            wait_ms = decision.retry_after_ms or 1
            if now_ms + wait_ms > deadline_ms:
                raise _refuse(address, wait_ms / 1000)
            queue.first_passes_ms = now_ms + wait_ms
            await self._sleep(wait_ms / 1000)

    async def pause(self, address: str, wait_s: float) -> None:
        """Block all requests under one limit for a while, because its host answered with Retry-After."""
        until_ms = self._clock_ms() + round(wait_s * 1000)
        await asyncio.to_thread(self._limit(self.pace(address).name).pause, until_ms)

    def _limit(self, name: str) -> Limit:
        if name not in self._limits:
            self._limits[name] = self._open_limit(name)
        return self._limits[name]


def _rate_of(pace: Pace) -> Rate:
    """Return a pace as the algorithm knows it: whole requests in whole milliseconds, never faster than the pace."""
    if float(pace.per_second).is_integer():
        return Rate(int(pace.per_second), _SECOND_MS, burst=pace.burst)
    return Rate(1, math.ceil(_SECOND_MS / pace.per_second), burst=pace.burst)


def _refuse(address: str, wait_s: float) -> SourceLimited:
    host = address.partition("/")[0]
    return SourceLimited(f"{host} may not be asked again for {math.ceil(wait_s)} s", retry_after_s=wait_s)
