"""Limit the HTTP server: connections, time for headers, bodies and answers, and concurrent calls of each caller.

uvicorn itself waits for headers and bodies indefinitely.
"""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from starlette.types import Message, Receive, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fingerpost.apps.mcp.address import is_loopback, name_machine
from fingerpost.runtime.instruments import REFUSED_CALLS, REFUSED_CONNECTIONS, REQUESTS_IN_HAND
from fingerpost.transit.kernel_mode import is_compiling

HEADERS_S = 10.0
MAX_HEADER_BYTES = 65_536
BODY_S = 15.0
ANSWER_S = 120.0
# Per process; systems allow 1,024 open files by default.
MAX_CONNECTIONS = 500
MAX_CONNECTIONS_PER_ADDRESS = 50
MAX_CALLS_PER_CALLER = 8
MAX_BYTES: Final = 1_500_000
"""A plan with its memory has at most 1,000,000 bytes (``plan/limits.py``), and escaping adds more."""

_SHED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class BodyTooLarge(Exception):
    """A request's body has more than ``MAX_BYTES``."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which closes a connection if its headers exceed ``HEADERS_S`` or ``MAX_HEADER_BYTES``.

    A connection beyond ``MAX_CONNECTIONS``, or beyond ``MAX_CONNECTIONS_PER_ADDRESS`` of one address, is refused with
    503. Loopback and trusted proxies are exempt from the second limit, because many callers may share them.
    """

    machine: str | None = None
    _deadline: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def __init__(self, *given: Any, trusted_proxies: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        self._trusted = [ipaddress.ip_network(text) for text in trusted_proxies]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.machine = self._find_machine()
        if len(self.connections) > MAX_CONNECTIONS or self._is_one_too_many():
            REFUSED_CONNECTIONS.add(1)
            transport.write(_SHED)
            transport.close()
            return
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        if not self._is_answering():
            self._start_deadline()
        super().data_received(data)
        if self._is_answering():
            self._stop_deadline()
            self._header_bytes = 0
            return
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES:
            self.transport.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        # The parser keeps white space after a value, which is not part of it (RFC 9110, 5.5).
        super().on_header(name, value.strip(b" \t"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def _find_machine(self) -> str | None:
        host = self.client[0] if self.client else ""
        if is_loopback(host) or not host:
            return None
        return None if any(ipaddress.ip_address(host) in network for network in self._trusted) else name_machine(host)

    def _is_one_too_many(self) -> bool:
        same_machine = [
            one for one in self.connections if isinstance(one, PatientProtocol) and one.machine == self.machine
        ]
        return self.machine is not None and len(same_machine) > MAX_CONNECTIONS_PER_ADDRESS

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(HEADERS_S, self._give_up)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._is_answering():
            self.transport.close()


async def receive_body(receive: Receive, declared_bytes: int) -> list[Message]:
    """Return a body's messages; raise TimeoutError after ``BODY_S``, BodyTooLarge over ``MAX_BYTES``."""
    if declared_bytes > MAX_BYTES:
        raise BodyTooLarge
    messages: list[Message] = []
    received = 0
    async with asyncio.timeout(BODY_S):
        while True:
            message = await receive()
            messages.append(message)
            received += len(message.get("body", b""))
            if received > MAX_BYTES:
                raise BodyTooLarge
            if not message.get("more_body", False):
                return messages


async def answer_while_connected(answer: Callable[[Send], Awaitable[None]], receive: Receive, send: Send) -> None:
    """Run ``answer``, and cancel it if the client disconnects before it begins to send; after that, the SDK cancels it.

    Raise TimeoutError if it has not begun after ``ANSWER_S``, not counting the time while the engine compiles.
    """
    loop = asyncio.get_running_loop()
    has_left = False
    limit: asyncio.TimerHandle

    async def watch() -> None:
        nonlocal has_left
        while (await receive())["type"] != "http.disconnect":
            pass
        has_left = True
        if not deadline.expired():
            deadline.reschedule(loop.time())

    def give_up() -> None:
        nonlocal limit
        if is_compiling():
            limit = loop.call_later(ANSWER_S, give_up)
        elif not deadline.expired():
            deadline.reschedule(loop.time())

    async def begin(message: Message) -> None:
        watching.cancel()
        limit.cancel()
        await send(message)

    try:
        async with asyncio.timeout(None) as deadline:
            watching = asyncio.create_task(watch())
            limit = loop.call_later(ANSWER_S, give_up)
            try:
                await answer(begin)
            finally:
                watching.cancel()
                limit.cancel()
    except TimeoutError:
        if not has_left:
            raise


class Admission:
    """Limits one process's concurrent requests: per caller from the headers on, in total from the body on.

    At most ``max_calls`` are answered at a time. A caller may have ``MAX_CALLS_PER_CALLER``, or half of ``max_calls``
    if its name may stand for many callers; never more than that half.
    """

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self._answering = 0
        self._by_caller: Counter[str] = Counter()

    @contextmanager
    def enter(self, caller: str, *, may_be_many: bool = False) -> Iterator[bool]:
        """Count a request while the block runs; yield False if its caller has too many."""
        half = max(1, self._max_calls // 2)
        if self._by_caller.get(caller, 0) >= (half if may_be_many else min(half, MAX_CALLS_PER_CALLER)):
            REFUSED_CALLS.add(1)
            yield False
            return
        self._by_caller[caller] += 1
        try:
            yield True
        finally:
            self._by_caller[caller] -= 1
            if not self._by_caller[caller]:
                del self._by_caller[caller]

    @contextmanager
    def answer(self) -> Iterator[bool]:
        """Count a received request while the block runs; yield False if the process has too many."""
        if self._answering >= self._max_calls:
            REFUSED_CALLS.add(1)
            yield False
            return
        self._answering += 1
        REQUESTS_IN_HAND.add(1)
        try:
            yield True
        finally:
            REQUESTS_IN_HAND.add(-1)
            self._answering -= 1
