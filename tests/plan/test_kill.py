"""The conformance suite of engines, with ``kill -9``: what is recorded never runs again, and every run ends right."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest

from fingerpost.plan.plan_json import plan_of
from tests.house.sources import ROOT
from tests.plan.worker import USER, calls_file, new_runs

IS_SOAK = os.environ.get("FINGERPOST_SOAK") == "1"
KILLS = 200 if IS_SOAK else 20
KILLS_PER_HOUSE = 5
SEED = 20260310


@pytest.fixture(autouse=True)
def _free_clock(monkeypatch):
    """Two processes of one house draw ids of their own."""
    monkeypatch.delenv("FINGERPOST_NOW", raising=False)


def draw_plan(luck):
    """Draw a random plan of steps that add up what some earlier steps have found."""
    steps = []
    for number in range(1, luck.randint(6, 14)):
        before = luck.sample(range(1, number), min(number - 1, luck.randint(0, 3)))
        steps.append(
            {
                "step_id": number,
                "description": f"step {number}",
                "tool": "echo",
                "parameters": {
                    "n": luck.randint(1, 12),
                    "extra": [{"$ref": f"k{each}", "path": "data.sum"} for each in before],
                },
                "expected_key": f"k{number}",
            }
        )
    return {"goal": "add up", "steps": steps}


def expected_sums(raw):
    """Return what each key must hold in the end: the oracle, which runs nothing."""
    sums = {}
    for step in raw["steps"]:
        parts = [sums[each["$ref"]] for each in step["parameters"]["extra"]]
        sums[step["expected_key"]] = step["parameters"]["n"] + sum(parts)
    return sums


def start(folder, plans=()):
    """Start a worker; it says when it begins to carry on."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.plan.worker", str(folder), json.dumps(list(plans))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def recorded(folder):
    """Return the keys of the steps that are recorded as completed at this moment."""
    with sqlite3.connect(folder / "runs.sqlite") as connection:
        rows = connection.execute("SELECT run_id, step_id FROM step WHERE state = 'completed'").fetchall()
    connection.close()
    return {f"{run_id}:{step_id}" for run_id, step_id in rows}


def calls(folder):
    """Return how often each step began and ended."""
    lines = calls_file(folder).read_text().splitlines() if calls_file(folder).exists() else []
    return Counter(tuple(line.split()) for line in lines)


def kill_again_and_again(folder, luck, kills):
    """Start three random plans, kill their process again and again, and let the last one end.

    Return the plans, and after each kill what was recorded and how often each step had begun.
    """
    plans = [draw_plan(luck) for _ in range(3)]
    process, seen = start(folder, plans), []
    for _ in range(kills):
        try:
            process.wait(luck.uniform(0.0, 0.04))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen.append((recorded(folder), calls(folder)))
        process = start(folder)
    process.wait(60)
    process.stdout.close()
    assert process.returncode == 0
    return plans, seen


@pytest.mark.parametrize("house", range(KILLS // KILLS_PER_HOUSE))
def test_a_recorded_step_never_runs_again_however_often_the_process_is_killed(house, tmp_path):
    """After each kill the recorded steps are known; none of them begins once more, and every run ends right."""
    plans, seen = kill_again_and_again(tmp_path, random.Random(SEED + house), KILLS_PER_HOUSE)
    final = calls(tmp_path)

    assert [key for done, before in seen for key in done if final["begin", key] != before["begin", key]] == []
    assert sorted(found_sums(tmp_path), key=str) == sorted(
        (("completed", expected_sums(raw)) for raw in plans), key=str
    )


def found_sums(folder):
    """Return (state, sums by key) of every run in a folder."""

    async def read():
        runs = new_runs(folder)
        found = []
        for line in await runs.list_runs(USER):
            run = await runs.get(line.run_id, USER)
            memory = runs.memory_of(run).keyed()
            found.append((run.state, {key: memory[key]["data"]["sum"] for key in sorted(memory, key=order_of)}))
            assert len(plan_of(run).steps) == len(run.steps)
        runs.journal.close()
        return found

    return asyncio.run(read())


def order_of(key):
    return int(key.removeprefix("k"))


def test_an_interrupted_step_runs_again_under_the_same_key(tmp_path):
    """The tool learns that it is the same call: the key that began twice is one that never ended before the kill."""
    slow = {
        "goal": "wait",
        "steps": [{"step_id": 1, "description": "wait", "tool": "echo", "parameters": {"n": 300}}],
    }
    process = start(tmp_path, [slow])
    while not calls(tmp_path):
        pass
    process.kill()
    process.wait()
    process.stdout.close()
    interrupted = calls(tmp_path)
    second = start(tmp_path)
    second.wait(60)
    second.stdout.close()
    (key,) = {key for _word, key in calls(tmp_path)}

    assert interrupted == Counter({("begin", key): 1})
    assert calls(tmp_path) == Counter({("begin", key): 2, ("end", key): 1})


def test_a_second_process_leaves_a_held_run_alone(tmp_path):
    """While one carries the run on, another that tries is refused, and no call is made twice."""
    slow = {
        "goal": "wait",
        "steps": [{"step_id": 1, "description": "wait", "tool": "echo", "parameters": {"n": 60_000}}],
    }
    first = start(tmp_path, [slow])
    while not calls(tmp_path):
        pass
    command = [sys.executable, "-m", "tests.plan.worker", str(tmp_path)]
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    first.kill()
    first.wait()
    first.stdout.close()

    assert second.returncode == 1
    assert "is being carried on elsewhere" in second.stderr
    assert sum(calls(tmp_path).values()) == 1
