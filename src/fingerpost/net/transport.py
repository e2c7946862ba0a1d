"""HTTP transport: connect only to allowed addresses, limit response sizes, and translate errors."""

import asyncio
import ipaddress
import logging
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpcore2

from fingerpost import errors
from fingerpost.errors import SourceUnreachable, advise
from fingerpost.net.request import REDIRECTS, Request
from fingerpost.net.response import NOT_MODIFIED, Body, Decompression, MemoryBody
from fingerpost.net.streams import StreamBackend

# Returns a host's addresses, in order of preference.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_MAX_ADDRESSES = 4
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

_MAX_CONNECTIONS = 40
_KEEPALIVE_S = 15.0
_MAX_ERROR_BODY_BYTES = 65_536


# Drop these loggers' records, because they contain headers, and a redirect's header may repeat a key.
for _name in ("httpcore2.connection", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(lambda _: False)


class AddressRefused(SourceUnreachable):
    """The host is on a private network, and the operator has not allowed it."""

    remedy = advise("The operator can allow this host with FINGERPOST_PRIVATE_HOSTS")
    retryable = False


def is_public(address: str) -> bool:
    """Whether an address is globally routable. If an IPv6 address embeds an IPv4 address, check the IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


async def resolve(host: str, port: int) -> list[str]:
    try:
        results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceUnreachable(f"The host name {host} could not be resolved") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """A network backend that connects only to public addresses and to explicitly allowed private hosts."""

    def __init__(
        self,
        private_hosts: Collection[str] = (),
        *,
        resolve: Resolve = resolve,
        inner: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._private_hosts = frozenset(host.lower() for host in private_hosts)
        self._resolve = resolve
        self._inner = inner or StreamBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (httpcore's signature)
        *_: Any,
        **__: Any,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first allowed address that responds; raise AddressRefused if all addresses are private."""
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve_allowed(host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"looking up {host} took too long") from error
        for untried in range(len(addresses), 0, -1):
            # Divide the remaining time, so that an unresponsive address does not use all of it.
            limit_s = None if deadline is None else max(0.0, deadline - time.monotonic()) / untried
            try:
                return await self._inner.connect_tcp(addresses[-untried], port, limit_s)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if untried == 1:
                    raise
        raise AssertionError("unreachable")

    async def _resolve_allowed(self, host: str, port: int) -> list[str]:
        addresses = list(await self._resolve(host, port))
        if host.lower() not in self._private_hosts:
            public = [address for address in addresses if is_public(address)]
            if addresses and not public:
                raise AddressRefused(f"{host} is on a private network, and private addresses are blocked")
            addresses = public
        if not addresses:
            raise SourceUnreachable(f"The host name {host} has no address")
        return addresses[:_MAX_ADDRESSES]


class WirePool(httpcore2.AsyncConnectionPool):
    """A connection pool over ``backend``; ``tls`` overrides the default certificates."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(
            ssl_context=tls, max_connections=_MAX_CONNECTIONS, keepalive_expiry=_KEEPALIVE_S, network_backend=backend
        )

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        """Send a request on a connection without unread bytes, which httpcore would read as the response."""
        while True:
            response = await super().handle_async_request(request)
            if response.extensions["network_stream"].get_extra_info("has_sent"):
                return response
            await response.aclose()


WIRE_ERRORS = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)


def translate_wire_error(error: Exception, host: str) -> errors.StorageUnavailable | errors.SourceChanged:
    if isinstance(error, httpcore2.TimeoutException):
        return errors.SourceTimeout(f"{host} did not answer in time")
    if isinstance(error, httpcore2.NetworkError):
        if _is_certificate_error(error):
            return errors.SourceUnreachable(f"The certificate of {host} was not accepted", retryable=False)
        return errors.SourceUnreachable(f"{host} could not be reached, or closed the connection")
    text = str(error).lower()
    if isinstance(error, httpcore2.RemoteProtocolError) and ("closed connection" in text or "disconnected" in text):
        return errors.SourceUnreachable(f"{host} closed the connection before its response was complete")
    # The error is retryable, because the data may be the rest of a response that exceeded its declared length.
    return errors.SourceChanged(f"{host} returned something that is not HTTP", retryable=True)


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


async def read_content(answer: httpcore2.Response, headers: Mapping[str, str], body: Body, max_bytes: int) -> None:
    """Read and decompress content; raise SourceFailed if it exceeds ``max_bytes``, compressed or decompressed."""
    content_length = headers.get("content-length", "")
    if content_length.isdigit() and int(content_length) > max_bytes:
        raise _new_too_large_error(max_bytes)
    decompression = Decompression(headers.get("content-encoding", ""))
    wire_bytes = content_bytes = 0
    async for wire in answer.aiter_stream():
        wire_bytes += len(wire)
        for chunk in decompression.feed(wire):
            content_bytes += len(chunk)
            if max(wire_bytes, content_bytes) > max_bytes:
                raise _new_too_large_error(max_bytes)
            body.write(chunk)
    decompression.end()


async def read_error_body(answer: httpcore2.Response, headers: Mapping[str, str], request: Request) -> bytes:
    """Read an error response's body; if reading fails, raise for an accepted status, else return what was read."""
    status, body = answer.status, MemoryBody()
    if status in request.accept:
        await read_content(answer, headers, body, request.limits.max_bytes)
    elif status != NOT_MODIFIED and status not in REDIRECTS:
        with suppress(errors.ToolError, *WIRE_ERRORS):
            await read_content(answer, headers, body, min(_MAX_ERROR_BODY_BYTES, request.limits.max_bytes))
    return body.content()


def _new_too_large_error(max_bytes: int) -> errors.SourceFailed:
    return errors.SourceFailed(
        f"The source's response is larger than the limit of {max_bytes:,} bytes",
        {"max_bytes": max_bytes},
        retryable=False,
    )
