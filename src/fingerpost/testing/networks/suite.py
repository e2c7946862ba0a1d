"""The conformance suite: all facts that a source of public transport must satisfy.

Authors of a source subclass ``ConformingSource`` once and check every fact::

    class MySource(ConformingSource):
        name = "mine"
        gaps = {Ability.FARES: NotYetTheirs("the server knows no fares")}

        @asynccontextmanager
        async def open(self, town):
            async with serve_somehow(town.tables, town.realtime) as url:
                yield MyNetwork(url, town.name)

    @pytest.mark.parametrize("fact", FACTS, ids=str)
    def test_my_source(fact):
        check(MySource(), fact)

No test framework is needed: a fact that does not hold raises ``NetworkBroken``, and so does a declared gap
(``NotYetOurs``, ``NotYetTheirs``, ``Never``) that is none.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from inspect import iscoroutinefunction
from types import ModuleType
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
from fingerpost.testing.networks import (
    facts_of_boards,
    facts_of_places,
    facts_of_plans,
    facts_of_profile,
    facts_of_realtime,
)
from fingerpost.testing.networks.checking import AskedNetwork, Check, NetworkBroken, NetworkFact, expect, expect_same
from fingerpost.testing.networks.source import ConformingSource, Gap, Trouble
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.transit.model.profile import Ability

# What the facts of a module need, and what some of them need instead.
_NEEDS: dict[ModuleType, set[Ability]] = {
    facts_of_profile: set(),
    facts_of_plans: {Ability.PLANS},
    facts_of_boards: {Ability.BOARDS},
    facts_of_places: {Ability.NAMES},
    facts_of_realtime: {Ability.REALTIME, Ability.BOARDS},
}
_OTHER_NEEDS: dict[Check, set[Ability]] = {
    facts_of_profile.its_answers_cannot_be_changed: {Ability.PLANS},
    facts_of_plans.a_plan_arrives_when_asked: {Ability.PLANS, Ability.ARRIVE_BY},
    facts_of_plans.a_plan_may_arrive_no_second_late: {Ability.PLANS, Ability.ARRIVE_BY},
    facts_of_plans.a_step_free_plan_takes_no_step: {Ability.PLANS, Ability.STEP_FREE},
    facts_of_plans.itineraries_are_priced: {Ability.PLANS, Ability.FARES},
    facts_of_plans.legs_have_lines: {Ability.PLANS, Ability.GEOMETRY},
    facts_of_places.stops_near_a_point_come_nearest_first: {Ability.STOPS},
    facts_of_places.a_radius_is_a_bound: {Ability.STOPS},
    facts_of_places.a_stop_near_says_its_id_and_modes: {Ability.STOPS},
    facts_of_realtime.a_cancelled_trip_is_not_ridden: {Ability.REALTIME, Ability.PLANS},
    facts_of_realtime.a_cancelled_trip_stays_visible: {Ability.REALTIME, Ability.PLANS},
    facts_of_realtime.a_late_trip_is_told_with_its_delay: {Ability.REALTIME, Ability.PLANS},
    facts_of_realtime.an_alert_of_a_line_is_told_with_its_ride: {Ability.REALTIME, Ability.PLANS},
    facts_of_realtime.an_alert_that_is_over_is_not_told: {Ability.REALTIME, Ability.PLANS},
}


@dataclass(frozen=True, slots=True)
class TroubleFact:
    """A fault of a server, and the error of ``fingerpost.errors`` that every query must then raise."""

    name: str
    trouble: Trouble
    branch: type[ToolError]

    def __str__(self) -> str:
        return self.name


TROUBLES = (
    TroubleFact("a_server_that_cannot_be_reached_is_told", Trouble.UNREACHABLE, SourceUnreachable),
    TroubleFact("a_server_that_is_silent_is_told", Trouble.SILENT, SourceTimeout),
    TroubleFact("a_server_that_fails_is_told", Trouble.FAILING, SourceFailed),
    TroubleFact("a_server_that_asks_us_to_wait_is_told", Trouble.LIMITING, SourceLimited),
    TroubleFact("an_answer_in_another_format_is_told", Trouble.MALFORMED, SourceChanged),
)


def _list_facts() -> Iterator[NetworkFact]:
    for module, needs in _NEEDS.items():
        for name, check in vars(module).items():
            if iscoroutinefunction(check) and not name.startswith("_"):
                yield NetworkFact(check, frozenset(_OTHER_NEEDS.get(check, needs)))


FACTS: tuple[NetworkFact | TroubleFact, ...] = (*_list_facts(), *TROUBLES)


def check(source: ConformingSource, fact: NetworkFact | TroubleFact) -> Gap | None:
    """Check a fact at ``town.NOW``; return the declared gap if it does not hold, None if it does.

    Raises:
        NetworkBroken: the fact does not hold and no gap is declared, or a gap is declared and it holds.
    """
    declared = source.gaps.get(fact.name)
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        try:
            lacking = asyncio.run(_check(source, fact))
        except (NetworkBroken, ToolError, NotImplementedError, OSError) as error:
            if declared is not None:
                return declared
            told = f"{error}" if isinstance(error, NetworkBroken) else f"it ended with {type(error).__name__}: {error}"
            raise NetworkBroken(f"{source.name}: {fact.name} is not so: {told}") from error
    if lacking is not None:
        return lacking
    if declared is not None:
        raise NetworkBroken(f"{source.name} declares a gap that is none ({declared}): {fact.name} holds. Take it out.")
    return None


def check_abilities(source: ConformingSource) -> None:
    """Check that each ability is either declared in the profile or explained by a gap.

    Raises:
        NetworkBroken: one is neither, or both; or a gap names neither a fact nor an ability.
    """
    with patch.dict(os.environ, {clock.VARIABLE: NOW}):
        able = asyncio.run(_find_abilities(source))
    silent = [ability.value for ability in Ability if ability not in able and ability not in source.gaps]
    if silent:
        raise NetworkBroken(f"{source.name} neither declares nor explains: {', '.join(silent)}")
    closed = [ability.value for ability in Ability if ability in able and ability in source.gaps]
    if closed:
        raise NetworkBroken(f"{source.name} declares a gap that is none: {', '.join(closed)}")
    known = {fact.name for fact in FACTS} | set(Ability)
    unknown = [str(name) for name in source.gaps if name not in known]
    if unknown:
        raise NetworkBroken(f"{source.name} has gaps for what is neither a fact nor an ability: {', '.join(unknown)}")


async def _check(source: ConformingSource, fact: NetworkFact | TroubleFact) -> Gap | None:
    before = asyncio.all_tasks()
    if isinstance(fact, TroubleFact):
        await _check_trouble(source, fact)
    else:
        town = new_town(live=Ability.REALTIME in fact.needs)
        async with source.open(town) as network:
            for ability in sorted(fact.needs - network.profile.abilities):
                return source.gaps.get(ability, Gap(f"{ability.value} is not declared"))
            await fact.check(AskedNetwork(network, town))
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    if left:
        raise NetworkBroken(f"tasks go on after the network was closed: {', '.join(left)}")
    return None


async def _check_trouble(source: ConformingSource, fact: TroubleFact) -> None:
    town = new_town()
    async with source.open_in_trouble(town, fact.trouble) as network:
        asked = AskedNetwork(network, town)
        questions: dict[Ability, Callable[[], Awaitable[object]]] = {
            Ability.PLANS: lambda: asked.plan("Alpha", "Gamma", "08:00"),
            Ability.BOARDS: lambda: asked.board("Alpha", "08:00", "09:00"),
            Ability.NAMES: lambda: asked.network.find_places("Alpha"),
            Ability.STOPS: lambda: asked.network.list_stops_near(town.coordinate("Alpha"), 100.0),
        }
        for ability, ask in questions.items():
            if not asked.can(ability):
                continue
            try:
                answer = await ask()
            except ToolError as error:
                expect_same(type(error).__name__, fact.branch.__name__, f"the error of {ability.value}")
                expect(bool(error.message.strip()), f"the error of {ability.value} says nothing")
            else:
                raise NetworkBroken(f"{ability.value} are answered all the same: {answer!r}"[:300])


async def _find_abilities(source: ConformingSource) -> frozenset[Ability]:
    async with source.open(new_town(live=True)) as network:
        return network.profile.abilities
