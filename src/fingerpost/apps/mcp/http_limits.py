"""Limit the time and size of HTTP requests, and each caller's concurrent calls.

uvicorn has no timeouts for headers or bodies.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from typing import Final

from anyio import move_on_after
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fingerpost.apps.mcp.listener import is_loopback, parse_ip_address
from fingerpost.runtime.instruments import REFUSED_CALLS

HEADERS_S = 10.0
MAX_HEADER_BYTES = 65_536
MAX_HEADERS = 100
BODY_S = 15.0
ANSWER_S = 120.0
ABANDONED_S = 1.0
MAX_CALLS_PER_CALLER = 8
MAX_BYTES: Final = 1_500_000
"""A plan with its memory is at most 1,000,000 bytes (``plan/limits.py``) before JSON escaping."""
# Includes chunk framing and trailers.
MAX_REQUEST_BYTES = 2 * MAX_BYTES
# Beyond this number of chunks, their average size must reach the minimum: each chunk costs about a microsecond.
MAX_SMALL_PIECES, MIN_PIECE_BYTES = 20_000, 64


class LimitedHttpProtocol(HttpToolsProtocol):
    """Extends uvicorn's protocol: closes connections whose requests exceed the limits on time, size, headers or chunks.

    Pipelining is not supported, because a single read could start thousands of requests. A request that arrives during
    an answer is dropped, and the connection is closed after that answer, so the client retries (RFC 9112, 9.3.2).
    """

    _deadline: asyncio.TimerHandle | None = None
    _request_bytes = _pieces = _fields = 0
    _is_ending = _keeps_alive = False
    _refusal = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.client is not None:
            host, port = self.client
            # uvicorn would not match an IPv4-mapped address with the IPv4 address of a trusted proxy.
            self.client = (str(parse_ip_address(host) or host), port)
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        if self._is_ending:
            return
        if not self._is_answering():
            self._start_deadline()
        self._request_bytes += len(data)
        super().data_received(data)
        if self._is_answering():
            self._stop_deadline()
        if self._request_bytes > (MAX_REQUEST_BYTES if self._is_answering() else MAX_HEADER_BYTES):
            self.transport.close()

    def on_message_begin(self) -> None:
        # A ValueError in a parser callback ends parsing.
        if self._is_answering():
            raise ValueError
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > MAX_HEADERS:
            self._refuse(f"The request has more than {MAX_HEADERS} headers.")
        if self._is_answering():
            # Ignore trailers, because uvicorn would append them to the headers that a trusted proxy set.
            return
        if name.lower() == b"host" and any(known == b"host" for known, _ in self.headers):
            # A proxy may have checked the other header (RFC 9112, section 3.2).
            self._refuse("The request has two Host headers.")
        # The parser does not strip trailing whitespace (RFC 9110, section 5.5).
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self.cycle.scope["method"] == "POST":
            self.cycle.transport = _ResponseTransport(self.transport)
        # Close the connection after an answer that is sent before the whole body has arrived.
        self._keeps_alive, self.cycle.keep_alive = self.cycle.keep_alive, False

    def on_body(self, body: bytes) -> None:
        self._pieces += 1
        if self._pieces > MAX_SMALL_PIECES and self._pieces * MIN_PIECE_BYTES > self._request_bytes:
            self._refuse(
                f"The body has more than {MAX_SMALL_PIECES:,} chunks that have less than {MIN_PIECE_BYTES} bytes on "
                "average. Send larger chunks."
            )
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._request_bytes = self._pieces = self._fields = 0
        self.cycle.keep_alive = self._keeps_alive
        super().on_message_complete()

    def shutdown(self) -> None:
        self._keeps_alive = False
        super().shutdown()

    def _refuse(self, reason: str) -> None:
        self._refusal = reason
        raise ValueError(reason)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed, but not in the middle of another answer."""
        self._is_ending = True
        if self._is_answering() and (self.cycle.response_started or not self.cycle.more_body):
            self.cycle.keep_alive = False
        else:
            super().send_400_response(self._refusal or msg)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(HEADERS_S, self._close_if_idle)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_idle(self) -> None:
        self._deadline = None
        if not self._is_answering():
            self.transport.close()


