"""Two HTTP servers share a database: a run survives the ``kill -9`` of its server, and ends on the other."""

import asyncio
import os
import sys

from mcp import Client

from tests.apps.plan_server import PLAN
from tests.apps.processes import DEADLINE_S, serving
from tests.plan.suite.processes import wait_until
from tests.scale.places import url_of


async def test_a_run_survives_the_server_that_began_it(new_database, tmp_path):
    address = url_of(new_database())
    pipe = tmp_path / "pipe"
    calls = tmp_path / "pipe.calls"
    os.mkfifo(pipe)

    def server(name):
        command = (sys.executable, "-m", "tests.apps.plan_server", str(pipe), "http")
        return serving(*command, FINGERPOST_HOME=str(tmp_path / name), FINGERPOST_DATABASE_URL=address)

    async def told(client, **arguments):
        answer = await client.call_tool("run_plan" if "action" in arguments else "get_plan_run", arguments)
        return answer.structured_content["data"]

    with server("one") as one, server("other") as other:
        async with Client(f"{one.url}/mcp") as client:
            begun = await client.call_tool("run_plan", {"plan": PLAN, "wait_seconds": 0})
            run_id = begun.structured_content["data"]["run_id"]
            await asyncio.to_thread(wait_until, lambda: calls.exists() and calls.read_text(), "the tool is asked")
        async with Client(f"{other.url}/mcp") as client:
            before = await told(client, run_id=run_id)
            one.process.kill()
            one.process.wait(DEADLINE_S)
            after = await told(client, run_id=run_id)
            while after["state"] == "running":
                after = await told(client, run_id=run_id)
            resuming = asyncio.create_task(told(client, run_id=run_id, action="resume"))
            await asyncio.to_thread(pipe.write_text, "go on")
            ended = await resuming

    assert (before["state"], after["state"], after["resumable"], ended["state"]) == (
        "running",
        "interrupted",
        True,
        "completed",
    )
    assert calls.read_text().split() == ["called", "called"]
