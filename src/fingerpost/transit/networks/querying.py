"""Query several networks with deadlines, so that a slow or failing network does not delay the others (rule A13)."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

from fingerpost import clock, errors
from fingerpost.runtime.instruments import NETWORK, NETWORK_QUERY_DURATION, Measurement
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.port import Network, OpenNetworks
from fingerpost.transit.rules.warnings import Warning, WarningCode  # noqa: A004  (the contract's own name)

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

NetworkQuery = Callable[[Network], Awaitable[_T]]

_MIN_LIMIT_S = 1.0

UNAVAILABLE = (errors.StorageUnavailable, errors.SourceChanged)
"""Errors from a source that did not answer; another network, or its fallback, may answer instead."""

CANNOT_ANSWER = (*UNAVAILABLE, errors.RegionUnsupported)
"""Like ``UNAVAILABLE``, and the error of a network that does not cover the query's place or time."""


@dataclass(frozen=True, slots=True)
class NetworkFailure:
    """The error of a network that did not answer; ``fallback`` is the network that answered instead."""

    network: str
    error: errors.ToolError
    fallback: str | None = None

    @property
    def clause(self) -> str:
        if self.fallback is None:
            return f"{self.network} was left out: {self.error.message}"
        failure = f"could not be queried for names ({self.error.message})"
        return f"{self.network} {failure}; its fallback {self.fallback} answered"

    @property
    def warning(self) -> Warning:
        return Warning(WarningCode.NETWORK_LEFT_OUT, errors.as_sentence(self.clause))


Failures = dict[str, NetworkFailure]
"""The failures of networks with a fallback during one call, keyed by network name."""


@dataclass(frozen=True, slots=True)
class Answers(Generic[_T]):
    """The answers in the order of the networks, and the networks that did not answer."""

    by_network: tuple[tuple[Network, _T], ...]
    left_out: tuple[NetworkFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_T]):
    """The first answer, its network, and the failures of the networks tried before it."""

    value: _T
    network: Network
    left_out: tuple[NetworkFailure, ...] = ()

    @property
    def warnings(self) -> tuple[Warning, ...]:
        return tuple(failure.warning for failure in self.left_out)


class CallScopedNetwork(ABC):
    """A network that queries a failed server only once per call."""

    @abstractmethod
    def bind_to_call(self, failures: Failures) -> Network: ...


def bind_to_call(network: Network, failures: Failures) -> Network:
    return network.bind_to_call(failures) if isinstance(network, CallScopedNetwork) else network


async def query_all(networks: Sequence[Network], query: NetworkQuery[_T], *, names: bool = False) -> Answers[_T]:
    """Query networks concurrently, each with a deadline; raise the preferred network's error if none answers.

    The deadline is the answer deadline or, if several networks are queried for ``names``, the names deadline (rule
    A13). If ``names``, the error is a GEOCODING error (rule A5).
    """
    profiles = [network.profile for network in networks]
    is_short = names and len(profiles) > 1
    limits = [profile.names_deadline_s if is_short else profile.answer_deadline_s for profile in profiles]
    failures: Failures = {}
    is_only = len(networks) == 1
    queries = [
        query_within(bind_to_call(network, failures), query, limit_s, is_only=is_only)
        for network, limit_s in zip(networks, limits, strict=True)
    ]
    outcomes: Sequence[_T | BaseException]
    if is_only:
        # Most calls query a single network, so they need no task.
        try:
            outcomes = [await queries[0]]
        except errors.ToolError as error:
            outcomes = [error]
    else:
        outcomes = await asyncio.gather(*queries, return_exceptions=True)
    answered: list[tuple[Network, _T]] = []
    left_out: list[NetworkFailure] = []
    for network, outcome in zip(networks, outcomes, strict=True):
        if isinstance(outcome, errors.ToolError):
            left_out.append(NetworkFailure(network.profile.name, outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            answered.append((network, outcome))
    if left_out and not answered:
        failure = left_out[0].error
        if not names:
            raise failure
        raise failure.with_message(failure.message, details={"service": "geocoding", **failure.details}) from failure
    # Name matches have no provenance, so report their fallbacks here.
    fallback_answers = [failure for failure in failures.values() if failure.fallback is not None]
    return Answers(tuple(answered), (*left_out, *fallback_answers))


class Deadline:
    """The deadline of a tool call, shared by all its queries and networks."""

    def __init__(self) -> None:
        self._began_s = asyncio.get_running_loop().time()
        self.failures: Failures = {}

    def find_limit_s(self, profile: NetworkProfile, remaining_networks: int) -> float | None:
        """Return a network's time limit in seconds: all remaining time, or half if more networks follow."""
        if profile.answer_deadline_s is None:
            return None
        remaining_s = max(0.0, self._began_s + profile.answer_deadline_s - asyncio.get_running_loop().time())
        return remaining_s / 2 if remaining_networks else remaining_s


async def try_in_order(networks: Sequence[Network], query: NetworkQuery[_T], deadline: Deadline) -> Outcome[_T]:
    """Query the preferred network, then the next if it fails, times out or does not cover the place or day."""
    left_out: list[NetworkFailure] = []
    for remaining_networks, network in zip(range(len(networks) - 1, -1, -1), networks, strict=True):
        limit_s = deadline.find_limit_s(network.profile, remaining_networks)
        try:
            answer = await query_within(
                bind_to_call(network, deadline.failures), query, limit_s, is_only=len(networks) == 1
            )
            return Outcome(answer, network, tuple(left_out))
        except (*CANNOT_ANSWER, errors.OutsideCalendar) as error:
            left_out.append(NetworkFailure(network.profile.name, error))
    raise left_out[0].error


async def query_network(network: Network, query: NetworkQuery[_T], deadline: Deadline) -> _T:
    return (await try_in_order([network], query, deadline)).value


async def query_within(
    network: Network, query: NetworkQuery[_T], limit_s: float | None, *, is_only: bool = False
) -> _T:
    """Query one network within a time limit; raise errors.SourceTimeout if it does not answer in time.

    All queries of a call share one time budget: the sum of the names deadline and the answer deadline. Unless
    ``is_only``, unexpected errors become errors.SourceFailed, so that other networks can answer.
    """
    profile = network.profile
    name = profile.name
    age_s = clock.find_call_age_s()
    stated_s = limit_s
    if limit_s is not None and age_s is not None:
        total_s = (profile.names_deadline_s or 0.0) + (profile.answer_deadline_s or 0.0)
        # Give the network some time even if other work used it up, so that it does not fail for that reason.
        remaining_s = max(_MIN_LIMIT_S, total_s - age_s)
        if remaining_s < limit_s:
            limit_s, stated_s = remaining_s, total_s
    try:
        with measure_query(network):
            async with nullcontext() if limit_s is None else clock.time_limit(limit_s):
                return await query(network)
    except errors.ToolError:
        raise
    except TimeoutError as error:
        limit = "in time" if stated_s is None else f"within {stated_s:.3g} s"
        raise errors.SourceTimeout(f"{name} did not answer {limit}", {"network": name}) from error
    except Exception as error:
        if is_only:
            raise
        _log.error("network=%s failed unexpectedly", name, exc_info=error)
        raise errors.SourceFailed(f"{name} failed unexpectedly; see the log") from error


def measure_query(network: Network) -> Measurement:
    return Measurement("query network", {NETWORK: network.profile.name}, NETWORK_QUERY_DURATION)


def list_problems(opened: OpenNetworks) -> list[Warning]:
    return [NetworkFailure(name, errors.SettingsInvalid(problem)).warning for name, problem in opened.problems.items()]
