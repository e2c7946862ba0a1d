"""A request's head and content in one write, because each write of its own wakes the server for half a request."""

import ssl
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore2

from fingerpost.net.addresses import SocketOption

# What is larger is not kept back, so that a long content is not copied as a whole.
_MOST_WAITING_BYTES = 65_536


class JoiningBackend(httpcore2.AsyncNetworkBackend):
    """Network backend whose streams join their writes until something is read."""

    def __init__(self, inner: httpcore2.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (the port's own signature)
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect as the inner backend does."""
        return JoiningStream(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._inner.sleep(seconds)


class JoiningStream(httpcore2.AsyncNetworkStream):
    """Stream that keeps what is written until something is read, or until it is more than 64 KiB.

    Written only where every message is answered, as in HTTP: what is written and never followed by a read stays here.
    """

    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self._waiting = bytearray()
        self._write_timeout: float | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Write what waits, then read.

        Raises:
            httpcore2.ReadError, httpcore2.ReadTimeout, httpcore2.WriteTimeout: as the inner stream.
        """
        # A server may answer and close before it has read all; then its answer can be read.
        with suppress(httpcore2.WriteError):
            await self._write_waiting()
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Keep what is small; write what is large after what waits.

        Raises:
            httpcore2.WriteError, httpcore2.WriteTimeout: as the inner stream.
        """
        self._write_timeout = timeout
        if len(self._waiting) + len(buffer) <= _MOST_WAITING_BYTES:
            self._waiting += buffer
            return
        await self._write_waiting()
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close; what waits is dropped, because nobody will read its answer."""
        self._waiting.clear()
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        """Return the encrypted stream, which joins its writes too."""
        await self._write_waiting()
        return JoiningStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Return what the inner stream knows."""
        return self._inner.get_extra_info(info)

    async def _write_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting = bytes(self._waiting), bytearray()
            await self._inner.write(waiting, self._write_timeout)
