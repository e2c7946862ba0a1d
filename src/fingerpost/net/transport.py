"""HTTP transport: pool connections, read responses within size limits, and translate errors."""

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpcore2
import httpx2

from fingerpost import errors
from fingerpost.net.request import REDIRECTS, Request
from fingerpost.net.response import NOT_MODIFIED, Body, Decompression, MemoryBody

_MAX_CONNECTIONS = 40
_KEEPALIVE_S = 15.0
_MAX_ERROR_BODY_BYTES = 65_536


# Drop these loggers' records, because they contain headers, and a redirect's header may repeat a key.
for _name in ("httpcore2.connection", "httpcore2.http11", "httpcore2.http2"):
    logging.getLogger(_name).addFilter(lambda _: False)


class WireTransport(httpx2.AsyncHTTPTransport):
    """A connection pool over ``backend``; ``tls`` overrides the default certificates."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, *, tls: ssl.SSLContext | None = None) -> None:
        # Replace the base class's pool, which connects to any address.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=backend,
        )


@contextmanager
def translating_wire_errors(host: str) -> Iterator[None]:
    try:
        yield
    except httpx2.TransportError as error:
        raise _translate(error, host) from error


def _translate(error: httpx2.TransportError, host: str) -> errors.StorageUnavailable | errors.SourceChanged:
    if isinstance(error, httpx2.TimeoutException):
        return errors.SourceTimeout(f"{host} did not answer in time")
    if isinstance(error, httpx2.NetworkError):
        if _is_certificate_error(error):
            return errors.SourceUnreachable(f"The certificate of {host} was not accepted", retryable=False)
        return errors.SourceUnreachable(f"{host} could not be reached, or closed the connection")
    text = str(error).lower()
    if isinstance(error, httpx2.RemoteProtocolError) and ("closed connection" in text or "disconnected" in text):
        return errors.SourceUnreachable(f"{host} closed the connection before its response was complete")
    # The error is retryable, because the data may be the rest of a response that exceeded its declared length.
    return errors.SourceChanged(f"{host} returned something that is not HTTP", retryable=True)


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


async def read_content(answer: httpx2.Response, body: Body, max_bytes: int) -> None:
    """Read and decompress content; raise SourceFailed if it exceeds ``max_bytes`` on the wire or decompressed."""
    content_length = answer.headers.get("content-length", "")
    if content_length.isdigit() and int(content_length) > max_bytes:
        raise _new_too_large_error(max_bytes)
    decompression = Decompression(answer.headers.get("content-encoding", ""))
    wire_bytes = content_bytes = 0
    async for wire in answer.aiter_raw():
        wire_bytes += len(wire)
        for chunk in decompression.feed(wire):
            content_bytes += len(chunk)
            if max(wire_bytes, content_bytes) > max_bytes:
                raise _new_too_large_error(max_bytes)
            body.write(chunk)
    decompression.end()


async def read_error_body(answer: httpx2.Response, request: Request) -> bytes:
    """Read an error response's body; unless the status is accepted, ignore failures and return the part read."""
    status, body = answer.status_code, MemoryBody()
    if status in request.accept:
        await read_content(answer, body, request.limits.max_bytes)
    elif status != NOT_MODIFIED and status not in REDIRECTS:
        with suppress(errors.ToolError, httpx2.TransportError):
            await read_content(answer, body, min(_MAX_ERROR_BODY_BYTES, request.limits.max_bytes))
    return body.content()


def _new_too_large_error(max_bytes: int) -> errors.SourceFailed:
    return errors.SourceFailed(
        f"The source's response is larger than the limit of {max_bytes:,} bytes",
        {"max_bytes": max_bytes},
        retryable=False,
    )