class _ResponseTransport(asyncio.Transport):
    """Sends headers and content in one packet if a response declares its length; HEAD responses have no content."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        # None before the first write, and empty once the headers are sent.
        self._headers: bytes | None = None

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def write(self, data: bytes) -> None:  # type: ignore[override]
        if self._headers is None and b"\r\ncontent-length: " in data:
            self._headers = data
        else:
            self._transport.write((self._headers or b"") + data)
            self._headers = b""

    def close(self) -> None:
        if self._headers:
            self._transport.write(self._headers)
        self._transport.close()


async def receive_body(receive: Receive, declared_bytes: int) -> bytes | None:
    """Return a request's body, or None if it is too large; raise ClientDisconnect, or TimeoutError after ``BODY_S``."""
    if declared_bytes > MAX_BYTES:
        return None
    body, is_complete = bytearray(), False
    async with asyncio.timeout(BODY_S):
        while not is_complete:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            is_complete = not message.get("more_body", False)
            if len(body) > MAX_BYTES:
                return None
    return bytes(body)


async def answer_while_connected(
    answer: Callable[[Send], Awaitable[None]], receive: Receive, send: Send, late_event: bytes
) -> bool:
    """Run ``answer``; cancel it if the client disconnects, or after ``ANSWER_S`` seconds.

    Return False if the client disconnected. When ``ANSWER_S`` has passed, send ``late_event`` if a stream has begun; if
    none has begun, raise TimeoutError.
    """
    is_begun = has_disconnected = False
    with move_on_after(ANSWER_S) as scope:

        async def cancel_at_disconnect() -> None:
            nonlocal has_disconnected
            while (await receive())["type"] != "http.disconnect":
                pass
            has_disconnected = True
            scope.cancel()

        async def send_and_watch(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                watcher.cancel()
                scope.deadline = inf
            await send(message)

        watcher = asyncio.create_task(cancel_at_disconnect())
        try:
            # Let the watcher run first, because many answers never yield to it.
            await asyncio.wait([watcher], timeout=0)
            if not has_disconnected:
                await answer(send_and_watch)
        finally:
            watcher.cancel()
    if scope.cancel_called and not has_disconnected:
        if not is_begun:
            raise TimeoutError
        await send({"type": "http.response.body", "body": late_event})
    return not has_disconnected


class Admission:
    """Limits the concurrent requests to a process, per caller and in total.

    At most ``max_calls`` are answered at once. A caller may have ``MAX_CALLS_PER_CALLER`` requests at once, but at most
    half of ``max_calls``. A loopback address may have half of ``max_calls``, because several programs or proxied
    callers may share it.
    """

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self._counts: Counter[str | None] = Counter()

    def enter(self, caller: str) -> AbstractContextManager[bool]:
        """Count a caller's request while the block runs; yield False if the caller already has too many."""
        half = max(1, self._max_calls // 2)
        return self._count(caller, half if is_loopback(caller) else min(half, MAX_CALLS_PER_CALLER))

    def answer(self) -> AbstractContextManager[bool]:
        """Count a fully received request while the block runs; yield False if the process has too many."""
        return self._count(None, self._max_calls)

    def hold(self, caller: str) -> None:
        """Count an abandoned request for ``ABANDONED_S`` more, because callers could abandon hundreds per second."""
        self._counts[caller] += 1
        asyncio.get_running_loop().call_later(ABANDONED_S, self._release, caller)

    @contextmanager
    def _count(self, name: str | None, limit: int) -> Iterator[bool]:
        if self._counts[name] >= limit:
            REFUSED_CALLS.add(1)
            yield False
            return
        self._counts[name] += 1
        try:
            yield True
        finally:
            self._release(name)

    def _release(self, name: str | None) -> None:
        self._counts[name] -= 1
        if not self._counts[name]:
            del self._counts[name]
