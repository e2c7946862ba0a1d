"""What no database can keep must not keep a run, or any other run of the process, waiting for ever."""

import asyncio

import pytest

from fingerpost.plan.records import JournalFailed, StepRecord
from tests.plan.drawing import NOW, ended, failure, human, plan, step


@pytest.mark.parametrize("number", [2**53 - 1, 1 - 2**53])
async def test_the_largest_step_ids_are_kept(runs, number):
    state, run = await ended(runs, plan(step(number, expected_key="k")))

    assert (state, list(run.steps)) == ("completed", [number])


async def test_half_a_character_is_kept_as_well_as_it_can_be(runs, recorder):
    """In a goal, in what a tool says of its failure, in what a person says of a decision; parameters keep it whole."""
    half = "half \ud800"
    recorder.script = {"x": failure(half)}
    goal = plan(step(1, parameters={"label": half}), step(2, parameters={"label": "x"})).model_copy(
        update={"goal": half}
    )
    state, run = await ended(runs, goal)
    _state, waiting = await ended(runs, plan(human(1)))
    await runs.decide(waiting.run_id, "ann", 1, approved=False, note=half)
    rejected = await runs.carry_on(waiting.run_id)

    assert (state, rejected) == ("failed", "failed")
    assert run.steps[2].note == "half ?"
    assert runs.memory_of(run).keyed()["k1"]["data"]["label"] == half
    assert sorted(line.goal for line in await runs.list_runs("ann")) == ["a goal", "half ?"]


async def test_what_cannot_be_written_fails_who_waits_and_nobody_after(runs):
    """The journal's thread goes on: the next record is kept."""
    run_id = await runs.create(plan(step(1)), user="ann")
    bad = StepRecord(2**70, "completed", None, None, 1, NOW)
    async with asyncio.timeout(5):
        with pytest.raises(JournalFailed, match=r"^What a run did could not be written down$"):
            await runs.journal.record(run_id, bad, [], None, NOW)
        state = await runs.carry_on(run_id)

    assert state == "completed"
