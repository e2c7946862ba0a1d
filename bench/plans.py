"""Compare the cost of a plan with that of no engine, and of two other engines: ``make bench-plans``.

Every line is the median of the ratios of many pairs in one run. Answers are compared before times. ``--rivals`` is a
Python with dbos and langgraph.
"""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from functools import partial
from graphlib import TopologicalSorter
from itertools import product
from pathlib import Path

import plan_rivals
from harness import HEAD, p50, read_options, report, report_pairs
from plan_rivals import SHAPES, WIDTH
from pydantic import BaseModel

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.tool import ToolSpec, success_response
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.runs import PlanRuns

SUM = sum(range(1, WIDTH + 1))
BARE_BOUNDS = {"chain": 1.3, "fan": 2.0}
RIVAL_BOUND = 0.3
BRANCH_BOUND = 1.1
NAMES = {"bare": "asyncio and SQLite alone", "dbos": "DBOS on SQLite", "langgraph": "LangGraph on SQLite, sync"}
LONG_S, SHORT_S = 0.9, 0.1
# Use a real disk if there is one, because commits to memory are free.
FOLDER = Path(__file__).parents[1] / ".bench"


class NoOpParams(BaseModel):
    n: int


def tool(name, *seconds):
    """Return a tool that returns its parameter; a nap sleeps for the seconds that its parameter selects."""

    async def execute(query_type, parameters, _user):
        if seconds:
            await asyncio.sleep(seconds[parameters["n"]])
        return success_response(name, query_type, parameters, [], {"data": parameters})

    return PlanTool(spec=ToolSpec(name=name, input_schema={name: NoOpParams}, output_key=name), execute=execute)


def draw(edges, name="no_op", lengths=None):
    steps = [
        PlanStep(
            step_id=step, description="", tool=name, parameters={"n": step if lengths is None else lengths[step]},
            expected_key=f"k{step}", dependencies=before,
        )
        for step, before in edges.items()
    ]  # fmt: skip
    return Plan(goal="measure", steps=steps, created_at="2026-03-10T06:00:00Z")


async def ours(runs, plan):
    begun = time.perf_counter()
    run_id = await runs.create(plan, user="bench")
    runs.start(run_id)
    await runs.wait(run_id, 600)
    taken = (time.perf_counter() - begun) * 1e3
    memory = runs.build_memory(await runs.get(run_id, "bench"))
    return taken, sum(response["data"]["n"] for response in memory.to_dict().values())


class Bare:
    """The baseline: no engine, only asyncio and one SQLite file with the same guarantee.

    The plan is on disk before the first step, every step is on disk before the next one sees its result, and steps that
    end together share a commit (WAL, synchronous FULL).
    """

    def __init__(self, path):
        self.connection = sqlite3.connect(path, isolation_level="IMMEDIATE", check_same_thread=False)
        self.connection.executescript("""
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE run (id TEXT PRIMARY KEY, plan TEXT, state TEXT);
            CREATE TABLE step (run TEXT, id INTEGER, output TEXT, PRIMARY KEY (run, id));
        """)

    async def run(self, edges):
        """Run no-op steps; ``edges`` lists the steps that each one waits for.

        Return the milliseconds, and the sum of all outputs.
        """
        begun, run_id, total = time.perf_counter(), str(uuid.uuid4()), 0
        await self._write("INSERT INTO run VALUES (?, ?, 'running')", [(run_id, json.dumps(edges))])
        graph = TopologicalSorter(edges)
        graph.prepare()
        while steps := graph.get_ready():
            outputs = await asyncio.gather(*map(self._no_op, steps))
            rows = [(run_id, step, json.dumps(output)) for step, output in zip(steps, outputs, strict=True)]
            await self._write("INSERT INTO step VALUES (?, ?, ?)", rows)
            graph.done(*steps)
            total += sum(outputs)
        await self._write("UPDATE run SET state = 'completed' WHERE id = ?", [(run_id,)])
        return (time.perf_counter() - begun) * 1e3, total

    async def _no_op(self, step):
        return step

    async def _write(self, statement, rows):
        def write():
            with self.connection:
                self.connection.executemany(statement, rows)

        await asyncio.to_thread(write)


class Rivals:
    """The other engines, in a process with another environment."""

    def __init__(self, python):
        command, pipe = [python, plan_rivals.__file__], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        if self._process.stdout.readline() != "ready\n":
            raise SystemExit("The rivals did not start; see above.")

    async def run(self, engine, shape):
        self._process.stdin.write(f"{engine} {shape}\n")
        self._process.stdin.flush()
        taken, total = self._process.stdout.readline().split()
        return float(taken), int(total)

    def close(self):
        self._process.stdin.close()
        self._process.wait(30)


async def measure(rounds, python, folder):
    """Return the milliseconds of pairs (ours, theirs) by (engine, shape), and those for two uneven branches.

    The two runs of a pair follow each other directly, and the order alternates, so that other load affects both.
    """
    bare = Bare(folder / "bare.sqlite")
    runs = PlanRuns(Catalogue.of([tool("no_op"), tool("nap", SHORT_S, LONG_S)]), EmbeddedJournal(folder))
    plans = {shape: draw(edges) for shape, edges in SHAPES.items()}
    taken = {}

    async def pair(turn, engine, shape, theirs):
        both = [partial(ours, runs, plans[shape]), theirs]
        found = {run: await run() for run in (both if turn % 2 else both[::-1])}
        for run in both:
            if found[run][1] != SUM:
                raise SystemExit(f"{engine} and fingerpost do not both answer {SUM} for {shape}: nothing is compared.")
        if turn >= 0:
            taken.setdefault((engine, shape), []).append([found[run][0] for run in both])

    for turn in range(-2, rounds):
        for shape, edges in SHAPES.items():
            await pair(turn, "bare", shape, partial(bare.run, edges))
    if python:
        rivals = Rivals(python)
        for turn in range(-1, max(3, rounds // 4)):
            for engine, shape in product(("dbos", "langgraph"), SHAPES):
                await pair(turn, engine, shape, partial(rivals.run, engine, shape))
        rivals.close()
    branches = draw({1: [], 2: [], 3: [1], 4: [2]}, "nap", {1: 0, 2: 1, 3: 1, 4: 0})
    path_ms = [(await ours(runs, branches))[0] for _ in range(3)]
    runs.journal.close()
    bare.connection.close()
    return taken, path_ms


def main():
    options = read_options(__doc__, rounds=40, rivals="")
    os.environ.pop("FINGERPOST_NOW", None)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fingerpost-bench-", dir=FOLDER) as folder:
        taken, path_ms = asyncio.run(measure(options.rounds, options.rivals, Path(folder)))
    print(f"Plans of {WIDTH} steps, in ms:\n{HEAD}")
    good = True
    for engine, shape in product(NAMES, SHAPES):
        name = f"{shape}, beside {NAMES[engine]}"
        if pairs := taken.get((engine, shape)):
            bound = BARE_BOUNDS[shape] if engine == "bare" else RIVAL_BOUND
            good &= report_pairs(name, *zip(*pairs, strict=True), bound=bound)
        else:
            print(f"  {name}: not measured, it is not installed")
    path = (LONG_S + SHORT_S) * 1e3
    good &= report("two uneven branches, beside their critical path", p50(path_ms), path, bound=BRANCH_BOUND)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
