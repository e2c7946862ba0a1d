"""The conformance suite: all facts that an engine must satisfy.

Whoever writes an engine names it once and checks every fact, each in a folder of its own::

    ENGINE = Engine(name="mine", opens="my.package:MyJournal")

    @pytest.mark.parametrize("fact", list_facts(ENGINE), ids=str)
    def test_my_engine(fact, tmp_path):
        fact.check(ENGINE, tmp_path)

No test framework is needed: a fact that does not hold raises ``EngineBroken``.
Worker processes are those of ``multiprocessing``, so a script does its work under ``if __name__ == "__main__"``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fingerpost.testing.engines import crash, lifecycle, records, upgrade
from fingerpost.testing.engines.engine import Engine, EngineAbility

_OUTLIVES = frozenset({EngineAbility.OUTLIVES})
_SHARED = frozenset(EngineAbility)


@dataclass(frozen=True, slots=True)
class EngineFact:
    """One fact of the suite; ``check`` raises ``EngineBroken`` where it does not hold."""

    check: Callable[[Engine, Path], object]
    needs: frozenset[EngineAbility] = frozenset()

    def __str__(self) -> str:
        """Return the fact's name."""
        return self.check.__name__


FACTS = (
    EngineFact(records.an_empty_place_is_no_error),
    EngineFact(records.what_was_recorded_is_found_by_whoever_opens_the_place_anew, _OUTLIVES),
    EngineFact(records.the_last_record_of_a_step_stands),
    EngineFact(records.events_are_listed_in_order_and_after_any_of_them),
    EngineFact(records.signals_are_kept_in_order_for_whoever_carries_on, _OUTLIVES),
    EngineFact(records.a_run_is_untouched_until_anything_happens_to_it),
    EngineFact(records.a_changed_plan_forgets_what_it_is_told_to_forget, _OUTLIVES),
    EngineFact(records.runs_are_listed_for_their_user_newest_first),
    EngineFact(records.ids_count_from_a_base_and_are_free_without_one),
    EngineFact(records.old_runs_are_forgotten_and_unfinished_ones_never),
    EngineFact(lifecycle.nothing_is_held_that_nobody_carries_on),
    EngineFact(lifecycle.a_run_is_carried_on_once_in_one_process_too, _SHARED),
    EngineFact(lifecycle.a_cancelled_run_stops_what_is_under_way),
    EngineFact(lifecycle.another_process_may_cancel, _SHARED),
    EngineFact(lifecycle.an_attempt_out_of_time_is_recorded_and_the_run_can_be_resumed, _OUTLIVES),
    EngineFact(lifecycle.an_approval_outlives_a_restart, _OUTLIVES),
    EngineFact(lifecycle.a_wide_fan_is_kept_whole, _OUTLIVES),
    EngineFact(lifecycle.no_branch_waits_for_another),
    EngineFact(crash.a_recorded_step_never_runs_again, _OUTLIVES),
    EngineFact(crash.a_step_begins_only_when_what_it_needs_is_kept, _OUTLIVES),
    EngineFact(crash.only_the_interrupted_step_runs_again_and_under_the_same_key, _OUTLIVES),
    EngineFact(crash.a_run_is_carried_on_by_one_process, _SHARED),
    EngineFact(upgrade.a_newer_build_goes_on_where_an_older_one_was_killed, _OUTLIVES),
    EngineFact(upgrade.a_build_whose_tool_asks_for_more_refuses_and_spoils_nothing, _OUTLIVES),
    EngineFact(upgrade.a_build_without_the_tool_refuses_and_spoils_nothing, _OUTLIVES),
    EngineFact(upgrade.a_run_of_a_newer_program_is_left_alone),
)


def list_facts(engine: Engine) -> list[EngineFact]:
    """Return the facts that an engine is held to: those that need no more than it can do."""
    return [fact for fact in FACTS if fact.needs <= engine.abilities]
