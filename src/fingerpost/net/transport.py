"""Send one request over a connection pool, and read its response within bounds of time and size."""

import logging
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import httpcore2
import httpx2

from fingerpost.errors import (
    SourceChanged,
    SourceFailed,
    SourceTimeout,
    SourceUnreachable,
    StorageUnavailable,
    ToolError,
)
from fingerpost.net.request import REDIRECTS, Request, RequestLimits
from fingerpost.net.response import NOT_MODIFIED, Body, Decompression, MemoryBody

_MOST_CONNECTIONS = 40
_KEEPALIVE_S = 15.0
_MOST_REFUSAL_BYTES = 65_536
_ours: ContextVar[bool] = ContextVar("fingerpost_request", default=False)


# These log the headers of responses, where a redirect may repeat a key. Other users keep their log.
for _name in ("httpcore2.connection", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(lambda _: not _ours.get())


class WireTransport(httpx2.AsyncBaseTransport):
    def __init__(self, backend: httpcore2.AsyncNetworkBackend, *, tls: ssl.SSLContext | None = None) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=_MOST_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        url = request.url
        outgoing = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _translating(url.host):
            answer = await self._pool.handle_async_request(outgoing)
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=_Stream(answer, url.host), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response, host: str) -> None:
        self._answer = answer
        self._host = host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translating(self._host):
            async for part in self._answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def _translating(host: str) -> Iterator[None]:
    before = _ours.get()
    _ours.set(True)
    try:
        yield
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise translate(error, host) from error
    finally:
        _ours.set(before)


def translate(error: Exception, host: str) -> StorageUnavailable | SourceChanged:
    if isinstance(error, httpcore2.TimeoutException):
        return SourceTimeout(f"{host} did not answer in time")
    if isinstance(error, httpcore2.NetworkError):
        if _is_distrust(error):
            return SourceUnreachable(f"The certificate of {host} is not accepted", retryable=False)
        return SourceUnreachable(f"{host} could not be reached, or closed the connection")
    if isinstance(error, httpcore2.RemoteProtocolError) and "closed connection" in str(error).lower():
        return SourceUnreachable(f"{host} closed the connection before its response was complete")
    if isinstance(error, httpcore2.RemoteProtocolError) and "disconnected" in str(error).lower():
        return SourceUnreachable(f"{host} closed the connection without a response")
    # It may be the rest of an earlier response that was longer than announced; a new connection helps.
    return SourceChanged(f"{host} answered something that is not HTTP", retryable=True)


def _is_distrust(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


async def read_content(answer: httpx2.Response, body: Body, max_bytes: int) -> None:
    """Read and decompress content; raise SourceFailed if it exceeds ``max_bytes`` on the wire or decompressed."""
    announced = answer.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > max_bytes:
        raise _too_large(max_bytes)
    decompression = Decompression(answer.headers.get("content-encoding", ""))
    wire_bytes = content_bytes = 0
    async for wire in answer.aiter_raw():
        wire_bytes += len(wire)
        for piece in decompression.feed(wire):
            content_bytes += len(piece)
            if max(wire_bytes, content_bytes) > max_bytes:
                raise _too_large(max_bytes)
            body.write(piece)
    decompression.end()


async def read_refusal(answer: httpx2.Response, request: Request) -> bytes:
    """Return the body of a refusal as far as it can be read; the status counts without it."""
    status, body = answer.status_code, MemoryBody()
    if status in request.accept:
        await read_content(answer, body, request.limits.max_bytes)
    elif status != NOT_MODIFIED and status not in REDIRECTS:
        with suppress(ToolError):
            await read_content(answer, body, min(_MOST_REFUSAL_BYTES, request.limits.max_bytes))
    return body.content()


def _too_large(max_bytes: int) -> SourceFailed:
    return SourceFailed(
        f"The source's answer is larger than the bound of {max_bytes:,} bytes",
        {"max_bytes": max_bytes},
        retryable=False,
    )


def wire_timeouts(limits: RequestLimits) -> dict[str, float]:
    return {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.total_s}
