"""Limits of the HTTP server: connections, waiting for a request, its size, and calls in flight of one caller.

uvicorn waits for headers and bodies for ever, so a caller that sends half of a request would keep a connection and its
memory until it ends.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import Message, Receive
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fingerpost.runtime.instruments import REFUSED_CALLS, REFUSED_CONNECTIONS, REQUESTS_IN_HAND

HEADERS_S = 10.0
MOST_HEADER_BYTES = 65_536
BODY_S = 30.0
# Of one process; systems that were not told otherwise give it 1,024 files.
MOST_CONNECTIONS = 500
MOST_BYTES: Final = 1_500_000
"""A plan with its memory is at most 1,000,000 bytes (``plan/limits.py``); some are escaped."""

_SHED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class BodyTooLarge(Exception):
    """A request's body has more than ``MOST_BYTES``."""


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which closes a connection if its headers take ``HEADERS_S`` or ``MOST_HEADER_BYTES``.

    A connection beyond ``MOST_CONNECTIONS`` is refused at once with 503.
    """

    _deadline: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            REFUSED_CONNECTIONS.add(1)
            transport.write(_SHED)
            transport.close()
            return
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        """Parse the data; the deadline ends with the headers of a request."""
        if not self._is_answering():
            self._start_deadline()
        super().data_received(data)
        if self._is_answering():
            self._stop_deadline()
            self._header_bytes = 0
            return
        self._header_bytes += len(data)
        if self._header_bytes > MOST_HEADER_BYTES:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

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
    """Return the messages of a request's body.

    Raises:
        TimeoutError: the body did not come within ``BODY_S``.
        BodyTooLarge: it is, or its header says that it will be, larger than ``MOST_BYTES``.
    """
    if declared_bytes > MOST_BYTES:
        raise BodyTooLarge
    messages: list[Message] = []
    received = 0
    async with asyncio.timeout(BODY_S):
        while True:
            message = await receive()
            messages.append(message)
            received += len(message.get("body", b""))
            if received > MOST_BYTES:
                raise BodyTooLarge
            if not message.get("more_body", False):
                return messages


class Admission:
    """Limits the requests in flight of one process: half of ``most`` for one caller, ``most`` for all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_of_one = max(1, most // 2)
        self._by_caller: Counter[str] = Counter()

    @contextmanager
    def enter(self, caller: str) -> Iterator[bool]:
        """Count a request during the block; yields False, and counts nothing, where there is no room for it."""
        is_full = self._by_caller.total() >= self._most or self._by_caller.get(caller, 0) >= self._most_of_one
        if is_full:
            REFUSED_CALLS.add(1)
            yield False
            return
        self._by_caller[caller] += 1
        REQUESTS_IN_HAND.add(1)
        try:
            yield True
        finally:
            REQUESTS_IN_HAND.add(-1)
            self._by_caller[caller] -= 1
            if not self._by_caller[caller]:
                del self._by_caller[caller]
