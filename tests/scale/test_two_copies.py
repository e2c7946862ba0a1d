"""Two installations, each with its own home folder, share a database: data stored by one is visible to the other."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta

import pytest

from fingerpost import clock
from fingerpost.store.limits import Limits, Pace
from tests.apps.processes import DEADLINE_S
from tests.scale.places import url_of

HOUR_MS = 3_600_000
CLI = [sys.executable, "-c", "from fingerpost.apps.cli import main; main()"]


@pytest.fixture
def copies(new_database, tmp_path):
    address = url_of(new_database())

    def invoke(copy: str, *arguments: str) -> Mapping[str, object]:
        home = {"FINGERPOST_HOME": str(tmp_path / copy), "FINGERPOST_DATABASE_URL": address}
        done = subprocess.run(
            [*CLI, *arguments], env=os.environ | home, capture_output=True, text=True, check=False, timeout=DEADLINE_S
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else {"said": done.stdout}

    return invoke


def test_a_variable_and_a_run_of_one_copy_are_the_others_too(copies, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "goal": "wait for a person, then say so",
                "steps": [
                    {"step_id": 1, "description": "May we?", "agent": "human", "expected_key": "may"},
                    {"step_id": 2, "description": "Say so", "parameters": {"said": {"$ref": "may", "path": "data"}}},
                ],
            }
        )
    )
    copies("one", "vars", "set", "home", "60.17,24.94")
    begun = copies("one", "run", str(plan), "--json")
    kept = copies("other", "vars", "list")
    ended = copies("other", "runs", "approve", begun["run_id"], "1", "--json")
    listed = copies("one", "runs", "list", "--json")

    assert "home" in kept["said"]
    assert (begun["state"], ended["state"], [run["state"] for run in listed["results"]]) == (
        "waiting",
        "completed",
        ["completed"],
    )
    assert sorted(path.name for path in (tmp_path / "other").iterdir() if path.suffix == ".sqlite") == []


@pytest.mark.parametrize("wrong_by", [timedelta(hours=-3), timedelta(hours=3)], ids=["behind", "ahead"])
def test_a_machine_with_a_wrong_clock_respects_the_shared_rate(database, wrong_by):
    limits, hourly = Limits(database), Pace(name="sec", per_second=1 / 3600, burst=2)
    paused = Pace(name="tfl", per_second=8)
    now_ms = clock.read_system_ms()
    wrong_ms = now_ms + int(wrong_by / timedelta(milliseconds=1))
    waits_ms = [limits.take(hourly, at) for at in (now_ms, wrong_ms, wrong_ms, now_ms)]
    limits.pause(paused, 600_000, wrong_ms)
    pause_ms = limits.take(paused, wrong_ms)

    assert waits_ms[:2] == [0, 0]
    assert all(HOUR_MS - 60_000 < wait_ms <= HOUR_MS for wait_ms in waits_ms[2:])
    assert abs(pause_ms - 600_000) < 60_000
