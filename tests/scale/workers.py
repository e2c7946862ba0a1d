"""Processes that recover runs, for tests that kill and stop them."""

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager

from tests.plan.suite.fixtures import Build, CallLog, read_runs
from tests.plan.suite.processes import FORKING, PATIENCE_S
from tests.scale import recovering_worker
from tests.scale.places import SHARED


@contextmanager
def working(folder, *plans, build=Build.FIRST):
    said, says = FORKING.Pipe(duplex=False)
    arguments = (says, dict(os.environ), folder, build, plans)
    process = FORKING.Process(target=recovering_worker.tell, args=arguments, daemon=True)
    process.start()
    says.close()
    with said:
        try:
            assert said.poll(PATIENCE_S)
            assert said.recv() == "ready"
            yield process
        finally:
            process.kill()
            process.join()


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
