"""For each check of the suite there is a network that fails it; unnecessary gaps are detected."""

import asyncio
from contextlib import AsyncExitStack
from types import MappingProxyType

import pytest

from fingerpost.errors import SourceFailed, SourceTimeout
from fingerpost.transit.model.profile import Ability
from tests.conformance.broken_networks import BENT, Bend, BentSource, Fading, with_profile
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.suite import CHECKS, ServerFault, check_abilities, run_check
from tests.conformance.town import new_town
from tests.conformance.town_network import NetworkBroken

CHECKS_BY_NAME = {check.name: check for check in CHECKS}


@pytest.fixture(scope="module")
def opened():
    """The town's network without real time and with it, opened once for all bends."""
    contexts = [EmbeddedConformance().open(new_town(live=live)) for live in (False, True)]
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yield [runner.run(stack.enter_async_context(context)) for context in contexts]
        runner.run(stack.aclose())


@pytest.mark.parametrize("name", BENT)
def test_every_check_can_fail(name, opened):
    with pytest.raises(NetworkBroken, match=rf"^bent: {name} failed: "):
        run_check(BentSource(BENT[name], opened), CHECKS_BY_NAME[name])


def test_there_is_a_broken_network_for_every_check():
    assert set(BENT) | {fault.name for fault in ServerFault} == set(CHECKS_BY_NAME)
    assert len(CHECKS_BY_NAME) == len(CHECKS)


@pytest.mark.parametrize("fault", ServerFault)
def test_another_error_than_that_of_the_fault_is_found(fault, opened):
    wrong = SourceFailed("no") if fault is ServerFault.SILENT else SourceTimeout("late")
    with pytest.raises(NetworkBroken, match="the error from the "):
        run_check(Fading(wrong, opened), fault)


def bent(opened, bend, **gaps):
    source = BentSource(bend, opened)
    source.gaps = MappingProxyType(gaps)
    return source


def test_a_gap_that_is_one_gives_its_reason(opened):
    name = "the_profile_describes_the_town"
    assert run_check(bent(opened, BENT[name], **{name: "later"}), CHECKS_BY_NAME[name]) == "later"


def test_a_false_gap_is_detected(opened):
    name = "the_profile_describes_the_town"
    with pytest.raises(NetworkBroken, match="declares a gap that does not exist"):
        run_check(bent(opened, Bend(), **{name: "it cannot"}), CHECKS_BY_NAME[name])


def test_an_ability_is_declared_or_explained_and_never_both(opened):
    no_lines = with_profile(abilities=frozenset(Ability) - {Ability.GEOMETRY})
    explained = bent(opened, no_lines)
    explained.gaps = MappingProxyType({Ability.GEOMETRY: "the server knows none"})
    check_abilities(explained)
    assert run_check(explained, CHECKS_BY_NAME["legs_have_lines"]) == "the server knows none"

    with pytest.raises(NetworkBroken, match="neither declares nor explains: geometry"):
        check_abilities(bent(opened, no_lines))
    explained._bend = Bend()
    with pytest.raises(NetworkBroken, match="a gap that does not exist: geometry"):
        check_abilities(explained)
    with pytest.raises(NetworkBroken, match="neither a check nor an ability: typo"):
        check_abilities(bent(opened, Bend(), typo=("?")))


def test_work_after_closing_is_detected(opened):
    class Leaving(BentSource):
        def open(self, town):
            self.task = asyncio.ensure_future(asyncio.Event().wait())
            return super().open(town)

    with pytest.raises(NetworkBroken, match="tasks are still running after the network was closed"):
        run_check(Leaving(Bend(), opened), CHECKS_BY_NAME["the_profile_describes_the_town"])
