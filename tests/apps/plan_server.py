"""A server of plans whose only tool waits, and of a tool that waits: ``python -m tests.apps.plan_server PIPE [http]``.

A call of the plans' tool adds a line to ``PIPE.calls``; both tools answer when somebody writes to the named pipe.
"""

import asyncio
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.http import serve_http
from fingerpost.apps.mcp.listener import Address
from fingerpost.apps.mcp.server import serve_stdio
from fingerpost.apps.settings import read_settings
from fingerpost.apps.storage import open_journal
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import build
from fingerpost.contract.published_tool import ToolReply
from fingerpost.contract.tool import ToolSpec, success_response
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.plan_tools import GetPlanRun, PlanningCapability, RunPlan
from fingerpost.plan.runs import PlanRuns
from tests.apps.scripted_tool import Nothing, ScriptedTool

PLAN = {
    "goal": "wait and see",
    "steps": [
        {"step_id": 1, "description": "Wait", "tool": "wait", "expected_key": "waited"},
        {"step_id": 2, "description": "See", "parameters": {"seen": {"$ref": "waited", "path": "data"}}},
    ],
}


class Slow(ScriptedTool):
    definition = replace(ScriptedTool.definition, name="slow")

    async def handle(self, arguments, call):
        logging.getLogger("fingerpost").info("the call is running")
        await asyncio.to_thread(Path(sys.argv[1]).read_text)
        return ToolReply(self.outcome, "done")


def new_application(pipe):
    async def wait(query_type, parameters, _user):
        os.write(calls, b"called\n")
        word = await asyncio.to_thread(pipe.read_text)
        return success_response("wait", query_type, parameters, [word], {"data": word})

    calls = os.open(f"{pipe}.calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    settings = read_settings()
    application = build(settings)
    catalogue = Catalogue.of(
        [PlanTool(spec=ToolSpec(name="wait", input_schema={"wait": Nothing}, output_key="wait"), execute=wait)]
    )
    runs = PlanRuns(catalogue, open_journal(settings))
    tools = (Slow({}), RunPlan(runs, PlanningCapability(catalogue)), GetPlanRun(runs))
    return replace(application, tools={tool.name: tool for tool in tools}, runs=runs)


if __name__ == "__main__":
    start_logging()
    made = new_application(Path(sys.argv[1]))
    if sys.argv[2:] == ["http"]:
        serve_http(made, Address("127.0.0.1", 0), WarmUp(made.networks))
    else:
        asyncio.run(serve_stdio(made, WarmUp(made.networks)))
