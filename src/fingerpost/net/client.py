"""The one client: every request of the house to a machine outside goes through here.

::

    fetch ── memory ── breaker ── attempts ── limiter ── exchange, redirect by redirect ── bounded body
"""

import asyncio
import logging
import os
import random
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from types import TracebackType
from typing import Self

import httpx2

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceLimited, SourceTimeout, SourceUnreachable, ToolError
from fingerpost.net import redirects
from fingerpost.net.addresses import CheckedBackend
from fingerpost.net.body import Body, MemoryBody
from fingerpost.net.cache import Cache
from fingerpost.net.exchange import NOT_MODIFIED, Exchange
from fingerpost.net.limiter import Limiter
from fingerpost.net.redaction import redact_text
from fingerpost.net.request import Request
from fingerpost.net.response import Response, Validators
from fingerpost.net.statuses import find_failure, may_pass
from fingerpost.net.transport import WireTransport
from fingerpost.resilience.breaker import Breaker
from fingerpost.resilience.retry import RetryPolicy, call_with_retries

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Course:
    """How one request fares: until when, what must not be shown, whether the source was reached, what went wrong."""

    deadline_s: float
    secrets: list[str] = field(default_factory=list)
    asking: bool = False
    answered: bool = False
    done: bool = False
    last_error: ToolError | None = None

    def left_s(self) -> float:
        return max(0.0, self.deadline_s - time.monotonic())


