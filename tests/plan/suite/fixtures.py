"""Plans, a tool that logs every call, and the records of a journal.

The tool comes in builds: what an upgrade of the program may have changed about it.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from fingerpost.contract.plan import find_idempotency_key
from fingerpost.contract.tool import ToolSpec, success_response
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.limits import Limits
from fingerpost.plan.records import Event, RunRecord, read_plan
from fingerpost.plan.runs import PlanRuns

USER = "suite"
LONG_MS = 60_000
"""Longer than any test waits: a call that takes so long is interrupted."""


class Build(StrEnum):
    """Versions of the program that the suite upgrades between."""

    FIRST = "first"
    NEWER = "newer"
    """The tool takes one more optional parameter, and says its version in what it answers."""
    STRICTER = "stricter"
    """The tool asks for a parameter that it did not ask for before."""
    WITHOUT = "without"
    """The tool is gone."""


class AddUp(BaseModel):
    """The tool's parameters: the duration of its first call in ms, which is added to the sums of other steps."""

    model_config = ConfigDict(extra="forbid")

    n: int = Field(ge=0)
    extra: list[int] = []


class AddUpNewer(AddUp):
    offset: int = 0


class AddUpStricter(AddUp):
    unit: str


_MODELS: Mapping[Build, type[AddUp]] = {Build.FIRST: AddUp, Build.NEWER: AddUpNewer, Build.STRICTER: AddUpStricter}


class CallLog:
    def __init__(self, folder):
        self._path = folder / "calls.txt"

    def writer(self):
        self._path.parent.mkdir(parents=True, exist_ok=True)

        def write(line):
            # Each line with a descriptor of its own, because thousands of histories run in one process.
            with self._path.open("ab", buffering=0) as file:
                file.write(f"{line}\n".encode())

        return write

    def _read(self):
        return map(str.split, self._path.read_text().splitlines() if self._path.exists() else [])

    def count(self):
        return Counter((word, key) for word, key, _build in self._read())

    def builds(self):
        found = {}
        for word, key, build in self._read():
            if word == "begin":
                found.setdefault(key, []).append(build)
        return found


def new_runs(journal, folder, build=Build.FIRST, limits=None):
    log = CallLog(folder)
    write = log.writer()

    async def execute(query_type, parameters, _user):
        key = find_idempotency_key()
        assert key is not None
        write(f"begin {key} {build}")
        # Called again after an interruption it has no time to lose.
        is_first = log.count()["begin", key] == 1
        await asyncio.sleep(parameters["n"] / 1000 if is_first else 0)
        data = {"sum": parameters["n"] + sum(parameters.get("extra") or []), "build": build.value}
        write(f"end {key} {build}")
        return success_response("add_up", query_type, parameters, [data], {"data": data})

    tools = []
    if build is not Build.WITHOUT:
        spec = ToolSpec(name="add_up", input_schema={"add_up": _MODELS[build]}, output_key="add_up")
        tools.append(PlanTool(spec=spec, execute=execute))
    return PlanRuns(Catalogue.of(tools), journal, limits or Limits(), poll_s=0.01)


def adding(number, milliseconds, *before):
    return {
        "step_id": number,
        "description": f"step {number}",
        "tool": "add_up",
        "parameters": {"n": milliseconds, "extra": [{"$ref": f"k{each}", "path": "data.sum"} for each in before]},
        "expected_key": f"k{number}",
    }


def approval_step(number):
    return {"step_id": number, "description": "May we?", "agent": "human"}


def plan_of_steps(*steps):
    return {"goal": "add up", "steps": [dict(step) for step in steps]}


async def create(runs, *steps):
    return await runs.create(read_plan(plan_of_steps(*steps)), user=USER)


INTERRUPTED = plan_of_steps(adding(1, 1), adding(2, LONG_MS, 1), adding(3, 1, 2))
"""Three steps in a row, of which the second takes longer than any test waits."""


def found_sums(memory):
    return {key: response["data"]["sum"] for key, response in memory.items()}


@dataclass(frozen=True, slots=True)
class RecordedRun:
    record: RunRecord
    memory: Mapping[str, object]
    events: list[Event]

    @property
    def done(self):
        return frozenset(
            f"{self.record.run_id}:{number}" for number, step in self.record.steps.items() if step.state == "completed"
        )


def with_runs(engine, folder, act):
    async def once():
        with closing(engine.open(folder)) as journal:
            return await act(new_runs(journal, folder))

    return asyncio.run(once())


def read_runs(engine, folder):
    async def read(runs):
        found = []
        for line in reversed(await runs.list_runs(USER)):
            record = await runs.get(line["run_id"], USER)
            events = await runs.journal.list_events(line["run_id"])
            found.append(RecordedRun(record, runs.build_memory(record).to_dict(), events))
        return found

    return with_runs(engine, folder, read)
