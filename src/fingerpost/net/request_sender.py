"""Send one request and read its response, limited in size; redirects are not followed."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import httpx2

from fingerpost import clock
from fingerpost.errors import ParameterError, SourceFailed, ToolError
from fingerpost.net.redaction import redact
from fingerpost.net.request import REDIRECTS, Request, RequestLimits
from fingerpost.net.response import ACCEPT_ENCODING, NOT_MODIFIED, Body, Decompression, MemoryBody, Response

# Of a refusal: enough for a source's own reading of it.
_MOST_REFUSAL_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSender:
    """Sends single requests over ``open_transport()``, with keys read from ``environ``."""

    open_transport: Callable[[], httpx2.AsyncBaseTransport]
    user_agent: str
    environ: Mapping[str, str]

    async def send(self, request: Request, conditions: Mapping[str, str], body: Body, secrets: list[str]) -> Response:
        """Send a request; content of a success is written to ``body``, that of a refusal is kept in the response.

        The secrets that leave with it are added to ``secrets``.

        Raises:
            ParameterError: the address, or a header, cannot be sent.
            SourceKeyRefused: a key is not set.
            SourceTimeout, SourceUnreachable, SourceChanged: no answer, or none that can be read.
            SourceFailed: the answer is larger than its bound.
        """
        url, headers, added = request.wire(self.environ)
        secrets += added
        ours = {"user-agent": self.user_agent, "accept-encoding": ACCEPT_ENCODING}
        try:
            sent = httpx2.Request(
                request.method,
                url,
                headers={**ours, **{name.lower(): value for name, value in headers.items()}, **conditions},
                content=request.content,
                extensions={"timeout": _wire_timeouts(request.limits)},
            )
        except (httpx2.InvalidURL, UnicodeError) as error:
            raise ParameterError("The address, or a header, cannot be sent", {"field": "url"}) from error
        answer = await self.open_transport().handle_async_request(sent)
        try:
            head = Response(
                status=answer.status_code,
                headers=dict(answer.headers.items()),
                body=b"",
                redacted_url=redact(request.redacted_url, secrets),
                retrieved_at=clock.now(),
            )
            if 200 <= head.status < 300:
                body.restart()
                await _read(answer, body, request.limits.max_bytes)
                return head
            return replace(head, body=await _read_refusal(answer, request))
        finally:
            await answer.aclose()


async def _read(answer: httpx2.Response, body: Body, max_bytes: int) -> None:
    """Read content into a body, decompressing as it comes.

    Raises:
        SourceFailed: the content is larger than ``max_bytes``, on the wire or decompressed.
    """
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


async def _read_refusal(answer: httpx2.Response, request: Request) -> bytes:
    """Return what explains a refusal, as far as it can be had; the status counts without it."""
    status, body = answer.status_code, MemoryBody()
    if status in request.accept:
        await _read(answer, body, request.limits.max_bytes)
    elif status != NOT_MODIFIED and status not in REDIRECTS:
        with suppress(ToolError):
            await _read(answer, body, min(_MOST_REFUSAL_BYTES, request.limits.max_bytes))
    return body.content()


def _too_large(max_bytes: int) -> SourceFailed:
    return SourceFailed(
        f"The source's answer is larger than the bound of {max_bytes:,} bytes",
        {"max_bytes": max_bytes},
        retryable=False,
    )


def _wire_timeouts(limits: RequestLimits) -> dict[str, float]:
    return {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.total_s}
