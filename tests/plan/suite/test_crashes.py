"""The process is killed, and this or another build of the program resumes its runs."""

import json
from collections import Counter

import pytest

from fingerpost.errors import PlanInvalid
from fingerpost.plan.records import PROTOCOL, InitialMemory, WrittenPlan
from tests.plan.suite.fixtures import LONG_MS, USER, Build, CallLog, adding, found_sums, plan_of_steps, read_runs
from tests.plan.suite.processes import Worker, killed_half_way, wait_until

AT = "2026-03-10T06:00:00Z"


def test_only_the_interrupted_step_runs_again_and_under_the_same_key(engine, tmp_path):
    calls = CallLog(tmp_path)
    with Worker(engine, tmp_path, [plan_of_steps(adding(1, 1), adding(2, 1, 1), adding(3, LONG_MS, 2))]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 5, "the third step of a chain begins")
        worker.kill()
    (killed,) = read_runs(engine, tmp_path)
    with Worker(engine, tmp_path) as worker:
        worker.ends()
    (ended,) = read_runs(engine, tmp_path)
    keys = [f"{ended.record.run_id}:{number}" for number in (1, 2, 3)]

    assert sorted(killed.record.steps) == [1, 2], "a step begins only when what it needs is kept"
    assert calls.count() == Counter([*((word, key) for key in keys for word in ("begin", "end")), ("begin", keys[2])])
    assert ended.record.state == "completed"


def test_a_run_is_carried_on_by_one_process(engine, tmp_path):
    calls = CallLog(tmp_path)
    with Worker(engine, tmp_path, [plan_of_steps(adding(1, LONG_MS))]) as first:
        wait_until(lambda: bool(calls.count()), "a step begins")
        with Worker(engine, tmp_path) as second:
            wait_until(lambda: second.has_ended or sum(calls.count().values()) > 1, "the second process ends")
            count = sum(calls.count().values())
            (refusal,) = second.ends().values()
        first.kill()
    with Worker(engine, tmp_path):
        wait_until(lambda: sum(calls.count().values()) >= 2, "the run of a killed process is taken over")

    assert (count, refusal.endswith("is being executed elsewhere")) == (1, True)


def test_a_newer_build_goes_on_where_an_older_one_was_killed(engine, tmp_path):
    before = killed_half_way(engine, tmp_path)
    with Worker(engine, tmp_path, build=Build.NEWER) as worker:
        ends = worker.ends()
    (after,) = read_runs(engine, tmp_path)
    run_id = before.record.run_id

    assert ends == {run_id: "completed"}
    assert after.record.steps[1] == before.record.steps[1]
    assert CallLog(tmp_path).builds() == {
        f"{run_id}:1": ["first"], f"{run_id}:2": ["first", "newer"], f"{run_id}:3": ["newer"],
    }  # fmt: skip
    assert found_sums(after.memory) == {"k1": 1, "k2": LONG_MS + 1, "k3": LONG_MS + 2}


MISSING = "tool 'add_up' is not found in registry; available: none"


def test_a_build_that_no_longer_fits_refuses_and_spoils_nothing(engine, tmp_path):
    before = killed_half_way(engine, tmp_path)
    refusals = []
    for build in (Build.STRICTER, Build.WITHOUT):
        with Worker(engine, tmp_path, build=build) as worker:
            refusals += worker.ends().values()
        (between,) = read_runs(engine, tmp_path)
        assert between.record.steps == before.record.steps
    with Worker(engine, tmp_path) as worker:
        (end,) = worker.ends().values()

    assert refusals == [
        f"The unfinished steps no longer match the tools: {problems}"
        for problems in (
            "step 2: parameters.unit is missing; step 3: parameters.unit is missing",
            f"step 2: {MISSING}; step 3: {MISSING}",
        )
    ]
    assert ("stricter" in str(CallLog(tmp_path).builds()), end) == (False, "completed")


async def test_a_run_of_a_newer_program_is_left_alone(runs, tmp_path):
    plan = {**plan_of_steps(adding(1, 1)), "created_at": AT, "horizon": "of another shape"}
    newer = {"user": USER, "initial_memory": InitialMemory(), "at": AT, "protocol": PROTOCOL + 1}
    run_id = await runs.journal.create(WrittenPlan(json.dumps(plan), '"a goal"', 1), **newer)
    for asked in (
        runs.get(run_id, USER),
        runs.execute(run_id),
        runs.cancel(run_id, USER),
        runs.decide(run_id, USER, 1, approved=True),
    ):
        with pytest.raises(PlanInvalid) as refused:
            await asked
        assert refused.value.message == (
            "The run was started by a newer fingerpost; update fingerpost to read or resume it"
        )

    assert [line["run_id"] for line in await runs.list_runs(USER)] == [run_id]
    assert await runs.journal.list_signals(run_id, 0) == []
    assert not CallLog(tmp_path).count()
