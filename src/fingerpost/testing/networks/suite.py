"""The conformance suite: all checks that a source of public transport must pass.

Authors of a source subclass ``ConformingSource`` once and run every check::

    class MySource(ConformingSource):
        name = "mine"
        gaps = {Ability.FARES: "the server knows no fares"}

        @asynccontextmanager
        async def open(self, town):
            async with serve_somehow(town.tables, town.realtime) as url:
                yield MyNetwork(url, town.name)

    @pytest.mark.parametrize("fact", FACTS, ids=str)
    def test_my_source(fact):
        check(MySource(), fact)

No test framework is needed: a failed check raises ``NetworkBroken``, and so does an unnecessary gap.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import StrEnum
from inspect import iscoroutinefunction
from typing import ClassVar
from unittest.mock import patch

from fingerpost import clock
from fingerpost.errors import (
    SourceChanged,
    SourceFailed,
    SourceLimited,
    SourceTimeout,
    SourceUnreachable,
    ToolError,
)
from fingerpost.testing.networks import facts, realtime_facts
from fingerpost.testing.networks.checking import (
    AbilityMissing,
    NetworkBroken,
    NetworkFact,
    TownNetwork,
    expect,
    expect_same,
)
from fingerpost.testing.networks.town import NOW, Town, new_town
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import Network


class Trouble(StrEnum):
    """A fault in the server that a source uses."""

    UNREACHABLE = "its server cannot be reached"
    SILENT = "its server does not answer in time"
    FAILING = "its server answers with a failure"
    LIMITING = "its server limits the request rate"
    MALFORMED = "its server answers in an unknown format"


class ConformingSource(ABC):
    """One kind of source under test.

    Attributes:
        name: the name used in messages.
        gaps: reasons for missing features, keyed by the name of a check, a ``Trouble`` or an ability. Every ability
            that the profile does not declare needs one; gaps for working features fail the suite.
    """

    name: ClassVar[str]
    gaps: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def open(self, town: Town) -> AbstractAsyncContextManager[Network]:
        """Return a context in which the source serves the town and its network is open; no task may outlive it."""

    @asynccontextmanager
    async def open_in_trouble(self, town: Town, trouble: Trouble) -> AsyncIterator[Network]:
        """Open the network while its server has a fault; use short timeouts, because ``SILENT`` waits for them."""
        raise NotImplementedError(f"{self.name} cannot show what happens if {trouble.value}")
        async with self.open(town) as network:
            yield network


# The error that queries must raise during each fault in the server.
_ERRORS: dict[Trouble, type[ToolError]] = {
    Trouble.UNREACHABLE: SourceUnreachable,
    Trouble.SILENT: SourceTimeout,
    Trouble.FAILING: SourceFailed,
    Trouble.LIMITING: SourceLimited,
    Trouble.MALFORMED: SourceChanged,
}


FACTS: tuple[NetworkFact | Trouble, ...] = (
    *(
        NetworkFact(check, live=module is realtime_facts)
        for module in (facts, realtime_facts)
        for name, check in vars(module).items()
        if iscoroutinefunction(check) and not name.startswith("_")
    ),
    *Trouble,
)


def check(source: ConformingSource, fact: NetworkFact | Trouble) -> str | None:
    """Run a check at ``town.NOW``; return None if it passes, or the reason for its declared gap.

    Raises:
        NetworkBroken: the check fails without a declared gap, or passes with one.
    """
    declared = source.gaps.get(fact.name)
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        try:
            gap_reason = asyncio.run(_check(source, fact))
        except (NetworkBroken, ToolError, NotImplementedError, OSError) as error:
            if declared is not None:
                return declared
            why = f"{error}" if isinstance(error, NetworkBroken) else f"it ended with {type(error).__name__}: {error}"
            raise NetworkBroken(f"{source.name}: {fact.name} failed: {why}") from error
    if declared is not None and gap_reason is None:
        raise NetworkBroken(
            f"{source.name} declares a gap that does not exist ({declared}): {fact.name} passes. Remove it."
        )
    return gap_reason


def check_abilities(source: ConformingSource) -> None:
    """Check that each ability is either declared in the profile or explained by a gap.

    Raises:
        NetworkBroken: an ability is neither or both, or a gap has an unknown name.
    """
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        declared = asyncio.run(_find_abilities(source))
    abilities = frozenset(Ability)
    faults = {
        "neither declares nor explains": abilities - declared - source.gaps.keys(),
        "declares a gap that does not exist": declared & source.gaps.keys(),
        "has gaps that name neither a fact nor an ability": source.gaps.keys() - abilities - {f.name for f in FACTS},
    }
    for fault, names in faults.items():
        if names:
            raise NetworkBroken(f"{source.name} {fault}: {', '.join(sorted(map(str, names)))}")


async def _check(source: ConformingSource, fact: NetworkFact | Trouble) -> str | None:
    before = asyncio.all_tasks()
    if isinstance(fact, Trouble):
        await _check_trouble(source, fact)
    else:
        town = new_town(live=fact.live)
        async with source.open(town) as network:
            case = TownNetwork(network, town)
            try:
                case.require(*([Ability.REALTIME] if fact.live else []))
                await fact.check(case)
            except AbilityMissing as missing:
                (ability,) = missing.args
                return source.gaps.get(ability, f"{ability.value} is not declared")
    leaked_tasks = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    if leaked_tasks:
        raise NetworkBroken(f"tasks still run after the network was closed: {', '.join(leaked_tasks)}")
    return None


async def _check_trouble(source: ConformingSource, trouble: Trouble) -> None:
    town = new_town()
    async with source.open_in_trouble(town, trouble) as network:
        case = TownNetwork(network, town)
        queries: dict[Ability, Callable[[], Awaitable[object]]] = {
            Ability.PLANS: lambda: case.plan("Alpha", "Gamma", "08:00"),
            Ability.BOARDS: lambda: case.board("Alpha", "08:00", "09:00"),
            Ability.NAMES: lambda: case.network.find_places("Alpha"),
            Ability.STOPS: lambda: case.network.list_stops_near(town.coordinate("Alpha"), 100.0),
        }
        for ability, query in queries.items():
            if not case.can(ability):
                continue
            try:
                answer = await query()
            except ToolError as error:
                expect_same(type(error), _ERRORS[trouble], f"the error of {ability.value}")
                expect(bool(error.message.strip()), f"the error of {ability.value} has no message")
            else:
                raise NetworkBroken(f"{ability.value} were answered anyway: {answer!r}"[:300])


async def _find_abilities(source: ConformingSource) -> frozenset[Ability]:
    async with source.open(new_town(live=True)) as network:
        return network.profile.abilities
