"""A process that beats, carries on new plans, and takes over the runs of silent ones until it is told to end.

``python -m tests.scale.beating_worker ENGINE FOLDER PLANS`` keeps and begins plans, and says "ready".
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.engines.heartbeat import Heartbeat
from fingerpost.plan.engines.postgres import PostgresJournal
from fingerpost.plan.plan_json import read_plan
from fingerpost.plan.takeover import Takeover
from fingerpost.testing.engines.fixtures import USER, Build, new_runs
from fingerpost.testing.engines.process import wait_until
from tests.scale.places import open_database

BEAT_S = 0.1
DEAD_AFTER_S = 2.0


class NeverRecords(DbosJournal):
    """DBOS keeps what a step came to, and no record of it ever arrives."""

    def record(self, run_id, step, events, state, at):
        if step is None:
            return super().record(run_id, step, events, state, at)
        return asyncio.get_running_loop().create_future()


JOURNALS = {"postgres": PostgresJournal, "dbos": DbosJournal, "never-records": NeverRecords}


def open_beating(engine, folder):
    """Return a journal that beats fast."""
    database = open_database(folder)
    heartbeat = Heartbeat(database, dead_after_s=DEAD_AFTER_S)
    return JOURNALS[engine](database, heartbeat)


async def work(say, engine, folder, build, plans):
    """Beat, and carry runs on, until SIGTERM."""
    journal = open_beating(engine, folder)
    runs = new_runs(journal, folder, build)
    takeover = asyncio.create_task(Takeover(runs, journal.heartbeat, beat_s=BEAT_S).work())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, takeover.cancel)
    await asyncio.to_thread(wait_until, lambda: journal.heartbeat.worker is not None, "the first beat")
    for raw in plans:
        runs.begin(await runs.create(read_plan(raw), user=USER))
    say("ready")
    await asyncio.wait([takeover])
    journal.close()


def tell(says, environment, *given):
    """Work in a process that was forked, in an environment."""
    os.environ.clear()
    os.environ.update(environment)
    asyncio.run(work(says.send, *given))


def print_at_once(word):
    print(word, flush=True)


if __name__ == "__main__":
    asyncio.run(work(print_at_once, sys.argv[1], Path(sys.argv[2]), Build.FIRST, json.loads(sys.argv[3])))
