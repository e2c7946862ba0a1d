"""The HTTP client for all outgoing requests, and atomic downloads.

::

    fetch ── cache ── retries ── limiter ── sender (once per redirect) ── bounded body
"""

import asyncio
import hashlib
import logging
import os
import random
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import BinaryIO, Self

import httpcore2
import httpx2
from opentelemetry.trace import SpanKind

from fingerpost import clock
from fingerpost.errors import (
    ParameterError,
    SourceFailed,
    SourceLimited,
    SourceTimeout,
    ToolError,
    new_unwritable_error,
)
from fingerpost.net.cache import Cache
from fingerpost.net.limiter import Limiter
from fingerpost.net.outcomes import find_failure, may_retry
from fingerpost.net.redaction import redact, redact_content
from fingerpost.net.request import REDIRECTS, Request, follow_redirect, format_server
from fingerpost.net.response import ACCEPT_ENCODING, NOT_MODIFIED, Body, Download, MemoryBody, Response, Validators
from fingerpost.net.transport import (
    WIRE_ERRORS,
    CheckedBackend,
    WirePool,
    read_content,
    read_error_body,
    translate_wire_error,
)
from fingerpost.runtime import retry
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.runtime.instruments import HOST, HTTP_REQUEST_DURATION, Attribute, Measurement

_log = logging.getLogger(__name__)

_FIRST_ERROR_STATUS = 400
_MAX_REDIRECTS = 5

# Receives the number of bytes downloaded so far.
Progress = Callable[[int], None]


@dataclass(slots=True)
class _RequestState:
    deadline_s: float
    secrets: list[str] = field(default_factory=list)
    last_error: ToolError | None = None

    def remaining_s(self) -> float:
        request_s, caller_s = self.deadline_s - time.monotonic(), clock.find_remaining_s()
        return max(0.0, request_s if caller_s is None else min(request_s, caller_s))


class Client:
    """Sends requests within their limits and the host's rate limit, and redacts keys from responses, errors and logs.

    A client belongs to one event loop. ``contact``, the operator's email address or URL, is part of the User-Agent.
    ``private_hosts`` may resolve to private addresses. Keys are read from ``environ`` for each request.
    """

    def __init__(
        self,
        *,
        contact: str | None = None,
        limiter: Limiter | None = None,
        private_hosts: Collection[str] = (),
        cache: Cache | None = None,
        environ: Mapping[str, str] = os.environ,
        pool: WirePool | None = None,
    ) -> None:
        self._cache = cache or Cache()
        self._limiter = limiter or Limiter()
        self._pool = pool or WirePool(CheckedBackend(private_hosts))
        self._environ = environ
        user_agent = f"fingerpost/{version('fingerpost')}" + (f" ({contact})" if contact else "")
        self._headers = {"user-agent": user_agent, "accept-encoding": ACCEPT_ENCODING}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        """Send a request and return the response, or a cached one if the request allows it.

        If ``known`` is given, the request is conditional; for a 304 response, return ``known`` with a new
        ``retrieved_at``.

        Raises:
            ParameterError: the address is invalid.
            SourceKeyRefused: a key is not set, or the source refused it.
            SourceLimited: the source or our limiter requires a longer wait than the request allows.
            SourceTimeout, SourceUnreachable, SourceFailed: the source did not answer, or returned an error.
            SourceChanged: the response is not HTTP, or has an unknown encoding.
            AddressRefused: the host is on a private network.
        """
        if request.fresh_s <= 0:
            return await self._fetch(request, known)
        return await self._cache.get(request, lambda older: self._fetch(request, known or older))

    async def fetch_into(self, request: Request, body: Body, validators: Validators | None = None) -> Response:
        """Send a request and write the content to ``body``; raise the same errors as ``fetch``.

        With ``validators``, status 304 means that the content is unchanged and nothing was written.
        """
        state = _RequestState(time.monotonic() + request.limits.total_s)
        try:
            async with asyncio.timeout(request.limits.total_s):
                conditions = {} if validators is None else validators.conditions
                return await self._send_with_retries(request, conditions, body, state)
        except TimeoutError as error:
            raise state.last_error or SourceTimeout(f"{request.split().hostname} did not answer in time") from error

    async def _fetch(self, request: Request, known: Response | None) -> Response:
        response = await self.fetch_into(request, MemoryBody(), None if known is None else known.validators)
        if response.status == NOT_MODIFIED and known is not None:
            return replace(known, retrieved_at=response.retrieved_at, from_cache=True)
        return response

    async def _send_with_retries(
        self, request: Request, conditions: Mapping[str, str], body: Body, state: _RequestState
    ) -> Response:
        for number in count(1):
            try:
                return await self._send_following_redirects(request, conditions, body, state)
            except ToolError as error:
                # A redirect's host or path may contain a key.
                failure = error.with_message(redact(error.message, state.secrets))
                state.last_error = failure
                _log.info("attempt %d, %s: %s", number, redact(request.redacted_url, state.secrets), failure.message)
                spread = random.random()  # noqa: S311  (no secret depends on it)
                wait_s = retry.find_wait_s(number, request.limits.attempts, spread=spread)
                max_wait_s = min(state.remaining_s(), request.limits.longest_pause_s)
                if wait_s is None or not may_retry(failure, max_wait_s):
                    raise failure from error.__cause__
            await retry.sleep(wait_s)
        raise AssertionError("unreachable")

    async def _send_following_redirects(
        self, request: Request, conditions: Mapping[str, str], body: Body, state: _RequestState
    ) -> Response:
        for _ in range(_MAX_REDIRECTS + 1):
            parts = request.split()
            address = f"{format_server(parts)}{parts.path}"
            longest_pause_s = request.limits.longest_pause_s
            await self._limiter.wait(address, max_wait_s=state.remaining_s(), longest_pause_s=longest_pause_s)
            with _measure_request(request) as operation:
                response = await self._send(request, conditions, body, state)
                operation.set("http.response.status_code", response.status)
                if response.status >= _FIRST_ERROR_STATUS:
                    operation.fail(str(response.status))
            if response.status in REDIRECTS and response.status not in request.accept:
                request = follow_redirect(request, response.status, response.headers)
                _refuse_host_with_key(request, parts.hostname or "", state.secrets)
                continue
            redacted = _redact_response(response, body, state.secrets)
            failure = _check_response(request, redacted, conditional=bool(conditions))
            if isinstance(failure, SourceLimited):
                await self._limiter.pause(address, failure.retry_after_s)
            if failure is not None:
                raise failure
            return redacted
        raise SourceFailed(f"{request.split().hostname} redirects too many times", retryable=False)

    async def _send(
        self, request: Request, conditions: Mapping[str, str], body: Body, state: _RequestState
    ) -> Response:
        """Send one request. On success, write the content to ``body``; otherwise, return it in the response."""
        url, headers, secrets = request.prepare(self._environ)
        state.secrets += secrets
        limits = request.limits
        timeouts = {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.total_s}
        headers = {**self._headers, **{name.lower(): value for name, value in headers.items()}, **conditions}
        try:
            wire_url, host = _parse_url(url)
            sent = [(b"host", host), *((name.encode(), value.encode("ascii")) for name, value in headers.items())]
        except (httpx2.InvalidURL, UnicodeError) as error:
            raise ParameterError("The address or a header cannot be sent", {"field": "url"}) from error
        try:
            async with self._pool.stream(
                request.method, wire_url, headers=sent, content=request.content, extensions={"timeout": timeouts}
            ) as answer:
                head = Response(
                    status=answer.status,
                    headers=dict(httpx2.Headers(answer.headers).items()),
                    body=b"",
                    redacted_url=redact(request.redacted_url, state.secrets),
                    retrieved_at=clock.now(),
                )
                if 200 <= head.status < 300:
                    body.restart()
                    await read_content(answer, head.headers, body, limits.max_bytes)
                    return head
                return replace(head, body=await read_error_body(answer, head.headers, request))
        except WIRE_ERRORS as error:
            raise translate_wire_error(error, request.split().hostname or "") from error


