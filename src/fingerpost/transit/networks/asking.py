"""Query several networks, so that one that fails or is slow does not keep others from answering (rule A13)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, SourceChanged, SourceFailed, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.runtime.instruments import NETWORK, NETWORK_QUERY_DURATION
from fingerpost.runtime.spans import Measured, measured
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.port import Network
from fingerpost.transit.rules.warnings import WarningCode, Warnings

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

NetworkQuery = Callable[[Network], Awaitable[_T]]

UNAVAILABLE = (StorageUnavailable, SourceChanged, TimeoutError)
"""What a source may raise because it cannot be asked: another network, or its fallback, may answer in its stead."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A network that did not answer, and why; ``stand_in`` is its fallback where that answered, else None."""

    network: str
    error: ToolError
    stand_in: str | None = None

    @property
    def sentence(self) -> str:
        why = self.error.message.rstrip(".")
        if self.stand_in is not None:
            return f"{self.network} could not be asked for names ({why}); its fallback {self.stand_in} answered."
        return f"{self.network} was left out: {why}."


@dataclass(frozen=True, slots=True)
class Answers(Generic[_T]):
    """The answers by network, in the order of the query, and the networks that did not answer."""

    by_network: tuple[tuple[Network, _T], ...]
    left_out: tuple[LeftOut, ...] = ()


_failures: ContextVar[dict[str, LeftOut] | None] = ContextVar("fingerpost_failures", default=None)


def failures_of_this_call() -> dict[str, LeftOut]:
    """Return, by name, the networks that failed during the current call; fallbacks add theirs. A new dict outside one.

    An answer of names has no provenance, so this is also how its caller learns which fallback gave it.
    """
    failed = _failures.get()
    return {} if failed is None else failed


async def ask_all(networks: Sequence[Network], query: NetworkQuery[_T]) -> Answers[_T]:
    """Query networks concurrently, each up to its answer deadline; those that fail or are late are left out.

    Raises:
        ToolError: nobody answered; the error of the preferred network.
    """
    return await _ask_up_to(networks, query, [network.profile.answer_deadline_s for network in networks])


async def ask_for_names(networks: Sequence[Network], query: NetworkQuery[_T]) -> Answers[_T]:
    """Query networks for names, as ``ask_all``; where there are several, each up to its names deadline (rule A13).

    Raises:
        ToolError: nobody answered; the error of the preferred network, as one of names (rule A5: GEOCODING).
    """
    profiles = [network.profile for network in networks]
    limits = [each.names_deadline_s if len(profiles) > 1 else each.answer_deadline_s for each in profiles]
    try:
        return await _ask_up_to(networks, query, limits)
    except ToolError as error:
        error.details.setdefault("service", "geocoding")
        raise


async def _ask_up_to(
    networks: Sequence[Network], query: NetworkQuery[_T], limits: Sequence[float | None]
) -> Answers[_T]:
    failed: dict[str, LeftOut] = {}
    token = _failures.set(failed)
    try:
        answers = await _gather(networks, query, limits)
    finally:
        _failures.reset(token)
    stood_in = [failure for failure in failed.values() if failure.stand_in is not None]
    return replace(answers, left_out=(*answers.left_out, *stood_in))


