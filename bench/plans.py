"""What a plan costs beside no engine at all, and beside two engines: ``make bench-plans``.

Every line is the median of the ratios of many pairs of one run. Answers are compared before times are.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path

from figures import p50, verdict
from plan_bare import Bare
from pydantic import BaseModel

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.tool import success_response
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.runs import PlanRuns

WIDTH = 50
SUM = sum(range(1, WIDTH + 1))
SHAPES = {
    "chain": {step: [step - 1] if step > 1 else [] for step in range(1, WIDTH + 1)},
    "fan": {**{step: [] for step in range(1, WIDTH + 1)}, 0: list(range(1, WIDTH + 1))},
}
BARE_BOUNDS = {"chain": 1.5, "fan": 2.5}
RIVAL_BOUND = 0.3
BRANCH_BOUND = 1.1
LONG_S, SHORT_S = 0.9, 0.1


class NoOpParams(BaseModel):
    n: int


async def no_op(query_type, parameters, _user):
    return success_response("no_op", query_type, parameters, [], {"data": parameters})


async def nap(query_type, parameters, _user):
    await asyncio.sleep(LONG_S if parameters["n"] else SHORT_S)
    return success_response("nap", query_type, parameters, [], {"data": parameters})


def tool(name, execute):
    return PlanTool(spec=ToolSpec(name=name, input_schema={name: NoOpParams}, output_key=name), execute=execute)


def draw(edges, name="no_op", lengths=None):
    steps = [
        PlanStep(
            step_id=step,
            description="",
            tool=name,
            parameters={"n": step if lengths is None else lengths[step]},
            expected_key=f"k{step}",
            dependencies=before,
        )
        for step, before in edges.items()
    ]
    return Plan(goal="measure", steps=steps, created_at="2026-03-10T06:00:00Z")


async def ours(runs, plan):
    """Check, keep and carry out a plan; return the milliseconds and the sum of all outputs."""
    begun = time.perf_counter()
    run_id = await runs.create(plan, user="bench")
    runs.begin(run_id)
    await runs.wait(run_id, 600)
    taken = (time.perf_counter() - begun) * 1e3
    memory = runs.memory_of(await runs.get(run_id, "bench"))
    return taken, sum(response["data"]["n"] for response in memory.keyed().values())


async def without(bare, edges):
    begun = time.perf_counter()
    outputs = await bare.run(edges)
    return (time.perf_counter() - begun) * 1e3, sum(output["data"]["n"] for output in outputs.values())


class Rivals:
    """The other engines, in a process of another environment."""

    def __init__(self, python):
        self._python = python
        self._process = None

    def start(self):
        script = Path(__file__).parent / "rivals" / "plan_engines.py"
        self._process = subprocess.Popen(
            [self._python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
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


async def measure(rounds, rivals, folder):
    """Return the median ratio by (engine, shape), ours over theirs, and that of the two branches.

    The two of a pair run one right after the other, in turns first, so that what else the machine does hits both.
    """
    bare = Bare(folder / "bare.sqlite")
    runs = PlanRuns(Catalogue.of([tool("no_op", no_op), tool("nap", nap)]), EmbeddedJournal(folder))
    plans = {shape: draw(edges) for shape, edges in SHAPES.items()}
    ratios = {}

    async def pair(turn, engine, shape, theirs):
        both = {"fingerpost": partial(ours, runs, plans[shape]), engine: theirs}
        taken = {name: await both[name]() for name in sorted(both, reverse=bool(turn % 2))}
        for name, (_ms, total) in taken.items():
            if total != SUM:
                raise SystemExit(f"{name} answered {total} for {shape}, not {SUM}: nothing is compared.")
        if turn >= 0:
            ratios.setdefault((engine, shape), []).append(taken["fingerpost"][0] / taken[engine][0])

    for turn in range(-2, rounds):
        for shape, edges in SHAPES.items():
            await pair(turn, "bare", shape, partial(without, bare, edges))
    if rivals is not None:
        rivals.start()
        for turn in range(-1, max(3, rounds // 4)):
            for engine, shape in product(("dbos", "langgraph"), SHAPES):
                await pair(turn, engine, shape, partial(rivals.run, engine, shape))
    branches = draw({1: [], 2: [], 3: [1], 4: [2]}, "nap", {1: 0, 2: 1, 3: 1, 4: 0})
    path = [(await ours(runs, branches))[0] / ((LONG_S + SHORT_S) * 1e3) for _ in range(3)]
    runs.journal.close()
    bare.close()
    return {measured: p50(each) for measured, each in ratios.items()}, p50(path)


def main():
    parser = argparse.ArgumentParser(description="Measure a plan beside no engine and beside two others.")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--rivals", default=os.environ.get("RIVALS_PYTHON"), help="Python with dbos and langgraph")
    options = parser.parse_args()
    os.environ.pop("FINGERPOST_NOW", None)
    rivals = Rivals(options.rivals) if options.rivals else None
    with tempfile.TemporaryDirectory(prefix="fingerpost-bench-", dir=options_folder()) as folder:
        ratios, path = asyncio.run(measure(options.rounds, rivals, Path(folder)))
    verdicts = []

    def line(text, ratio, bound):
        verdicts.append(verdict(ratio, bound))
        print(f"{text:<58} {ratio:5.2f} of at most {bound:.2f}   {verdicts[-1]}")

    for shape, bound in BARE_BOUNDS.items():
        line(f"{shape} of {WIDTH}, beside asyncio and SQLite alone", ratios["bare", shape], bound)
    for engine, name in (("dbos", "DBOS on SQLite"), ("langgraph", "LangGraph on SQLite, sync")):
        for shape in SHAPES:
            if rivals is None:
                print(f"{shape} of {WIDTH}, beside {name}: not measured, it is not installed")
            else:
                line(f"{shape} of {WIDTH}, beside {name}", ratios[engine, shape], RIVAL_BOUND)
    line("two uneven branches, beside their critical path", path, BRANCH_BOUND)
    if rivals is not None:
        rivals.close()
    return 0 if set(verdicts) == {"ok"} else 1


def options_folder():
    """Return a folder on a real disk where there is one: memory makes every commit free."""
    folder = Path(__file__).parents[1] / ".bench"
    folder.mkdir(exist_ok=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
