"""Processes that execute runs until a test kills them, forked from one that has imported the modules."""

import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from typing import Final

from fingerpost.errors import ToolError
from fingerpost.plan.records import read_plan
from tests.plan.suite.fixtures import INTERRUPTED, USER, Build, CallLog, new_runs, read_runs

READY: Final = "ready"


async def work(say, engine, folder, build, plans):
    journal = engine.open(folder)
    runs = new_runs(journal, folder, build)
    for raw in plans:
        await runs.create(read_plan(raw), user=USER)
    open_runs = [line["run_id"] for line in await runs.list_runs(USER) if line["state"] in ("running", "waiting")]
    if launch := getattr(journal, "launch", None):
        await launch()
    say(READY)

    async def execute(run_id):
        try:
            return await runs.execute(run_id)
        except ToolError as error:
            return error.message

    ends = await asyncio.gather(*[execute(run_id) for run_id in open_runs])
    journal.close()
    say(dict(zip(open_runs, ends, strict=True)))


def tell(says, complains, environment, work, *given):
    os.dup2(os.open(complains, os.O_WRONLY), sys.stderr.fileno())
    os.environ.clear()
    os.environ.update(environment)
    asyncio.run(work(says.send, *given))


# Only a broken engine is ever waited for so long.
PATIENCE_S = 120.0
# From look to look; meanwhile whoever is waited for has the core.
LOOK_S = 0.01

FORKING = multiprocessing.get_context("forkserver")
_IMPORTED = ["__main__", __name__]


def import_before_forking(*modules):
    """Have what the engines under test import late imported once; to be called before the first worker is begun."""
    FORKING.set_forkserver_preload([*_IMPORTED, *modules])


import_before_forking()


class Worker:
    def __init__(self, engine, folder, plans=(), build=Build.FIRST, work=work):
        # Ids are drawn freely.
        environment = {name: value for name, value in os.environ.items() if name != "FINGERPOST_NOW"}
        self._said, says = FORKING.Pipe(duplex=False)
        self._complained = tempfile.NamedTemporaryFile("r")  # noqa: SIM115  (it is closed with the block)
        arguments = (says, self._complained.name, environment, work, engine, folder, build, list(plans))
        self.process = FORKING.Process(target=tell, args=arguments, daemon=True)
        self.process.start()
        says.close()

    def __enter__(self):
        said = self._hear()
        if said != READY:
            self.__exit__()
            raise AssertionError(f"A process that opens the engine breaks: {said}")
        return self

    def __exit__(self, *_):
        self.kill()
        self._said.close()
        self._complained.close()

    def kill(self):
        self.process.kill()
        self.process.join()

    def kill_within(self, seconds):
        self.process.join(seconds)
        if self.has_ended:
            return False
        self.kill()
        return True

    def ends(self):
        said = self._hear()
        if said is None:
            raise AssertionError(f"A process has not carried its runs to an end within {PATIENCE_S:g} s")
        if not isinstance(said, dict):
            raise AssertionError(f"A process that carries runs on breaks: {said}")
        self.process.join(PATIENCE_S)
        return said

    def _hear(self):
        try:
            return self._said.recv() if self._said.poll(PATIENCE_S) else None
        except EOFError:
            self.process.join()
            said = self._complained.read().strip().splitlines()
            return said[-1] if said else f"it ended with {self.process.exitcode}"

    @property
    def has_ended(self):
        return self.process.exitcode is not None


def wait_until(is_so, sentence):
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError(f"Waited {PATIENCE_S:g} s in vain: {sentence}")
        time.sleep(LOOK_S)


def killed_half_way(engine, folder):
    calls = CallLog(folder)
    with Worker(engine, folder, [INTERRUPTED]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 3, "the second step of a chain begins")
        worker.kill()
    (run,) = read_runs(engine, folder)
    return run
