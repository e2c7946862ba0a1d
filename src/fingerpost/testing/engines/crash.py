"""Crash facts: the engine's process is killed."""

import random
from collections import Counter
from pathlib import Path

from fingerpost.testing.engines.engine import Engine, expect
from fingerpost.testing.engines.fixtures import (
    LONG_MS,
    CallLog,
    adding,
    draw_plan,
    expected_sums,
    found_sums,
    plan_of_steps,
)
from fingerpost.testing.engines.process import Worker, wait_until
from fingerpost.testing.engines.reader import read_runs

_LONGEST_LIFE_S = 0.04


def a_recorded_step_never_runs_again(engine: Engine, folder: Path, *, seed: int = 0, kills: int = 5) -> int:
    """Three random plans, their process killed again and again at random instants.

    After each kill the recorded steps are known. None of them begins once more, and every run ends right.
    Return how many of the processes were still at work when they were killed.
    """
    luck = random.Random(seed)
    plans = [draw_plan(luck) for _ in range(3)]
    calls = CallLog(folder)
    with Worker(engine, folder, plans) as worker:
        hits = int(worker.kill_within(luck.uniform(0.0, _LONGEST_LIFE_S)))
    for life in range(1, kills + 1):
        before = calls.count()
        done = frozenset[str]().union(*(run.done for run in read_runs(engine, folder)))
        with Worker(engine, folder) as worker:
            if life < kills:
                hits += worker.kill_within(luck.uniform(0.0, _LONGEST_LIFE_S))
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


def a_step_begins_only_when_what_it_needs_is_kept(engine: Engine, folder: Path) -> None:
    """Killed in the instant in which the third step of a chain has begun, the first two are recorded for good."""
    chain = plan_of_steps(adding(1, 1), adding(2, 1, 1), adding(3, LONG_MS, 2))
    calls = CallLog(folder)
    with Worker(engine, folder, [chain]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 5, "the third step of a chain begins")
        worker.kill()
    (run,) = read_runs(engine, folder)
    kept = sorted(run.record.steps)
    expect(kept == [1, 2], f"Step 3 had begun, so steps 1 and 2 must be recorded; recorded are: {kept}")


def only_the_interrupted_step_runs_again_and_under_the_same_key(engine: Engine, folder: Path) -> None:
    """Killed in the third step of a chain: the first two are not called again; the third is, as the same call."""
    calls = CallLog(folder)
    with Worker(engine, folder, [plan_of_steps(adding(1, 1), adding(2, 1, 1), adding(3, LONG_MS, 2))]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 5, "the third step of a chain begins")
        worker.kill()
    with Worker(engine, folder) as worker:
        worker.ends()
    (run,) = read_runs(engine, folder)
    keys = [f"{run.record.run_id}:{number}" for number in (1, 2, 3)]
    expected = Counter({(word, key): 1 for key in keys for word in ("begin", "end")})
    expected["begin", keys[2]] = 2
    expect(calls.count() == expected, f"The calls should have been {expected}, and were {calls.count()}")
    expect(run.record.state == "completed", f"The run that was interrupted is {run.record.state} in the end")


def a_run_is_carried_on_by_one_process(engine: Engine, folder: Path) -> None:
    """While one process holds a run another is refused; the moment it is killed the other may go on."""
    calls = CallLog(folder)
    with Worker(engine, folder, [plan_of_steps(adding(1, LONG_MS))]) as first:
        wait_until(lambda: bool(calls.count()), "a step begins")
        with Worker(engine, folder) as second:
            wait_until(lambda: second.has_ended or sum(calls.count().values()) > 1, "the second process ends")
            expect(sum(calls.count().values()) == 1, "Two processes carried on one run at the same time")
            (refusal,) = second.ends().values()
        first.kill()
    expect(refusal.endswith("is being carried on elsewhere"), f"The second process was told: {refusal}")
    with Worker(engine, folder):
        wait_until(lambda: sum(calls.count().values()) >= 2, "the run of a killed process is taken over")
