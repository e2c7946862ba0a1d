"""A process that executes runs until it is killed or all have ended.

``python -m fingerpost.testing.engines.worker MODULE:NAME FOLDER BUILD [PLANS]`` keeps some new plans, says "ready",
carries on every run that has not ended, and says as JSON how each one stands, or why it was refused.
"""

import asyncio
import json
import sys
from pathlib import Path

from fingerpost.errors import ToolError
from fingerpost.plan.plan_json import read_plan
from fingerpost.testing.engines.engine import Engine
from fingerpost.testing.engines.fixtures import USER, Build, new_runs


async def work(engine: Engine, folder: Path, build: Build, plans: list[object]) -> None:
    """Store new plans, then execute all open runs."""
    journal = engine.open(folder)
    runs = new_runs(journal, folder, build)
    for raw in plans:
        await runs.create(read_plan(raw), user=USER)
    open_runs = [line.run_id for line in await runs.list_runs(USER) if line.state in ("running", "waiting")]
    await journal.launch()
    print("ready", flush=True)

    async def carry_on(run_id: str) -> str:
        try:
            return await runs.carry_on(run_id)
        except ToolError as error:
            return error.message

    ends = await asyncio.gather(*[carry_on(run_id) for run_id in open_runs])
    journal.close()
    print(json.dumps(dict(zip(open_runs, ends, strict=True))), flush=True)


def main(opens: str, folder: str, build: str, plans: str = "[]") -> None:
    """Run a worker with the command line's arguments."""
    asyncio.run(work(Engine(name=opens, opens=opens), Path(folder), Build(build), json.loads(plans)))


if __name__ == "__main__":
    main(*sys.argv[1:])
