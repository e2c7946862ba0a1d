"""A process that carries runs on until it is killed: ``python -m tests.plan.worker FOLDER [PLANS]``.

Its tool writes a line to a file for every call it begins and ends, so that the test knows what really happened.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from fingerpost.contract.attempt import find_attempt
from fingerpost.contract.response import success_response
from fingerpost.contract.spec import ToolSpec
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_json import read_plan
from fingerpost.plan.runs import PlanRuns
from tests.plan.drawing import EchoParams

USER = "ann"


def calls_file(folder):
    """Return where the calls are written down."""
    return Path(folder) / "calls.txt"


def new_runs(folder):
    """Return runs over a tool that takes a little while and tells of every call."""
    handle = os.open(calls_file(folder), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def execute(query_type, parameters, _user):
        key = find_attempt().idempotency_key
        os.write(handle, f"begin {key}\n".encode())
        await asyncio.sleep(parameters["n"] / 1000)
        data = {"sum": parameters["n"] + sum(parameters.get("extra") or [])}
        os.write(handle, f"end {key}\n".encode())
        return success_response("echo", query_type, parameters, [data], {"data": data})

    spec = ToolSpec(name="echo", input_schema={"echo": EchoParams}, output_key="echo")
    tool = PlanTool(spec=spec, execute=execute)
    return PlanRuns(Catalogue.of([tool]), EmbeddedJournal(folder), Limits(), poll_s=0.05)


async def main(folder, plans):
    runs = new_runs(folder)
    for raw in plans:
        await runs.create(read_plan(raw), user=USER)
    lines = await runs.list_runs(USER)
    print("ready", flush=True)
    unfinished = [line.run_id for line in lines if line.state == "running"]
    await asyncio.gather(*[runs.carry_on(run_id) for run_id in unfinished])
    runs.journal.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else []))
