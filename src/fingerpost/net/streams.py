"""Network streams for httpcore on asyncio alone, because anyio's streams take twice as long for a short response."""

import asyncio
import selectors
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpcore2

# A server must wait while this many received bytes are unread.
_MAX_UNREAD_BYTES = 1 << 18

_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


class StreamBackend(httpcore2.AsyncNetworkBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (httpcore's signature)
        *_: Any,
        **__: Any,
    ) -> "_Stream":
        """Connect to an address, without socket options, because ``WirePool`` sets none."""
        async with _connecting(timeout):
            return (await asyncio.get_running_loop().create_connection(_Stream, host, port))[1]


@asynccontextmanager
async def _connecting(limit_s: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(limit_s):
            yield
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout from error
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error


class _Stream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """A stream that sends at its next read, so that an HTTP/1.1 request's headers and content share a packet."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._unsent = b""
        self._unread = bytearray()
        self._has_ended = False
        self._error: Exception | None = None
        self._has_changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) >= _MAX_UNREAD_BYTES:
            self._transport.pause_reading()
        self._has_changed.set()

    def eof_received(self) -> None:
        self._has_ended = True
        self._has_changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._error = exc
        self.eof_received()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109
        self._unsent += buffer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Send what was written, and return bytes from the server, or none at the end; ``timeout`` covers both."""
        # A server may respond and close the connection before it has read the whole request.
        self._transport.write(self._unsent)
        self._unsent = b""
        if not self._unread and not self._has_ended:
            self._has_changed.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._has_changed.wait()
            except TimeoutError as error:
                raise httpcore2.ReadTimeout from error
        if not self._unread and self._error is not None:
            raise httpcore2.ReadError(str(self._error)) from self._error
        data = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if len(self._unread) < _MAX_UNREAD_BYTES:
            self._transport.resume_reading()
        return data

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> "_Stream":
        loop = asyncio.get_running_loop()
        async with _connecting(timeout):
            encrypted = await loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        self._transport = cast("asyncio.Transport", encrypted)
        return self

    async def aclose(self) -> None:
        self._transport.abort()
        # The event loop closes the socket in its next iteration.
        await asyncio.sleep(0)

    def get_extra_info(self, info: str) -> Any:
        """Return whether the last request is sent, or whether the connection is readable, which httpcore checks."""
        if info == "has_sent":
            return not self._unsent
        if info != "is_readable":
            return None
        # A TLS connection that was reset has no socket before it reports its end.
        sock = self._transport.get_extra_info("socket")
        if self._unread or self._has_ended or sock is None:
            return True
        # The event loop may not have read it yet.
        with _Selector() as selector:
            selector.register(sock, selectors.EVENT_READ)
            return bool(selector.select(0))
