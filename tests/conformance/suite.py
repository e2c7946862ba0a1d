"""The conformance suite: all checks that a public transport data source must pass.

A failed check raises ``NetworkBroken``, and so does an unnecessary gap.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from inspect import iscoroutinefunction
from typing import ClassVar
from unittest.mock import patch

from fingerpost import clock, errors
from fingerpost.transit.model.profile import Ability
from tests.conformance import network_checks, realtime_checks
from tests.conformance.town import NOW, new_town
from tests.conformance.town_network import AbilityMissing, NetworkBroken, NetworkCheck, TownNetwork, expect, expect_same


class ServerFault(StrEnum):
    """A simulated fault in a source's server."""

    UNREACHABLE = "its server cannot be reached"
    SILENT = "its server does not answer in time"
    FAILING = "its server returns an error"
    LIMITING = "its server limits the request rate"
    MALFORMED = "its server responds in an unknown format"


class ConformingSource(ABC):
    """A network source under test.

    Attributes:
        name: the name used in messages.
        gaps: the reason for each missing feature, keyed by check name, ``ServerFault`` name or ability.
            Abilities that the profile does not declare need a gap; gaps for working features fail the suite.
    """

    name: ClassVar[str]
    gaps: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def open(self, town):
        """Return a context manager that opens a network serving the town, and ends all tasks on exit."""

    @asynccontextmanager
    async def open_with_fault(self, town, fault):
        """Open the network with a server fault; use short timeouts, because ``SILENT`` lasts until the timeout."""
        raise NotImplementedError(f"{self.name} cannot simulate this fault: {fault.value}")
        async with self.open(town) as network:
            yield network


# The error that queries must raise for each server fault.
_ERRORS = {
    ServerFault.UNREACHABLE: errors.SourceUnreachable,
    ServerFault.SILENT: errors.SourceTimeout,
    ServerFault.FAILING: errors.SourceFailed,
    ServerFault.LIMITING: errors.SourceLimited,
    ServerFault.MALFORMED: errors.SourceChanged,
}

CHECKS = (
    *(
        NetworkCheck(run, live=module is realtime_checks)
        for module in (network_checks, realtime_checks)
        for name, run in vars(module).items()
        if iscoroutinefunction(run) and not name.startswith("_")
    ),
    *ServerFault,
)


def run_check(source, check):
    """Run a check at ``town.NOW``; return None if it passes, or the reason for its declared gap."""
    declared = source.gaps.get(check.name)
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        try:
            gap_reason = asyncio.run(_run_check(source, check))
        except (NetworkBroken, errors.ToolError, NotImplementedError, OSError) as error:
            if declared is not None:
                return declared
            why = f"{error}" if isinstance(error, NetworkBroken) else f"it raised {type(error).__name__}: {error}"
            raise NetworkBroken(f"{source.name}: {check.name} failed: {why}") from error
    if declared is not None and gap_reason is None:
        raise NetworkBroken(
            f"{source.name} declares a gap that does not exist ({declared}): {check.name} passes. Remove it."
        )
    return gap_reason


def check_abilities(source):
    """Check that gaps have known names, and that each ability is either in the profile or explained by a gap."""
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        declared = asyncio.run(_find_abilities(source))
    abilities = frozenset(Ability)
    problems = {
        "neither declares nor explains": abilities - declared - source.gaps.keys(),
        "declares a gap that does not exist": declared & source.gaps.keys(),
        "has gaps that name neither a check nor an ability": source.gaps.keys() - abilities - {c.name for c in CHECKS},
    }
    for problem, names in problems.items():
        if names:
            raise NetworkBroken(f"{source.name} {problem}: {', '.join(sorted(map(str, names)))}")


async def _run_check(source, check):
    before = asyncio.all_tasks()
    if isinstance(check, ServerFault):
        await _run_fault_check(source, check)
    else:
        town = new_town(live=check.live)
        async with source.open(town) as network:
            case = TownNetwork(network, town)
            try:
                case.require(*([Ability.REALTIME] if check.live else []))
                await check.run(case)
            except AbilityMissing as missing:
                return source.gaps.get(missing.ability, f"{missing.ability.value} is not declared")
    leaked_tasks = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    if leaked_tasks:
        raise NetworkBroken(f"tasks are still running after the network was closed: {', '.join(leaked_tasks)}")
    return None


async def _run_fault_check(source, fault):
    town = new_town()
    async with source.open_with_fault(town, fault) as network:
        case = TownNetwork(network, town)
        queries = {
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
            except errors.ToolError as error:
                expect_same(type(error), _ERRORS[fault], f"the error from the {ability.value} query")
                expect(bool(error.message.strip()), f"the error from the {ability.value} query has no message")
            else:
                raise NetworkBroken(f"the {ability.value} query succeeded despite the fault: {answer!r}"[:300])


async def _find_abilities(source):
    async with source.open(new_town(live=True)) as network:
        return network.profile.abilities
