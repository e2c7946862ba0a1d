"""A command that is killed, or whose disk fails, at any of its system calls leaves the old or the new state."""

import json
import os
import subprocess
import sys

import pytest

from tests.faults.crash_points import COMMANDS

pytestmark = pytest.mark.slow

# Commands that write with SQLite.
SQL = {"add streets", "add a server", "save", "delete", "load", "sync", "run", "resume", "approve", "cancel"}
EVERY = 1 if os.environ.get("FINGERPOST_SOAK") else 5


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_a_system_call_leaves_the_old_or_the_new_state(name, tmp_path):
    environ = {**os.environ, "FINGERPOST_NOW": "2026-03-10T07:00:00+00:00", "FINGERPOST_DEMO": "off", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.crash_points", name, str(tmp_path), str(EVERY)],
        capture_output=True, text=True, env=environ, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    assert (found["violations"], found["tried"] > 0, found["points"].get("statement", 0) > 0) == ([], True, name in SQL)
