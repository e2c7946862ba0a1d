"""The layers that one call passes: circuit breaker, rate limiter and transport; live or recorded."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fingerpost.errors import SourceUnreachable
from fingerpost.net.body import Body
from fingerpost.net.limiter import Limiter
from fingerpost.net.request import Request
from fingerpost.net.request_sender import RequestSender
from fingerpost.net.response import Response
from fingerpost.runtime.circuit_breaker import Breaker


class Served(StrEnum):
    """Who answered a call.

    ``SOURCE``: it was asked. ``JOINED``: it was being asked for another call. ``MEMORY``: it was not asked.
    """

    SOURCE = "source"
    JOINED = "joined"
    MEMORY = "memory"


class Health(StrEnum):
    """What a call that has ended says about its host, for the breaker."""

    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"


class Ended(StrEnum):
    """How a call ended: with an answer, with an error or for want of time, or because its caller waited no longer."""

    ANSWERED = "answered"
    FAILED = "failed"
    LEFT = "left"


class Passage(Protocol):
    """The layers of one call. Everything that depends on time or on the network happens here and nowhere else."""

    @property
    def recorded(self) -> Served | None:
        """Who answered the call when it was recorded; None on the way to the real source."""
        ...

    def enter(self, host: str) -> None:
        """Pass the breaker.

        Raises:
            SourceUnreachable: the host rests.
        """
        ...

    async def wait(self, host: str, *, longest_s: float) -> None:
        """Pass the limiter.

        Raises:
            SourceLimited: the wait would be longer than ``longest_s``.
        """
        ...

    async def pause(self, host: str, wait_s: float) -> None:
        """Let nobody ask the host for a while."""
        ...

    async def send(self, request: Request, conditions: Mapping[str, str], body: Body, secrets: list[str]) -> Response:
        """Send one request; see ``RequestSender.send``.

        Raises:
            TimeoutError: the time of the whole call is used up.
            ToolError: as ``RequestSender.send``.
        """
        ...

    def end(self, host: str, health: Health, ended: Ended) -> None:
        """Note how a call ended that asked its source, and what that says about the host."""
        ...

    def serve(self, served: Served) -> None:
        """Note that the call was answered without asking the source for it."""
        ...


@dataclass(frozen=True, slots=True)
class LivePassage:
    """The layers in front of the real source."""

    breaker: Breaker
    limiter: Limiter
    exchange: RequestSender

    @property
    def recorded(self) -> None:
        """Nothing: this is the real source."""

    def enter(self, host: str) -> None:
        """Pass the breaker; see the port."""
        if (wait_s := self.breaker.enter(host)) is not None:
            raise SourceUnreachable(
                f"{host} failed {self.breaker.threshold} times in a row and is left alone for a while",
                {"retry_after_s": wait_s},
            )

    async def wait(self, host: str, *, longest_s: float) -> None:
        """Pass the limiter; see ``Limiter.wait``."""
        await self.limiter.wait(host, longest_s=longest_s)

    async def pause(self, host: str, wait_s: float) -> None:
        """Let nobody ask the host for a while; see ``Limiter.pause``."""
        await self.limiter.pause(host, wait_s)

    async def send(self, request: Request, conditions: Mapping[str, str], body: Body, secrets: list[str]) -> Response:
        """Send one request; see ``RequestSender.send``."""
        return await self.exchange.send(request, conditions, body, secrets)

    def end(self, host: str, health: Health, ended: Ended) -> None:  # noqa: ARG002  (the port's own)
        """Tell the breaker."""
        if health is Health.BAD:
            self.breaker.failed(host)
        elif health is Health.GOOD:
            self.breaker.succeeded(host)
        else:
            self.breaker.left(host)

    def serve(self, served: Served) -> None:
        """Memory needs no note."""


class Tape(Protocol):
    """A store of recorded calls: records them, or replays them."""

    def open(self, request: Request, live: Passage, secrets: Collection[str]) -> Passage:
        """Return the way of the next call. ``secrets`` are the keys that would leave with it.

        Raises:
            SettingsInvalid: the folder cannot be used, or the recording does not hold the call.
        """
        ...
