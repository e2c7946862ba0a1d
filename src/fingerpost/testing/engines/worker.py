"""What a process does that executes runs until it is killed or all have ended."""

import asyncio
import os
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from fingerpost.errors import ToolError
from fingerpost.plan.plan_json import read_plan
from fingerpost.testing.engines.engine import Engine
from fingerpost.testing.engines.fixtures import USER, Build, new_runs

READY: Final = "ready"


async def work(says: "Connection[Any, Any]", engine: Engine, folder: Path, build: Build, plans: list[object]) -> None:
    """Store new plans, say that it is ready, execute all open runs, and say how each stands, or why it was refused."""
    journal = engine.open(folder)
    runs = new_runs(journal, folder, build)
    for raw in plans:
        await runs.create(read_plan(raw), user=USER)
    open_runs = [line.run_id for line in await runs.list_runs(USER) if line.state in ("running", "waiting")]
    await journal.launch()
    says.send(READY)

    async def carry_on(run_id: str) -> str:
        try:
            return await runs.carry_on(run_id)
        except ToolError as error:
            return error.message

    ends = await asyncio.gather(*[carry_on(run_id) for run_id in open_runs])
    journal.close()
    says.send(dict(zip(open_runs, ends, strict=True)))


def tell(
    says: "Connection[Any, Any]",
    complains: str,
    environment: Mapping[str, str],
    opens: str,
    folder: Path,
    build: Build,
    plans: list[object],
) -> None:
    """Work in a process that was forked, in an environment; what goes wrong is written to a file."""
    os.dup2(os.open(complains, os.O_WRONLY), sys.stderr.fileno())
    os.environ.clear()
    os.environ.update(environment)
    asyncio.run(work(says, Engine(name=opens, opens=opens), folder, build, plans))
