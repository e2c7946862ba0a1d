"""Processes that recover runs, for tests that kill and stop them."""

from collections import Counter

from tests.plan.suite.fixtures import Build, CallLog, read_runs
from tests.plan.suite.processes import Worker
from tests.scale import recovering_worker
from tests.scale.places import SHARED


def working(folder, *plans, build=Build.FIRST):
    return Worker(recovering_worker.RECOVERING, folder, plans, build, recovering_worker.work)


def has_ended(folder):
    return lambda: [run.record.state for run in read_runs(SHARED, folder)] == ["completed"]


def begun(folder):
    found: Counter[int] = Counter()
    for (word, key), times in CallLog(folder).count().items():
        if word == "begin":
            found[int(key.rpartition(":")[2])] += times
    return found
