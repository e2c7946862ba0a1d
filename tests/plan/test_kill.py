"""``kill -9`` at many random instants: recorded steps never run again, and every run ends correctly."""

import os
import sys

import pytest

from tests.plan.engines import ENGINES
from tests.plan.suite.facts_of_crashes import a_recorded_step_never_runs_again

pytestmark = pytest.mark.usefixtures("free_clock")
IS_SOAK = os.environ.get("FINGERPOST_SOAK") == "1"
KILLS = 500 if IS_SOAK else 20
KILLS_PER_BATCH = 5
SEED = 20260310
# A process needs seconds before it can be killed at work: of these only the soak has all kills.
SLOW = ("dbos",)


@pytest.mark.parametrize(
    ("engine", "batch"),
    [
        pytest.param(engine, batch, id=f"{engine.name}-{batch}")
        for engine in ENGINES
        for batch in range(KILLS // KILLS_PER_BATCH if IS_SOAK or engine.name not in SLOW else 1)
    ],
)
def test_a_recorded_step_never_runs_again_however_often_the_process_is_killed(engine, batch, tmp_path):
    hits = a_recorded_step_never_runs_again(engine, tmp_path, seed=SEED + batch, kills=KILLS_PER_BATCH)
    sys.stdout.write(f"{hits} of {KILLS_PER_BATCH} processes were at work when they were killed\n")

    assert hits > 0
