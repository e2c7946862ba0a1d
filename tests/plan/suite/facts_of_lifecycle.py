"""Lifecycle facts: cancelling, timeouts, approvals over a restart, parallel steps."""

import asyncio

from fingerpost.plan.limits import Limits
from fingerpost.plan.records import read_plan
from tests.plan.suite.engine import EngineBroken, expect
from tests.plan.suite.fixtures import (
    LONG_MS,
    USER,
    CallLog,
    adding,
    approval_step,
    new_runs,
    plan_of_steps,
    read_runs,
    with_journal,
    with_runs,
)
from tests.plan.suite.processes import PATIENCE_S, Worker, wait_until

_WIDE = 50


async def _begun(folder, calls):
    def is_so():
        return sum(times for (word, _key), times in CallLog(folder).count().items() if word == "begin") >= calls

    await asyncio.to_thread(wait_until, is_so, f"{calls} steps begin")


async def _ended(runs, run_id):
    await runs.wait(run_id, PATIENCE_S)
    if runs.is_running(run_id):
        raise EngineBroken(f"The run has not ended within {PATIENCE_S:g} s")
    return await runs.get(run_id, USER)


def a_cancelled_run_stops_what_is_under_way(engine, folder):
    chain = plan_of_steps(adding(1, 0), adding(2, LONG_MS, 1), adding(3, 0, 2))

    async def cancel(runs):
        run_id = await runs.create(read_plan(chain), user=USER)
        runs.start(run_id)
        await _begun(folder, 2)
        await runs.cancel(run_id, USER)
        return await _ended(runs, run_id)

    run = with_runs(engine, folder, cancel)
    expect((run.state, sorted(run.steps)) == ("cancelled", [1]), f"It is {run.state}, with steps {sorted(run.steps)}")
    expect(CallLog(folder).count().total() == 3, "After the cancel another step began")


def another_process_may_cancel(engine, folder):
    async def cancel(here):
        elsewhere = engine.open(folder)
        run_id = await here.create(read_plan(plan_of_steps(adding(1, LONG_MS))), user=USER)
        here.start(run_id)
        try:
            await _begun(folder, 1)
            await new_runs(elsewhere, folder).cancel(run_id, USER)
            return await _ended(here, run_id)
        finally:
            await here.stop()
            elsewhere.close()

    run = with_runs(engine, folder, cancel)
    expect(run.state == "cancelled", f"A run that another process cancelled is {run.state}")


def an_attempt_out_of_time_is_recorded_and_the_run_can_be_resumed(engine, folder):
    plan = read_plan(plan_of_steps(adding(1, 100)))

    async def run_out(journal, limits, run_id):
        runs = new_runs(journal, folder, limits=limits)
        run_id = run_id or await runs.create(plan, user=USER)
        state = await runs.execute(run_id)
        return run_id, state, await runs.get(run_id, USER)

    brief = Limits(attempt_s=0.01, attempts=1)
    run_id, first, failed = with_journal(engine, folder, lambda journal: run_out(journal, brief, None))
    _run_id, second, ended = with_journal(engine, folder, lambda journal: run_out(journal, Limits(), run_id))
    note = failed.steps[1].note if 1 in failed.steps else "nothing"
    expect((first, second) == ("failed", "completed"), f"Out of time it is {first}, resumed it is {second}")
    expect(note == "add_up did not answer within 0.01 s", f"The failed step says: {note}")
    kept = {number: step.state for number, step in ended.steps.items()}
    expect(kept == {1: "completed"}, f"In the end the steps are recorded as {kept}")
    expect(CallLog(folder).count()["begin", f"{run_id}:1"] == 2, "The step did not run twice under one key")


def an_approval_outlives_a_restart(engine, folder):
    plan = plan_of_steps(approval_step(1), {**adding(2, 1), "dependencies": [1]})
    with Worker(engine, folder, [plan]) as worker:
        waiting = list(worker.ends().values())
    (run,) = read_runs(engine, folder)
    before = CallLog(folder).count().total()
    with_runs(engine, folder, lambda runs: runs.decide(run.record.run_id, USER, 1, approved=True, note="go"))
    with Worker(engine, folder) as worker:
        ends = list(worker.ends().values())
    (after,) = read_runs(engine, folder)
    expect((waiting, before) == (["waiting"], 0), f"Before the approval: {waiting}, {before} calls")
    expect(ends == ["completed"], f"After the approval: {ends}")
    expect(CallLog(folder).count().total() == 2, "The step behind the approval did not run once")
    expect("step_approved" in [event.kind for event in after.events], "The approval is not among the events")


def a_wide_fan_is_kept_whole(engine, folder):
    wide = [adding(number, 1) for number in range(1, _WIDE + 1)]
    plan = read_plan(plan_of_steps(*wide, adding(_WIDE + 1, 1, *range(1, _WIDE + 1))))

    async def execute_run(runs):
        return await runs.execute(await runs.create(plan, user=USER))

    state = with_runs(engine, folder, execute_run)
    (run,) = read_runs(engine, folder)
    completed = [event.step_id for event in run.events if event.kind == "step_completed"]
    expect(state == "completed", f"The run is {state}")
    expect(len(run.record.steps) == _WIDE + 1, f"{len(run.record.steps)} steps of {_WIDE + 1} are recorded")
    expect(completed[-1:] == [_WIDE + 1], "The step that needs all others did not end last")
    sequence = [event.seq for event in run.events]
    expect(sequence == list(range(1, len(sequence) + 1)), "The events' numbers have gaps, or are out of order")
    expect(run.record.last_seq == len(sequence), f"The last event is said to be {run.record.last_seq}")


def no_branch_waits_for_another(engine, folder):
    branches = plan_of_steps(adding(1, LONG_MS), adding(2, 0), adding(3, 0, 2), adding(4, 0, 3))

    async def race(runs):
        completed, is_enough = [], asyncio.Event()

        def watch(event):
            if event.kind == "step_completed":
                completed.append(event.step_id)
            if len(completed) == 3:
                is_enough.set()

        run_id = await runs.create(read_plan(branches), user=USER)
        with runs.watching(run_id, watch):
            runs.start(run_id)
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await is_enough.wait()
            finally:
                steps = sorted((await runs.get(run_id, USER)).steps)
                await runs.stop()
        return steps

    steps = with_runs(engine, folder, race)
    expect(steps == [2, 3, 4], f"Recorded while the long branch is under way: {steps}")


def a_run_is_carried_on_once_in_one_process_too(engine, folder):
    async def hold():
        one, other = engine.open(folder), engine.open(folder)
        try:
            run_id = await new_runs(one, folder).create(read_plan(plan_of_steps(adding(1, 0))), user=USER)
            async with one.lease(run_id) as first, other.lease(run_id) as second:
                seen = [first, second, await other.is_leased(run_id)]
            async with other.lease(run_id) as third:
                return [*seen, third, await one.is_leased(run_id)]
        finally:
            one.close()
            other.close()

    found = asyncio.run(hold())
    expect(found == [True, False, True, True, True], f"Held by one, by a second, known as held, held anew: {found}")


def nothing_is_held_that_nobody_carries_on(engine, folder):
    async def look(runs):
        run_id = await runs.create(read_plan(plan_of_steps(adding(1, 0))), user=USER)
        unknown = await runs.journal.is_leased("00000000-0000-4000-8000-000000000000")
        new = await runs.journal.is_leased(run_id)
        await runs.execute(run_id)
        return [unknown, new, await runs.journal.is_leased(run_id)]

    found = with_runs(engine, folder, look)
    expect(not any(found), f"Unknown, new, ended: held is {found}")
