"""``kill -9`` at many random instants: recorded steps never run again, and every run ends correctly."""

import os
import random
import sys

import pytest

from tests.plan.engines import ENGINES
from tests.plan.suite.fixtures import CallLog, adding, found_sums, plan_of_steps, read_runs
from tests.plan.suite.processes import Worker

pytestmark = pytest.mark.usefixtures("free_clock")
IS_SOAK = os.environ.get("FINGERPOST_SOAK") == "1"
KILLS = 500 if IS_SOAK else 20
KILLS_PER_BATCH = 5
MAX_LIFE_S = 0.04
SEED = 20260310
# A process needs seconds before it can be killed at work: of these only the soak has all kills.
SLOW = ("dbos",)


def draw_plan(luck):
    steps = []
    for number in range(1, luck.randint(6, 14)):
        before = luck.sample(range(1, number), min(number - 1, luck.randint(0, 3)))
        steps.append(adding(number, luck.randint(1, 12), *before))
    return plan_of_steps(*steps)


def expected_sums(raw):
    sums = {}
    for step in raw["steps"]:
        parts = [sums[each["$ref"]] for each in step["parameters"]["extra"]]
        sums[step["expected_key"]] = step["parameters"]["n"] + sum(parts)
    return sums


@pytest.mark.parametrize(
    ("engine", "batch"),
    [
        pytest.param(engine, batch, id=f"{engine.name}-{batch}")
        for engine in ENGINES
        for batch in range(KILLS // KILLS_PER_BATCH if IS_SOAK or engine.name not in SLOW else 1)
    ],
)
def test_a_recorded_step_never_runs_again_however_often_the_process_is_killed(engine, batch, tmp_path):
    """Three random plans: after each kill the recorded steps are known, and none of them begins once more."""
    luck = random.Random(SEED + batch)
    plans = [draw_plan(luck) for _ in range(3)]
    calls = CallLog(tmp_path)
    with Worker(engine, tmp_path, plans) as worker:
        hits = int(worker.kill_within(luck.uniform(0.0, MAX_LIFE_S)))
    for life in range(1, KILLS_PER_BATCH + 1):
        before = calls.count()
        done = frozenset().union(*(run.done for run in read_runs(engine, tmp_path)))
        with Worker(engine, tmp_path) as worker:
            if life < KILLS_PER_BATCH:
                hits += worker.kill_within(luck.uniform(0.0, MAX_LIFE_S))
            else:
                worker.ends()
        after = calls.count()
        assert [key for key in done if after["begin", key] != before["begin", key]] == []
    found = [(run.record.state, found_sums(run.memory)) for run in read_runs(engine, tmp_path)]
    sys.stdout.write(f"{hits} of {KILLS_PER_BATCH} processes were at work when they were killed\n")

    assert found == [("completed", expected_sums(plan)) for plan in plans]
    assert hits > 0
