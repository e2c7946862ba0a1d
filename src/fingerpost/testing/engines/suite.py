"""All facts that an engine is held to.

Whoever writes an engine names it once and checks every fact, each in a folder of its own::

    ENGINE = Engine(name="mine", opens="my.package:MyJournal")

    @pytest.mark.parametrize("fact", list_facts(ENGINE), ids=str)
    def test_my_engine(fact, tmp_path):
        fact.check(ENGINE, tmp_path)

No test framework is needed: a fact that does not hold raises ``Broken``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fingerpost.testing.engines import killing, living, records, upgrading
from fingerpost.testing.engines.engine import Ability, Engine

_OUTLIVES = frozenset({Ability.OUTLIVES})
_SHARED = frozenset(Ability)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds of an engine; ``check`` raises Broken where it does not."""

    check: Callable[[Engine, Path], object]
    needs: frozenset[Ability] = frozenset()

    def __str__(self) -> str:
        """Return the fact's name."""
        return self.check.__name__


FACTS = (
    Fact(records.an_empty_place_is_no_error),
    Fact(records.what_was_recorded_is_found_by_whoever_opens_the_place_anew, _OUTLIVES),
    Fact(records.the_last_record_of_a_step_stands),
    Fact(records.events_are_listed_in_order_and_after_any_of_them),
    Fact(records.signals_are_kept_in_order_for_whoever_carries_on, _OUTLIVES),
    Fact(records.a_run_is_untouched_until_anything_happens_to_it),
    Fact(records.a_changed_plan_forgets_what_it_is_told_to_forget, _OUTLIVES),
    Fact(records.runs_are_listed_for_their_user_newest_first),
    Fact(records.ids_count_from_a_base_and_are_free_without_one),
    Fact(records.old_runs_are_forgotten_and_unfinished_ones_never),
    Fact(living.nothing_is_held_that_nobody_carries_on),
    Fact(living.a_run_is_carried_on_once_in_one_process_too, _SHARED),
    Fact(living.a_cancelled_run_stops_what_is_under_way),
    Fact(living.another_process_may_cancel, _SHARED),
    Fact(living.an_attempt_out_of_time_is_recorded_and_the_run_can_be_resumed, _OUTLIVES),
    Fact(living.an_approval_outlives_a_restart, _OUTLIVES),
    Fact(living.a_wide_fan_is_kept_whole, _OUTLIVES),
    Fact(living.no_branch_waits_for_another),
    Fact(killing.a_recorded_step_never_runs_again, _OUTLIVES),
    Fact(killing.a_step_begins_only_when_what_it_needs_is_kept, _OUTLIVES),
    Fact(killing.only_the_interrupted_step_runs_again_and_under_the_same_key, _OUTLIVES),
    Fact(killing.a_run_is_carried_on_by_one_process, _SHARED),
    Fact(upgrading.a_newer_build_goes_on_where_an_older_one_was_killed, _OUTLIVES),
    Fact(upgrading.a_build_whose_tool_asks_for_more_refuses_and_spoils_nothing, _OUTLIVES),
    Fact(upgrading.a_build_without_the_tool_refuses_and_spoils_nothing, _OUTLIVES),
    Fact(upgrading.a_run_of_a_newer_program_is_left_alone),
)


def list_facts(engine: Engine) -> list[Fact]:
    """Return the facts that an engine is held to: those that need no more than it can do."""
    return [fact for fact in FACTS if fact.needs <= engine.abilities]
