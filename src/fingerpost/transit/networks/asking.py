"""Query several networks, so that one that fails or is slow does not keep others from answering (rule A13)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fingerpost import clock
from fingerpost.errors import SourceChanged, SourceFailed, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.transit.port import Network
from fingerpost.transit.profile import NetworkProfile
from fingerpost.transit.rules.warnings import WarningCode, Warnings

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

NetworkQuery = Callable[[Network], Awaitable[_T]]

UNAVAILABLE = (StorageUnavailable, SourceChanged, TimeoutError)
"""What a source may raise because it cannot be asked: another network, or its fallback, may answer in its stead."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A network that did not answer, and why."""

    network: str
    error: ToolError

    @property
    def sentence(self) -> str:
        """The message of the warning ``network-left-out``."""
        return f"{self.network} was left out: {self.error.message.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class Answers(Generic[_T]):
    """The answers by network, in the order of the query, and the networks that did not answer."""

    by_network: tuple[tuple[Network, _T], ...]
    left_out: tuple[LeftOut, ...] = ()


async def ask_all(networks: Sequence[Network], query: NetworkQuery[_T]) -> Answers[_T]:
    """Query networks concurrently, each up to its names deadline; those that fail or are late are left out.

    Raises:
        ToolError: nobody answered; the error of the preferred network.
    """
    if len(networks) == 1:
        # The everyday case: whatever goes wrong is the caller's to hear, without a detour.
        return Answers(((networks[0], await _ask(networks[0], query)),))
    outcomes = await asyncio.gather(*(_ask(network, query) for network in networks), return_exceptions=True)
    answered: list[tuple[Network, _T]] = []
    left_out: list[LeftOut] = []
    for network, outcome in zip(networks, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            left_out.append(_leave_out(network, outcome))
        else:
            answered.append((network, outcome))
    if left_out and not answered:
        raise left_out[0].error
    return Answers(tuple(answered), tuple(left_out))


async def _ask(network: Network, query: NetworkQuery[_T]) -> _T:
    limit_s = network.profile.names_deadline_s
    try:
        async with clock.time_limit(limit_s):
            return await query(network)
    except TimeoutError as error:
        raise late(network.profile, limit_s) from error


def _leave_out(network: Network, error: BaseException) -> LeftOut:
    name = network.profile.name
    if isinstance(error, ToolError):
        return LeftOut(name, error)
    if not isinstance(error, Exception):
        raise error
    _log.error("network=%s failed in a way that no source may", name, exc_info=error)
    return LeftOut(name, SourceFailed(f"{name} failed unexpectedly; the log says how"))


def late(profile: NetworkProfile, limit_s: float | None) -> SourceTimeout:
    """Return the error of a network that did not answer in time."""
    waited = "in time" if limit_s is None else f"within {limit_s:.3g} s"
    return SourceTimeout(f"{profile.name} did not answer {waited}", {"network": profile.name})


class Deadline:
    """The deadline of one call for plans or boards, over all its queries and networks."""

    def __init__(self) -> None:
        self._began_s = asyncio.get_running_loop().time()

    def share_s(self, profile: NetworkProfile, waiting_behind: int) -> float | None:
        """Return how long a network may take, in seconds: all that is left, or half where another waits behind it."""
        if profile.answer_deadline_s is None:
            return None
        left_s = max(0.0, self._began_s + profile.answer_deadline_s - asyncio.get_running_loop().time())
        return left_s / 2 if waiting_behind else left_s


async def ask_in_turn(
    networks: Sequence[Network], query: NetworkQuery[_T], deadline: Deadline
) -> tuple[Network, _T, tuple[LeftOut, ...]]:
    """Query the preferred network; if it is unavailable or late, the next.

    Raises:
        ToolError: as the first network, where nobody answered.
    """
    left_out: list[LeftOut] = []
    for waiting_behind, network in zip(range(len(networks) - 1, -1, -1), networks, strict=True):
        limit_s = deadline.share_s(network.profile, waiting_behind)
        try:
            async with clock.time_limit(limit_s):
                return network, await query(network), tuple(left_out)
        except UNAVAILABLE as error:
            known = late(network.profile, limit_s) if isinstance(error, TimeoutError) else error
            left_out.append(LeftOut(network.profile.name, known))
    raise left_out[0].error


def warn_of_left_out(left_out: Sequence[LeftOut], warnings: Warnings) -> None:
    """Warn of each network that did not answer."""
    for each in left_out:
        warnings.add(WarningCode.NETWORK_LEFT_OUT, each.sentence)


def warn_of_problems(problems: Mapping[str, str], warnings: Warnings) -> None:
    """Warn of each network that could not be opened."""
    for name, problem in problems.items():
        warnings.add(WarningCode.NETWORK_LEFT_OUT, f"{name} was left out: {problem.rstrip('.')}.")