@lru_cache(maxsize=64)
def _parse_url(url: str) -> tuple[httpcore2.URL, bytes]:
    """Return the URL and the host header to send, in ASCII."""
    parsed = httpx2.URL(url)
    host, target = parsed.raw_host, parsed.raw_path
    return httpcore2.URL(scheme=parsed.raw_scheme, host=host, port=parsed.port, target=target), parsed.netloc


def _measure_request(request: Request) -> Measurement:
    # Omit the conventional ``url.full``, which would contain coordinates and names.
    parts = request.split()
    port = parts.port or (80 if parts.scheme == "http" else 443)
    attributes: dict[str, Attribute] = {
        "http.request.method": request.method,
        HOST: parts.hostname or "",
        "server.port": port,
    }
    return Measurement(request.method, attributes, HTTP_REQUEST_DURATION, kind=SpanKind.CLIENT)


def _refuse_host_with_key(request: Request, source_host: str, secrets: Collection[str]) -> None:
    """Raise SourceFailed if the host name contains a key, because rate limits and metrics store host names."""
    host = request.split().hostname or ""
    if redact_content(host, secrets) != host:
        raise SourceFailed(f"{source_host} redirects to a host name that contains a key", retryable=False)


def _redact_response(response: Response, body: Body, secrets: Collection[str]) -> Response:
    content = response.body or (body.content() if isinstance(body, MemoryBody) else b"")
    headers = {name: redact(value, secrets) for name, value in response.headers.items()}
    return replace(response, body=redact_content(content, secrets), headers=headers)


def _check_response(request: Request, response: Response, *, conditional: bool) -> ToolError | None:
    failure = None if request.check_response is None else request.check_response(response)
    if failure is not None:
        return failure
    if response.status in request.accept or (response.status == NOT_MODIFIED and conditional):
        return None
    keys = {*request.secret_params.values(), *request.secret_headers.values()}
    return find_failure(response, clock.now(), keys)


async def download(
    client: Client,
    request: Request,
    path: Path,
    *,
    known: Download | None = None,
    stored_path: Path | None = None,
    progress: Progress | None = None,
) -> Download:
    """Download a file and move it to ``path`` atomically, unless its content is unchanged.

    ``known`` is the result of an earlier call that downloaded the file at ``stored_path`` (default: ``path``). Raise
    SettingsInvalid if the folder is not writable, and the same errors as ``Client.fetch``.
    """
    if not await run_in_thread((stored_path or path).exists):
        known = None
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w+b") as file:
            body = _FileBody(file, progress)
            response = await client.fetch_into(request, body, None if known is None else known.validators)
            if response.status == NOT_MODIFIED and known is not None:
                return replace(known, changed=False)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            sha256 = (await run_in_thread(hashlib.file_digest, file, "sha256")).hexdigest()
        changed = known is None or known.sha256 != sha256
        if changed:
            draft.replace(path)
        return Download(changed=changed, sha256=sha256, size_bytes=body.size_bytes, validators=response.validators)
    except OSError as error:
        raise new_unwritable_error(path.parent, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@dataclass(slots=True)
class _FileBody:
    file: BinaryIO
    progress: Progress | None
    size_bytes: int = 0

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.size_bytes = 0

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)
        self.size_bytes += len(chunk)
        if self.progress is not None:
            self.progress(self.size_bytes)
