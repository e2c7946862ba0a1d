"""Processes that beat, for tests that kill and stop them."""

import json
import subprocess
import sys
from contextlib import contextmanager

from fingerpost.testing.engines.fixtures import Build, CallLog
from fingerpost.testing.engines.reader import read_runs
from tests.scale.test_two_copies import SHARED


@contextmanager
def working(engine, folder, *plans, build=Build.FIRST, prefix=(), environ=None):
    """Run a worker, on another machine where ``prefix`` leads there, and leave nothing of it."""
    command = [
        *prefix,
        sys.executable,
        "-m",
        "tests.scale.beating_worker",
        engine,
        str(folder),
        build,
        json.dumps(plans),
    ]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            yield process
        finally:
            process.kill()


def has_ended(folder):
    """Return a function that says whether the only run of a place is completed."""
    return lambda: [run.record.state for run in read_runs(SHARED, folder)] == ["completed"]


def begun(folder):
    """Return by step how often its tool was called."""
    count = CallLog(folder).count()
    return {int(key.rpartition(":")[2]): count[word, key] for word, key in count if word == "begin"}
