"""Processes that recover runs, for tests that kill and stop them."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager

from tests.plan.suite.fixtures import Build, CallLog, read_runs
from tests.plan.suite.processes import Worker
from tests.scale import recovering_worker
from tests.scale.places import SHARED


def working(folder, *plans, build=Build.FIRST):
    return Worker(recovering_worker.RECOVERING, folder, plans, build, recovering_worker.work)


@contextmanager
def working_on(machine, folder, *plans, environ):
    command = [sys.executable, "-m", recovering_worker.__name__, str(folder), json.dumps(plans)]
    with subprocess.Popen(
        [*machine.prefix, *command], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            yield process
        finally:
            process.kill()


def has_ended(folder):
    return lambda: [run.record.state for run in read_runs(SHARED, folder)] == ["completed"]


def begun(folder):
    found: Counter[int] = Counter()
    for (word, key), times in CallLog(folder).count().items():
        if word == "begin":
            found[int(key.rpartition(":")[2])] += times
    return found
