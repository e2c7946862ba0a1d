"""The suite of engines can fail: each broken engine is found out by the fact that it breaks, in that fact's words."""

import pytest

from fingerpost.testing.engines.engine import Engine, EngineAbility, EngineBroken
from fingerpost.testing.engines.suite import FACTS, list_facts

FOUND_OUT = [
    ("LosesTheLast", "a_step_begins_only_when_what_it_needs_is_kept", "Step 3 had begun, so steps 1 and 2 must be"),
    ("LosesTheLast", "a_recorded_step_never_runs_again", ""),
    ("Absent", "an_approval_outlives_a_restart", "A process that opens the engine breaks: AttributeError: module"),
    ("RunsAgain", "only_the_interrupted_step_runs_again_and_under_the_same_key", "The calls should have been"),
    ("RunsAgain", "a_newer_build_goes_on_where_an_older_one_was_killed", "What the older build had recorded was"),
    ("HoldsForAll", "a_run_is_carried_on_by_one_process", "Two processes carried on one run at the same time"),
    ("HoldsForAll", "a_run_is_carried_on_once_in_one_process_too", "Held by one, by a second"),
    ("KeepsItsHolds", "only_the_interrupted_step_runs_again_and_under_the_same_key", "The calls should have been"),
    ("DeafToOthers", "signals_are_kept_in_order_for_whoever_carries_on", "The signals should be"),
    ("DeafToOthers", "an_approval_outlives_a_restart", "After the approval: ['waiting']"),
    ("KeepsHalf", "a_wide_fan_is_kept_whole", "The step that needs all others did not end last"),
    ("RewritesHistory", "what_was_recorded_is_found_by_whoever_opens_the_place_anew", "Kept was"),
    ("TakesAnyProtocol", "a_run_of_a_newer_program_is_left_alone", "Asked for a newer program's run"),
    ("NeverForgets", "old_runs_are_forgotten_and_unfinished_ones_never", "Forgotten at the end and just after"),
]


@pytest.fixture(autouse=True)
def _free_clock(monkeypatch):
    """Two processes of one installation draw ids of their own."""
    monkeypatch.delenv("FINGERPOST_NOW", raising=False)


def broken(name):
    """Return a broken engine."""
    return Engine(name=name, opens=f"tests.plan.broken_engines:{name}")


@pytest.mark.parametrize(("name", "fact", "words"), FOUND_OUT)
def test_a_broken_engine_is_found_out(name, fact, words, tmp_path):
    """By the fact that it breaks; the sentence says what was seen."""
    (check,) = [each.check for each in FACTS if str(each) == fact]
    with pytest.raises(EngineBroken) as caught:
        check(broken(name), tmp_path)

    assert str(caught.value).startswith(words)


def test_facts_that_need_more_than_an_engine_can_do_are_left_out():
    """An engine in memory is held to the rest of them."""
    here = Engine(name="memory", opens="nowhere:Memory", abilities=frozenset())
    alone = Engine(name="file", opens="nowhere:File", abilities=frozenset({EngineAbility.OUTLIVES}))
    counts = [len(list_facts(engine)) for engine in (here, alone, broken("KeepsHalf"))]

    assert counts == [sum(not fact.needs for fact in FACTS), len(FACTS) - 3, len(FACTS)]
