"""Runs are cancelled, out of time, approved after a restart, and carried on once, step beside step."""

import asyncio
from contextlib import closing

from fingerpost.plan.limits import Limits
from tests.plan.suite.fixtures import (
    LONG_MS,
    USER,
    CallLog,
    adding,
    approval_step,
    create,
    new_runs,
    plan_of_steps,
    read_runs,
    with_runs,
)
from tests.plan.suite.processes import PATIENCE_S, Worker, wait_until

WIDE = 50


async def wait_for_calls(folder, count):
    def is_so():
        return sum(times for (word, _key), times in CallLog(folder).count().items() if word == "begin") >= count

    await asyncio.to_thread(wait_until, is_so, f"{count} steps begin")


async def wait_for_end(runs, run_id):
    await runs.wait(run_id, PATIENCE_S)
    assert not runs.is_running(run_id)
    return await runs.get(run_id, USER)


async def test_a_cancelled_run_stops_what_is_under_way(runs, tmp_path):
    run_id = await create(runs, adding(1, 0), adding(2, LONG_MS, 1), adding(3, 0, 2))
    runs.start(run_id)
    await wait_for_calls(tmp_path, 2)
    await runs.cancel(run_id, USER)
    run = await wait_for_end(runs, run_id)

    assert (run.state, list(run.steps)) == ("cancelled", [1])
    assert CallLog(tmp_path).count().total() == 3


async def test_another_process_may_cancel(engine, runs, tmp_path):
    run_id = await create(runs, adding(1, LONG_MS))
    runs.start(run_id)
    await wait_for_calls(tmp_path, 1)
    with closing(engine.open(tmp_path)) as elsewhere:
        await new_runs(elsewhere, tmp_path).cancel(run_id, USER)
        run = await wait_for_end(runs, run_id)

    assert run.state == "cancelled"


async def test_an_attempt_out_of_time_is_recorded_and_the_run_can_be_resumed(journal, reopen, tmp_path):
    brief = new_runs(journal, tmp_path, limits=Limits(attempt_s=0.01, attempts=1))
    run_id = await create(brief, adding(1, 100))
    first, failed = await brief.execute(run_id), await brief.get(run_id, USER)
    again = new_runs(reopen(), tmp_path)
    second, ended = await again.execute(run_id), await again.get(run_id, USER)

    assert (first, failed.steps[1].note) == ("failed", "add_up did not answer within 0.01 s")
    assert (second, {number: step.state for number, step in ended.steps.items()}) == ("completed", {1: "completed"})
    assert CallLog(tmp_path).count()["begin", f"{run_id}:1"] == 2


def test_an_approval_outlives_a_restart(engine, tmp_path):
    plan = plan_of_steps(approval_step(1), {**adding(2, 1), "dependencies": [1]})
    with Worker(engine, tmp_path, [plan]) as worker:
        waiting = list(worker.ends().values())
    (run,) = read_runs(engine, tmp_path)
    before = CallLog(tmp_path).count().total()
    with_runs(engine, tmp_path, lambda runs: runs.decide(run.record.run_id, USER, 1, approved=True, note="go"))
    with Worker(engine, tmp_path) as worker:
        ends = list(worker.ends().values())
    (after,) = read_runs(engine, tmp_path)

    assert (waiting, before) == (["waiting"], 0)
    assert (ends, CallLog(tmp_path).count().total()) == (["completed"], 2)
    assert "step_approved" in [event.kind for event in after.events]


async def test_a_wide_fan_is_kept_whole(runs):
    wide = [adding(number, 1) for number in range(1, WIDE + 1)]
    run_id = await create(runs, *wide, adding(WIDE + 1, 1, *range(1, WIDE + 1)))
    state = await runs.execute(run_id)
    run, events = await runs.get(run_id, USER), await runs.journal.list_events(run_id)

    assert (state, len(run.steps)) == ("completed", WIDE + 1)
    assert [event.step_id for event in events if event.kind == "step_completed"][-1] == WIDE + 1
    assert [event.seq for event in events] == list(range(1, run.last_seq + 1))


async def test_no_branch_waits_for_another(runs, monkeypatch):
    completed, is_enough = [], asyncio.Event()
    record = runs.journal.record

    def record_and_count(run_id, step, *more):
        completed.append(step)
        recorded = record(run_id, step, *more)
        if len(completed) == 3:
            recorded.add_done_callback(lambda _recorded: is_enough.set())
        return recorded

    monkeypatch.setattr(runs.journal, "record", record_and_count)
    run_id = await create(runs, adding(1, LONG_MS), adding(2, 0), adding(3, 0, 2), adding(4, 0, 3))
    runs.start(run_id)
    await asyncio.wait_for(is_enough.wait(), PATIENCE_S)
    steps = sorted((await runs.get(run_id, USER)).steps)
    await runs.stop()

    assert steps == [2, 3, 4]


async def test_a_run_is_carried_on_once_in_one_process_too(engine, runs, tmp_path):
    run_id, one = await create(runs, adding(1, 0)), runs.journal
    with closing(engine.open(tmp_path)) as other:
        async with one.lease(run_id) as first, other.lease(run_id) as second:
            is_known = await other.is_leased(run_id)
        async with other.lease(run_id) as third:
            is_known_anew = await one.is_leased(run_id)

    assert (first, second, is_known, third, is_known_anew) == (True, False, True, True, True)


async def test_nothing_is_held_that_nobody_carries_on(runs):
    run_id, journal = await create(runs, adding(1, 0)), runs.journal
    held = [await journal.is_leased("00000000-0000-4000-8000-000000000000"), await journal.is_leased(run_id)]
    await runs.execute(run_id)

    assert [*held, await journal.is_leased(run_id)] == [False, False, False]
