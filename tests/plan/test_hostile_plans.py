"""Hostile plans are refused or bounded; values that a database cannot store block no other run."""

import asyncio
from functools import reduce

import pytest

from fingerpost.errors import PlanInvalid
from fingerpost.plan.limits import Limits
from fingerpost.plan.records import JournalFailed, StepRecord, parse_plan, read_plan
from tests.plan.drawing import NOW, ended, failure, human, plan, ref, step


def raw(*steps):
    return {"goal": "g", "steps": list(steps)}


def raw_step(number=1, **fields):
    return {"step_id": number, "description": "", "tool": "echo", "expected_key": f"k{number}", **fields}


NESTED = reduce(lambda inner, _: [inner], range(5000), [])
REFUSED = {
    "deep nesting": (raw(raw_step(parameters={"extra": NESTED})), "nested more than"),
    "a number without end": (raw(raw_step(parameters={"n": 10**5000})), "more than 4096 bits"),
    "not a number": (raw(raw_step(parameters={"n": float("nan")})), "not finite"),
    "a time that is none": (raw(raw_step()) | {"created_at": "this morning"}, "created_at: must be an ISO 8601"),
}


@pytest.mark.parametrize(("hostile", "reason"), REFUSED.values(), ids=REFUSED)
async def test_a_hostile_plan_is_refused_before_it_runs(runs, recorder, hostile, reason, tmp_path):
    with pytest.raises(PlanInvalid) as caught:
        await runs.create(read_plan(hostile), user="ann")

    assert reason in caught.value.message
    assert len(caught.value.message) < 2000
    assert (recorder.calls, (tmp_path / "runs.sqlite").exists()) == ([], False)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"goal": ', b"\xff\xfe", b"null"])
def test_invalid_json_is_not_a_plan(text):
    with pytest.raises(PlanInvalid):
        parse_plan(text, Limits())


def doubling(number):
    parameters = (
        {"x": ref(f"k{number - 1}", "data"), "y": ref(f"k{number - 1}", "data")} if number else {"x": "x" * 100}
    )
    return step(number, None, parameters=parameters)


async def test_steps_that_double_their_values_are_stopped_at_the_limit(runs):
    state, run = await ended(runs, plan(*[doubling(number) for number in range(40)]))
    (note,) = [record.note for record in run.steps.values() if record.state == "failed"]

    assert state == "failed"
    assert note == "The output of the step cannot be stored: a value in it is larger than 1,000,000 bytes of JSON"
    assert max(len(record.output) for record in run.steps.values()) < 1_000_000


async def test_sql_in_a_label_is_a_label(runs, recorder):
    sql = "'); DROP TABLE plan_run; --"
    first = step(1, parameters={"label": sql}, expected_key=sql)
    state, run = await ended(runs, plan(first).model_copy(update={"goal": sql}), memory={sql + "x": sql})

    assert (state, recorder.calls) == ("completed", [{"label": sql}])
    assert runs.build_memory(run).to_dict()[sql]["data"]["label"] == sql
    assert [line["goal"] for line in await runs.list_runs("ann")] == [sql]


@pytest.mark.parametrize("number", [2**53 - 1, 1 - 2**53])
async def test_the_largest_step_ids_and_the_longest_key_are_accepted(runs, number):
    state, run = await ended(runs, plan(step(number, expected_key="k" * 200)))

    assert (state, list(run.steps)) == ("completed", [number])


async def test_half_a_character_is_preserved_as_far_as_possible(runs, recorder):
    half = "half \ud800"
    recorder.script = {"x": failure(half)}
    goal = plan(step(1, parameters={"label": half}), step(2, parameters={"label": "x"})).model_copy(
        update={"goal": half}
    )
    state, run = await ended(runs, goal)
    _state, waiting = await ended(runs, plan(human(1)))
    await runs.decide(waiting.run_id, "ann", 1, approved=False, note=half)
    rejected = await runs.execute(waiting.run_id)

    assert (state, rejected) == ("failed", "failed")
    assert run.steps[2].note == "half ?"
    assert runs.build_memory(run).to_dict()["k1"]["data"]["label"] == half
    assert sorted(line["goal"] for line in await runs.list_runs("ann")) == ["a goal", "half ?"]


async def test_a_failed_write_fails_its_waiters_and_no_later_ones(runs):
    run_id = await runs.create(plan(step(1)), user="ann")
    bad = StepRecord(2**70, "completed", None, None, 1, NOW)
    async with asyncio.timeout(5):
        with pytest.raises(JournalFailed, match=r"^The progress of a run could not be stored$"):
            await runs.journal.record(run_id, bad, [], None, NOW)
        state = await runs.execute(run_id)

    assert state == "completed"
