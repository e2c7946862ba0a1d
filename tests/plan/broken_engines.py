"""Engines that each break one guarantee, so that the suite can be tested."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

from fingerpost.plan.engines.embedded import EmbeddedJournal


class LosesTheLast(EmbeddedJournal):
    """Acknowledges a record at once, but stores it only with the next one."""

    _held_back = None

    def record(self, *what):
        held_back, self._held_back = self._held_back, what
        return asyncio.sleep(0) if held_back is None else super().record(*held_back)


class RunsAgain(EmbeddedJournal):
    """Hides the first recorded step from the process that executes a run, but not from readers."""

    _is_holding = False

    @asynccontextmanager
    async def lease(self, run_id):
        async with super().lease(run_id) as is_ours:
            self._is_holding = is_ours
            yield is_ours
            self._is_holding = False

    async def find(self, run_id):
        run = await super().find(run_id)
        if run is None or not self._is_holding:
            return run
        return replace(run, steps={number: run.steps[number] for number in sorted(run.steps)[1:]})


class HoldsForAll(EmbeddedJournal):
    """Leases a run to every process."""

    @asynccontextmanager
    async def lease(self, run_id):
        async with super().lease(run_id):
            yield True


class KeepsItsHolds(EmbeddedJournal):
    """Leases a run with a file that remains after its process is killed."""

    def __init__(self, folder):
        super().__init__(folder)
        self._folder = folder

    @asynccontextmanager
    async def lease(self, run_id):
        mark = self._folder / f"{run_id}.held"
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            yield False
            return
        try:
            yield True
        finally:
            mark.unlink()


class DeafToOthers(EmbeddedJournal):
    """Reads only the signals that the same journal object stored."""

    def __init__(self, folder):
        super().__init__(folder)
        self._said = set()

    async def signal(self, run_id, verb, step_id, value):
        await super().signal(run_id, verb, step_id, value)
        self._said.add((run_id, verb, step_id))

    async def list_signals(self, run_id, after):
        heard = await super().list_signals(run_id, after)
        return [each for each in heard if (run_id, each.verb, each.step_id) in self._said]


class KeepsHalf(EmbeddedJournal):
    """Stores steps without their events."""

    def record(self, run_id, step, events, state, at):
        return super().record(run_id, step, [], state, at)


class RewritesHistory(EmbeddedJournal):
    """Changes a step whenever it is read."""

    async def find(self, run_id):
        run = await super().find(run_id)
        return run and replace(
            run, steps={number: step._replace(attempts=step.attempts + 1) for number, step in run.steps.items()}
        )


class TakesAnyProtocol(EmbeddedJournal):
    """Stores every run with protocol 1."""

    async def create(self, *given, **named):
        return await super().create(*given, **named | {"protocol": 1})


class NeverForgets(EmbeddedJournal):
    """Never deletes old runs."""

    async def delete_ended_before(self, at):
        return []