class Client:
    """Asks sources over HTTP, within bounds, politely, and without letting a key escape.

    One client serves one event loop; close it, or use it as a context manager.

    Args:
        contact: an address or a URL by which the source's operator can reach ours; part of the User-Agent.
        limiter: the pace of each host; by default this process's own.
        private_hosts: hosts that may lie in a private network.
        environ: where keys are read from, at the moment in which a request leaves.
        transport: sends one request; by default over TCP to checked addresses.
    """

    def __init__(
        self,
        *,
        contact: str | None = None,
        limiter: Limiter | None = None,
        private_hosts: Collection[str] = (),
        breaker: Breaker | None = None,
        cache: Cache | None = None,
        environ: Mapping[str, str] = os.environ,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._limiter = limiter or Limiter()
        self._private_hosts = private_hosts
        self._breaker = breaker or Breaker()
        self._cache = cache or Cache()
        self._transport = transport
        user_agent = f"fingerpost/{version('fingerpost')}" + (f" ({contact})" if contact else "")
        self._exchange = Exchange(open_transport=self._open_transport, user_agent=user_agent, environ=environ)

    async def __aenter__(self) -> Self:
        """Nothing is opened before it is needed."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        if self._transport is not None:
            await self._transport.aclose()

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        """Return the answer to a request; a fresh one from memory where the request allows it.

        With ``known``, an earlier answer, the source is asked for a newer one only; if there is none, ``known`` comes
        back with its ``retrieved_at`` moved on and ``from_cache`` set.

        Raises:
            ParameterError: the address is none.
            SourceKeyRefused: a key is not set, or was refused.
            SourceLimited: the source, or our limiter, asks for a longer wait than the request has time.
            SourceTimeout, SourceUnreachable, SourceFailed: it did not answer, or with a failure.
            SourceChanged: it answered something that is not HTTP, or in an unknown encoding.
            AddressRefused: its host lies in a private network.
        """
        if request.fresh_s <= 0:
            return await self._fetch(request, known)
        return await self._cache.get(request.key, request.fresh_s, lambda older: self._fetch(request, known or older))

    async def fetch_into(self, request: Request, body: Body, validators: Validators | None = None) -> Response:
        """Let the content of the answer flow into ``body``; it stays out of the response.

        With ``validators`` the status may be 304: the content has not changed, and nothing was written.

        Raises:
            ToolError: as ``fetch``.
        """
        course = _Course(time.monotonic() + request.bounds.total_s)
        host = request.split().hostname or ""
        if (wait_s := self._breaker.enter(host)) is not None:
            raise SourceUnreachable(
                f"{host} failed {self._breaker.threshold} times in a row and is left alone for a while",
                {"retry_after_s": wait_s},
            )
        failure: ToolError | None = None
        try:
            async with asyncio.timeout(request.bounds.total_s):
                response = await self._persist(
                    request, {} if validators is None else validators.conditions, body, course
                )
                course.done = True
                return response
        except TimeoutError as error:
            late = SourceTimeout(f"{host} did not answer in time")
            failure = late if course.asking else None
            raise course.last_error or late from error
        except ToolError as error:
            failure = error
            raise
        finally:
            self._note(host, course, failure)

    async def _fetch(self, request: Request, known: Response | None) -> Response:
        body = MemoryBody()
        response = await self.fetch_into(request, body, None if known is None else known.validators)
        if response.status == NOT_MODIFIED and known is not None:
            return replace(known, retrieved_at=response.retrieved_at, from_cache=True)
        return replace(response, body=response.body or body.content())

    async def _persist(self, request: Request, conditions: Mapping[str, str], body: Body, course: _Course) -> Response:
        """Ask until an answer comes, or the attempts or the time are used up."""
        policy = RetryPolicy(attempts=request.bounds.attempts if request.may_repeat else 1)

        async def pursue(_number: int) -> Response:
            try:
                return await self._pursue(request, conditions, body, course)
            except ToolError as error:
                error.message = redact_text(error.message, course.secrets)
                error.args = (error.message,)
                course.last_error, course.asking = error, False
                _log.info("%s: %s", redact_text(request.shown, course.secrets), error.message)
                raise

        def find_wait_s(error: ToolError, number: int) -> float | None:
            if not may_pass(error, course.left_s()):
                return None
            return policy.find_wait_s(number, spread=random.random())  # noqa: S311  (no secret depends on it)

        return await call_with_retries(pursue, ToolError, find_wait_s, attempts=policy.attempts)

    async def _pursue(self, request: Request, conditions: Mapping[str, str], body: Body, course: _Course) -> Response:
        """Ask once, and follow where the answer sends us."""
        for _ in range(request.bounds.max_redirects + 1):
            host = request.split().hostname or ""
            await self._limiter.wait(host, longest_s=course.left_s())
            course.asking = True
            response = await self._exchange.send(request, conditions, body, course.secrets)
            course.asking, course.answered = False, True
            if response.status in redirects.STATUSES and response.status not in request.accept:
                request = redirects.follow(request, response.status, response.headers)
                continue
            seen = replace(response, body=response.body or body.content()) if isinstance(body, MemoryBody) else response
            failure = _judge(request, seen, conditional=bool(conditions))
            if isinstance(failure, SourceLimited):
                await self._limiter.pause(host, failure.retry_after_s)
            if failure is not None:
                raise failure
            return response
        endless = SourceFailed(f"{request.split().hostname} redirects too often")
        endless.retryable = False
        raise endless

    def _note(self, host: str, course: _Course, error: ToolError | None) -> None:
        """Tell the breaker what a request that has ended says about its host."""
        if isinstance(error, SourceTimeout | SourceUnreachable | SourceFailed) and error.retryable:
            self._breaker.failed(host)
        elif course.done or (error is not None and course.answered):
            self._breaker.succeeded(host)
        else:
            self._breaker.left(host)

    def _open_transport(self) -> httpx2.AsyncBaseTransport:
        if self._transport is None:
            self._transport = WireTransport(CheckedBackend(self._private_hosts))
        return self._transport


def _judge(request: Request, response: Response, *, conditional: bool) -> ToolError | None:
    """Return the error that an answer means: by the source's own reading, else by its status."""
    verdict = None if request.judge is None else request.judge(response)
    if verdict is not None:
        return verdict
    if response.status in request.accept or (response.status == NOT_MODIFIED and conditional):
        return None
    return find_failure(response, clock.now())
