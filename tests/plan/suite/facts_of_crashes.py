"""Crash facts: the process is killed, and this or another build of the program resumes its runs."""

import json
import random
from collections import Counter

from fingerpost.errors import PlanInvalid
from fingerpost.plan.records import PROTOCOL, InitialMemory
from tests.plan.suite.engine import expect
from tests.plan.suite.fixtures import (
    LONG_MS,
    USER,
    Build,
    CallLog,
    adding,
    draw_plan,
    expected_sums,
    found_sums,
    plan_of_steps,
    read_runs,
    with_runs,
)
from tests.plan.suite.processes import Worker, killed_half_way, wait_until

_MAX_LIFE_S = 0.04


def a_recorded_step_never_runs_again(engine, folder, *, seed=0, kills=5):
    """Three random plans, their process killed again and again at random instants.

    After each kill the recorded steps are known. None of them begins once more, and every run ends right.
    Return how many of the processes were still at work when they were killed.
    """
    luck = random.Random(seed)
    plans = [draw_plan(luck) for _ in range(3)]
    calls = CallLog(folder)
    with Worker(engine, folder, plans) as worker:
        hits = int(worker.kill_within(luck.uniform(0.0, _MAX_LIFE_S)))
    for life in range(1, kills + 1):
        before = calls.count()
        done = frozenset[str]().union(*(run.done for run in read_runs(engine, folder)))
        with Worker(engine, folder) as worker:
            if life < kills:
                hits += worker.kill_within(luck.uniform(0.0, _MAX_LIFE_S))
            else:
                worker.ends()
        after = calls.count()
        again = sorted(key for key in done if after["begin", key] != before["begin", key])
        expect(not again, f"Steps that were recorded as completed ran again after kill {life}: {', '.join(again)}")
    found = [(run.record.state, found_sums(run.memory)) for run in read_runs(engine, folder)]
    expect(len(found) == len(plans), f"Of {len(plans)} runs {len(found)} are kept")
    for raw, (state, sums) in zip(plans, found, strict=True):
        expect(state == "completed", f"A run that was carried to its end is {state}")
        expect(sums == expected_sums(raw), f"A run ended with {sums}, and should have ended with {expected_sums(raw)}")
    return hits


def _killed_in_the_third_step(engine, folder):
    calls = CallLog(folder)
    with Worker(engine, folder, [plan_of_steps(adding(1, 1), adding(2, 1, 1), adding(3, LONG_MS, 2))]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 5, "the third step of a chain begins")
        worker.kill()


def a_step_begins_only_when_what_it_needs_is_kept(engine, folder):
    _killed_in_the_third_step(engine, folder)
    (run,) = read_runs(engine, folder)
    kept = sorted(run.record.steps)
    expect(kept == [1, 2], f"Step 3 had begun, so steps 1 and 2 must be recorded; recorded are: {kept}")


def only_the_interrupted_step_runs_again_and_under_the_same_key(engine, folder):
    _killed_in_the_third_step(engine, folder)
    with Worker(engine, folder) as worker:
        worker.ends()
    (run,) = read_runs(engine, folder)
    calls = CallLog(folder)
    keys = [f"{run.record.run_id}:{number}" for number in (1, 2, 3)]
    expected = Counter({(word, key): 1 for key in keys for word in ("begin", "end")})
    expected["begin", keys[2]] = 2
    expect(calls.count() == expected, f"The calls should have been {expected}, and were {calls.count()}")
    expect(run.record.state == "completed", f"The run that was interrupted is {run.record.state} in the end")


def a_run_is_carried_on_by_one_process(engine, folder):
    calls = CallLog(folder)
    with Worker(engine, folder, [plan_of_steps(adding(1, LONG_MS))]) as first:
        wait_until(lambda: bool(calls.count()), "a step begins")
        with Worker(engine, folder) as second:
            wait_until(lambda: second.has_ended or sum(calls.count().values()) > 1, "the second process ends")
            expect(sum(calls.count().values()) == 1, "Two processes carried on one run at the same time")
            (refusal,) = second.ends().values()
        first.kill()
    expect(refusal.endswith("is being executed elsewhere"), f"The second process was told: {refusal}")
    with Worker(engine, folder):
        wait_until(lambda: sum(calls.count().values()) >= 2, "the run of a killed process is taken over")


_AT = "2026-03-10T06:00:00Z"


def a_newer_build_goes_on_where_an_older_one_was_killed(engine, folder):
    before = killed_half_way(engine, folder)
    with Worker(engine, folder, build=Build.NEWER) as worker:
        ends = worker.ends()
    (after,) = read_runs(engine, folder)
    run_id = before.record.run_id
    began = CallLog(folder).builds()
    expected = {f"{run_id}:1": ["first"], f"{run_id}:2": ["first", "newer"], f"{run_id}:3": ["newer"]}
    expect(ends == {run_id: "completed"}, f"The newer build ended with {ends}")
    expect(after.record.steps.get(1) == before.record.steps.get(1), "What the older build had recorded was changed")
    expect(began == expected, f"Steps should have begun as {expected}, and began as {began}")
    sums = {"k1": 1, "k2": LONG_MS + 1, "k3": LONG_MS + 2}
    expect(found_sums(after.memory) == sums, f"The run holds {found_sums(after.memory)}, and should hold {sums}")


_MISSING = "tool 'add_up' is not found in registry; available: none"
_REFUSALS = {
    Build.STRICTER: "step 2: parameters.unit is missing; step 3: parameters.unit is missing",
    Build.WITHOUT: f"step 2: {_MISSING}; step 3: {_MISSING}",
}


def a_build_that_no_longer_fits_refuses_and_spoils_nothing(engine, folder):
    before = killed_half_way(engine, folder)
    for build, problems in _REFUSALS.items():
        with Worker(engine, folder, build=build) as worker:
            (refusal,) = worker.ends().values()
        (between,) = read_runs(engine, folder)
        expected = f"The unfinished steps no longer match the tools: {problems}"
        expect(refusal == expected, f"The {build} build said: {refusal}")
        expect(between.record.steps == before.record.steps, "A build that refused a run has changed it")
    with Worker(engine, folder) as worker:
        (end,) = worker.ends().values()
    expect("stricter" not in str(CallLog(folder).builds()), "A build that refused a run has called its tool")
    expect(end == "completed", f"After the refusals the older build ended with: {end}")


def a_run_of_a_newer_program_is_left_alone(engine, folder):
    plan = {**plan_of_steps(adding(1, 1)), "created_at": _AT, "horizon": "of another shape"}

    async def ask(runs):
        newer = {"user": USER, "initial_memory": InitialMemory(), "at": _AT, "protocol": PROTOCOL + 1}
        run_id = await runs.journal.create(json.dumps(plan), **newer)
        refusals = []
        for asked in (
            runs.get(run_id, USER),
            runs.execute(run_id),
            runs.cancel(run_id, USER),
            runs.decide(run_id, USER, 1, approved=True),
        ):
            try:
                await asked
            except PlanInvalid as error:
                refusals.append(error.message)
        listed = [line.run_id for line in await runs.list_runs(USER)]
        return refusals, listed, len(await runs.journal.list_signals(run_id, 0))

    refusals, listed, signals = with_runs(engine, folder, ask)
    sentence = "The run was started by a newer fingerpost; update fingerpost to read or resume it"
    expect(refusals == [sentence] * 4, f"Asked for a newer program's run, this one said: {refusals}")
    expect((len(listed), signals) == (1, 0), f"The run is listed {len(listed)} times, and was told {signals} things")
    expect(not CallLog(folder).count(), "A newer program's run was carried on")
