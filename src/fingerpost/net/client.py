"""The one client: every request of the house to a machine outside goes through here.

::

    fetch ── memory ── breaker ── attempts ── limiter ── exchange, redirect by redirect ── bounded body

A ``Tape`` records what a call met on this way, or lets it meet the same again without a network.
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
from fingerpost.net.passage import Ended, Health, LivePassage, Passage, Tape
from fingerpost.net.redaction import redact_text
from fingerpost.net.request import Request, list_secrets
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
    passage: Passage
    secrets: list[str] = field(default_factory=list)
    asking: bool = False
    answered: bool = False
    done: bool = False
    left: bool = False
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
        tape: records all calls, or replays them; then nothing is asked, and nothing waits.
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
        tape: Tape | None = None,
    ) -> None:
        self._private_hosts = private_hosts
        self._environ = environ
        self._tape = tape
        self._cache = cache or Cache()
        self._transport = transport
        user_agent = f"fingerpost/{version('fingerpost')}" + (f" ({contact})" if contact else "")
        exchange = Exchange(open_transport=self._open_transport, user_agent=user_agent, environ=environ)
        self._live = LivePassage(breaker or Breaker(), limiter or Limiter(), exchange)

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
            SettingsInvalid: a recording cannot be written, or does not hold the request.
        """
        passage = self._open_passage(request)
        if request.fresh_s <= 0:
            return await self._fetch(request, known, passage)
        return await self._cache.get(
            request.key, request.fresh_s, lambda older: self._fetch(request, known or older, passage), passage
        )

    async def fetch_into(self, request: Request, body: Body, validators: Validators | None = None) -> Response:
        """Let the content of the answer flow into ``body``; it stays out of the response.

        With ``validators`` the status may be 304: the content has not changed, and nothing was written.

        Raises:
            ToolError: as ``fetch``.
        """
        return await self._carry(request, body, validators, self._open_passage(request))

    async def _fetch(self, request: Request, known: Response | None, passage: Passage) -> Response:
        body = MemoryBody()
        response = await self._carry(request, body, None if known is None else known.validators, passage)
        if response.status == NOT_MODIFIED and known is not None:
            return replace(known, retrieved_at=response.retrieved_at, from_cache=True)
        return replace(response, body=response.body or body.content())

    async def _carry(self, request: Request, body: Body, validators: Validators | None, passage: Passage) -> Response:
        course = _Course(time.monotonic() + request.bounds.total_s, passage)
        host = request.split().hostname or ""
        passage.enter(host)
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
        except asyncio.CancelledError:
            course.left = True
            raise
        finally:
            ended = Ended.ANSWERED if course.done else Ended.LEFT if course.left else Ended.FAILED
            passage.end(host, _health(course, failure), ended)

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
            if course.passage.recorded is not None:
                return policy.find_wait_s(number, spread=0.0) and 0.0
            return policy.find_wait_s(number, spread=random.random())  # noqa: S311  (no secret depends on it)

        return await call_with_retries(pursue, ToolError, find_wait_s, attempts=policy.attempts)

    async def _pursue(self, request: Request, conditions: Mapping[str, str], body: Body, course: _Course) -> Response:
        """Ask once, and follow where the answer sends us."""
        for _ in range(request.bounds.max_redirects + 1):
            host = request.split().hostname or ""
            await course.passage.wait(host, longest_s=course.left_s())
            course.asking = True
            response = await course.passage.send(request, conditions, body, course.secrets)
            course.asking, course.answered = False, True
            if response.status in redirects.STATUSES and response.status not in request.accept:
                request = redirects.follow(request, response.status, response.headers)
                continue
            seen = replace(response, body=response.body or body.content()) if isinstance(body, MemoryBody) else response
            failure = _judge(request, seen, conditional=bool(conditions))
            if isinstance(failure, SourceLimited):
                await course.passage.pause(host, failure.retry_after_s)
            if failure is not None:
                raise failure
            return response
        endless = SourceFailed(f"{request.split().hostname} redirects too often")
        endless.retryable = False
        raise endless

    def _open_passage(self, request: Request) -> Passage:
        if self._tape is None:
            return self._live
        return self._tape.open(request, self._live, list_secrets(request, self._environ))

    def _open_transport(self) -> httpx2.AsyncBaseTransport:
        if self._transport is None:
            self._transport = WireTransport(CheckedBackend(self._private_hosts))
        return self._transport


def _health(course: _Course, error: ToolError | None) -> Health:
    """Return what a call that has ended says about its host."""
    if isinstance(error, SourceTimeout | SourceUnreachable | SourceFailed) and error.retryable:
        return Health.BAD
    return Health.GOOD if course.done or (error is not None and course.answered) else Health.UNKNOWN


def _judge(request: Request, response: Response, *, conditional: bool) -> ToolError | None:
    """Return the error that an answer means: by the source's own reading, else by its status."""
    verdict = None if request.judge is None else request.judge(response)
    if verdict is not None:
        return verdict
    if response.status in request.accept or (response.status == NOT_MODIFIED and conditional):
        return None
    return find_failure(response, clock.now())
