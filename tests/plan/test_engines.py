"""Every engine passes every fact of the suite, and each broken engine fails the fact that it breaks."""

import pytest

from tests.plan.engines import ENGINES
from tests.plan.suite import facts_of_crashes, facts_of_histories, facts_of_lifecycle, facts_of_records
from tests.plan.suite.engine import Engine, EngineBroken

pytestmark = pytest.mark.usefixtures("free_clock")
FACTS = {
    name: fact
    for module in (facts_of_records, facts_of_lifecycle, facts_of_crashes, facts_of_histories)
    for name, fact in vars(module).items()
    if getattr(fact, "__module__", None) == module.__name__ and not name.startswith("_")
}

FOUND_OUT = [
    ("LosesTheLast", "a_step_begins_only_when_what_it_needs_is_kept", "Step 3 had begun, so steps 1 and 2 must be"),
    ("LosesTheLast", "a_recorded_step_never_runs_again", ""),
    ("Absent", "an_approval_outlives_a_restart", "A process that opens the engine breaks: AttributeError: module"),
    ("RunsAgain", "only_the_interrupted_step_runs_again_and_under_the_same_key", "The calls should have been"),
    ("RunsAgain", "no_history_repeats_or_changes_a_recorded_step", "Step 1 was recorded, and"),
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


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("fact", FACTS)
def test_an_engine_guarantees_its_contract(engine, fact, tmp_path):
    check = FACTS[fact]
    check(engine, tmp_path)


@pytest.mark.parametrize(("name", "fact", "words"), FOUND_OUT)
def test_a_broken_engine_is_found_out(name, fact, words, tmp_path):
    engine = Engine(name=name, opens=f"tests.plan.broken_engines:{name}")
    with pytest.raises(EngineBroken) as caught:
        FACTS[fact](engine, tmp_path)

    assert str(caught.value).startswith(words)
