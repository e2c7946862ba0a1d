"""A process that starts plans and recovers the runs of dead processes until it is told to stop."""

import asyncio
import signal
from contextlib import aclosing

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.records import read_plan
from tests.plan.suite.engine import Engine
from tests.plan.suite.fixtures import USER, new_runs
from tests.plan.suite.processes import READY
from tests.scale.places import open_database

DEAD_AFTER_S = 0.5
RECOVERING = Engine(name="dbos", opens="tests.scale.recovering_worker:open_journal")


def open_journal(folder):
    return DbosJournal(open_database(folder), dead_after_s=DEAD_AFTER_S)


async def work(say, engine, folder, build, plans):
    journal = engine.open(folder)
    runs = new_runs(journal, folder, build)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with aclosing(runs), journal.recovering():
        await journal.launch()
        for raw in plans:
            runs.start(await runs.create(read_plan(raw), user=USER))
        say(READY)
        await ended.wait()