async def _gather(networks: Sequence[Network], query: NetworkQuery[_T], limits: Sequence[float | None]) -> Answers[_T]:
    if len(networks) == 1:
        # The everyday case: whatever goes wrong is the caller's to hear, without a detour.
        return Answers(((networks[0], await _ask(networks[0], query, limits[0])),))
    questions = (_ask(network, query, limit_s) for network, limit_s in zip(networks, limits, strict=True))
    outcomes = await asyncio.gather(*questions, return_exceptions=True)
    answered: list[tuple[Network, _T]] = []
    left_out: list[LeftOut] = []
    for network, outcome in zip(networks, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            left_out.append(LeftOut(network.profile.name, name_fault(network, outcome)))
        else:
            answered.append((network, outcome))
    if left_out and not answered:
        raise left_out[0].error
    return Answers(tuple(answered), tuple(left_out))


async def _ask(network: Network, query: NetworkQuery[_T], limit_s: float | None) -> _T:
    try:
        with measuring_query(network):
            async with clock.time_limit(limit_s):
                return await query(network)
    except TimeoutError as error:
        raise late(network.profile, limit_s) from error


def name_fault(network: Network, error: BaseException) -> ToolError:
    """Return what a network raised, as a ToolError; what no source may raise is logged and is that source's failure.

    Raises:
        BaseException: the error itself, where it ends more than a query.
    """
    if isinstance(error, ToolError):
        return error
    if not isinstance(error, Exception):
        raise error
    name = network.profile.name
    _log.error("network=%s failed in a way that no source may", name, exc_info=error)
    return SourceFailed(f"{name} failed unexpectedly; the log says how")


def late(profile: NetworkProfile, limit_s: float | None) -> SourceTimeout:
    waited = "in time" if limit_s is None else f"within {limit_s:.3g} s"
    return SourceTimeout(f"{profile.name} did not answer {waited}", {"network": profile.name})


class Deadline:
    """The deadline of one call for plans or boards, over all its queries and networks.

    Attributes:
        failed: the networks that failed during this call, by name; they are not asked again for it.
    """

    def __init__(self) -> None:
        self._began_s = asyncio.get_running_loop().time()
        self.failed: dict[str, LeftOut] = {}

    def share_s(self, profile: NetworkProfile, waiting_behind: int) -> float | None:
        """Return how long a network may take, in seconds: all that is left, or half where another waits behind it."""
        if profile.answer_deadline_s is None:
            return None
        left_s = max(0.0, self._began_s + profile.answer_deadline_s - asyncio.get_running_loop().time())
        return left_s / 2 if waiting_behind else left_s


async def ask_in_turn(
    networks: Sequence[Network], query: NetworkQuery[_T], deadline: Deadline
) -> tuple[Network, _T, tuple[LeftOut, ...]]:
    """Query the preferred network; if it is unavailable or late, has a fault or no timetable of the day, the next.

    Raises:
        ToolError: as the first network, where nobody answered.
    """
    token = _failures.set(deadline.failed)
    try:
        left_out: list[LeftOut] = []
        for waiting_behind, network in zip(range(len(networks) - 1, -1, -1), networks, strict=True):
            limit_s = deadline.share_s(network.profile, waiting_behind)
            try:
                return network, await ask_within(network, query, limit_s, alone=len(networks) == 1), tuple(left_out)
            except (*UNAVAILABLE, OutsideCalendar) as error:
                left_out.append(LeftOut(network.profile.name, _as_known(error, network.profile, limit_s)))
        raise left_out[0].error
    finally:
        _failures.reset(token)


async def ask_within(network: Network, query: NetworkQuery[_T], limit_s: float | None, *, alone: bool = False) -> _T:
    """Query one network within a limit.

    A network with others beside it fails with one of ``UNAVAILABLE`` where it has a fault of its own, so that they
    can answer; what one ``alone`` raises is the caller's to hear.

    Raises:
        ToolError: as the network.
        TimeoutError: it was late.
    """
    with measuring_query(network):
        async with clock.time_limit(limit_s):
            if alone:
                return await query(network)
            try:
                return await query(network)
            except (ToolError, TimeoutError):
                raise
            except Exception as error:
                raise name_fault(network, error) from error


def measuring_query(network: Network) -> Measured:
    return measured("query network", {NETWORK: network.profile.name}, NETWORK_QUERY_DURATION)


def _as_known(error: Exception, profile: NetworkProfile, limit_s: float | None) -> ToolError:
    return error if isinstance(error, ToolError) else late(profile, limit_s)


def warn_of_left_out(left_out: Sequence[LeftOut], warnings: Warnings) -> None:
    for each in left_out:
        warnings.add(WarningCode.NETWORK_LEFT_OUT, each.sentence)


def warn_of_problems(problems: Mapping[str, str], warnings: Warnings) -> None:
    for name, problem in problems.items():
        warnings.add(WarningCode.NETWORK_LEFT_OUT, f"{name} was left out: {problem.rstrip('.')}.")
