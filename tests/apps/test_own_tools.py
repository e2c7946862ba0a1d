"""Users' own tools: from Python, from an installed package, in plans, killed and resumed."""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from pydantic import BaseModel

from fingerpost import Fingerpost, Plan, PlanStep, Tool, ToolError, ToolSpec, validate_call
from fingerpost.errors import SettingsInvalid
from tests.apps.processes import COMMAND, run

pytestmark = pytest.mark.slow

MODULE = '''
import os, sys, time
from pathlib import Path

def double(n: int) -> int:
    """Twice a whole number."""
    with open(Path(os.environ["FOLDER"]) / "calls", "a") as calls:
        calls.write(f"{n}\\n")
    return 2 * n

def linger(n: int) -> int:
    """The number itself, once the pipe "begun" is gone; until then it tells the pipe which process waits."""
    begun = Path(os.environ["FOLDER"]) / "begun"
    if begun.exists():
        begun.write_text(str(os.getpid()))
    while begun.exists():
        time.sleep(0.01)
    return n

linger.idempotent = True
plan_trip = double
'''
ENTRY_POINTS = """[fingerpost.tools]
double = my_own_tools:double
linger = my_own_tools:linger
broken = my_own_tools:nothing_of_that_name
"""
DOCUMENT = Path(__file__).parents[2] / "docs" / "plans.md"


def double(n: int) -> int:
    """Twice a whole number."""
    return 2 * n


async def refuse(n: int = 0) -> int:
    """Refuses."""
    raise ToolError(f"{n} is too small", hint="Send 2 or more")


class Box(BaseModel):
    width: float
    height: float = 1.0


class Measuring(Tool):
    """A tool of the plan-step contract with two query types."""

    name = "measure"
    spec = ToolSpec(name="measure", input_schema={"area": Box, "rim": Box}, output_key="measured", description="Boxes")

    async def execute(self, query_type, parameters):
        """Measure a box."""
        box = Box(**parameters)
        value = box.width * box.height if query_type == "area" else 2 * (box.width + box.height)
        return self.format_success_response(query_type, parameters, [value], {"data": value, "notes": ["in metres"]})


def step(number, tool, parameters, **fields):
    return PlanStep(step_id=number, description=tool, tool=tool, parameters=parameters, output_path=["data"], **fields)


def plan(*steps):
    return Plan(goal="own", steps=list(steps), created_at="2026-03-10T06:00:00Z")


@pytest.fixture
def installed(tmp_path, home, monkeypatch):
    """A package with tools, installed for the processes that are started; returns the folder that the tools use."""
    info = tmp_path / "packages" / "my_own_tools-1.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "my_own_tools.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-own-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.setenv("PYTHONPATH", str(info.parent))
    monkeypatch.setenv("FOLDER", str(tmp_path))
    return tmp_path


def test_the_ten_lines_of_the_documentation_run(home, capsys):
    [code] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    exec(compile(code, str(DOCUMENT), "exec"), {"__name__": "script"})

    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    assert capsys.readouterr().out == "[{'key': 'twice', 'value': 42, 'left_out': False}]\n"


async def test_a_function_and_a_contract_tool_work_together_in_a_plan(home):
    rim = {"query_type": "rim", "parameters": {"width": {"$ref": "double"}, "height": 2}}
    async with Fingerpost(tools=[double, Measuring()]) as fp:
        done = await fp.run_plan(plan=plan(step(1, "double", {"n": 4}), step(2, "measure", rim)))

    assert [(each["key"], each["value"]) for each in done["results"]] == [("double", 8), ("measured", 20.0)]
    assert done["data"]["steps"][1]["remarks"] == [{"kind": "note", "at": "notes", "value": ["in metres"]}]


async def test_a_direct_call_returns_the_standard_response(home):
    async with Fingerpost(tools=[double]) as fp:
        answer = await fp.answer("double", {"n": 21})
        details = await fp.tool_details("tool_details", {"tool_name": "double"})

    assert answer.body == {
        "query_type": "double",
        "parameters": {"n": 21},
        "results": [42],
        "output_key": "double",
        "success": True,
        "data": 42,
    }
    assert (answer.text, answer.is_error) == ("42", False)
    assert details["description"] == "Twice a whole number."


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("double", {"n": "many"}, "n must be a whole number, not the text \"many\""),
        ("double", {"m": 1}, "n is missing; unknown field 'm'; allowed: n"),
        ("measure", {"width": 1}, "must be {query_type, parameters}; query types are area, rim"),
        ("refuse", {"n": 1}, "1 is too small\nSend 2 or more"),
    ],
)  # fmt: skip
async def test_a_wrong_or_refused_call_is_reported(home, tool, arguments, said):
    async with Fingerpost(tools=[double, Measuring(), refuse]) as fp:
        answer = await fp.answer(tool, arguments)

    assert (answer.is_error, answer.body["success"], answer.body["results"]) == (True, False, [])
    assert answer.body["error"] == said.partition("\n")[0]
    assert all(line in answer.text for line in said.splitlines())


def untyped(n):
    """No type."""
    return n


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([untyped], "The parameter n of the function untyped has no type"),
        (["double"], "'double' is not a tool; pass a function, or a Tool with a spec"),
        ([double, double], "There is already a tool called 'double'; give yours another name"),
    ],
)
def test_a_nontool_is_refused_at_once(home, tools, message):
    with pytest.raises(SettingsInvalid, match=re.escape(message)):
        Fingerpost(tools=tools)


def test_a_function_defined_again_replaces_the_earlier_one(home):
    def double(n: int, times: int = 2) -> int:
        """More than twice."""
        return n * times

    Fingerpost(tools=[globals()["double"], refuse])
    Fingerpost(tools=[double])

    assert validate_call("double", "double", {"n": 1, "times": 3}) is None
    # A second application does not take the first one's tools away.
    assert validate_call("refuse", "refuse", {}) is None


def test_an_installed_package_adds_tools_to_the_command_line(installed):
    called = run("call", "double", '{"n": 21}')
    health = run("doctor")

    assert (called.returncode, json.loads(called.stdout)["data"]) == (0, 42)
    assert "broken from my-own-tools was skipped" in health.stdout


def connect():
    return Client(StdioServerParameters(command=sys.executable, args=[*COMMAND[1:], "serve"], env=dict(os.environ)))


async def test_an_installed_package_adds_tools_to_the_server(installed):
    async with connect() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        alone = await client.call_tool("double", {"n": 21})
        ran = await client.call_tool("run_plan", {"plan": plan(step(1, "double", {"n": 4})).model_dump()})

    assert {"double", "linger", "plan_trip"} <= listed
    assert alone.structured_content["data"] == 42
    assert ran.structured_content["results"] == [{"key": "double", "value": 8, "left_out": False}]


async def begin_over_mcp(pipe, steps):
    async with connect() as client:
        await client.call_tool("run_plan", {"plan": steps.model_dump(), "wait_seconds": 0})
        os.kill(int(await asyncio.to_thread(pipe.read_text)), signal.SIGKILL)


async def resume_over_mcp(run_id):
    async with connect() as client:
        done = await client.call_tool("run_plan", {"run_id": run_id, "action": "resume", "wait_seconds": 60})
    data = done.structured_content["data"]
    return [data["state"], [each["value"] for each in data["values"]]]


async def test_a_plan_of_own_tools_is_killed_and_resumed(installed, monkeypatch):
    monkeypatch.delenv("FINGERPOST_NOW")
    pipe = installed / "begun"
    os.mkfifo(pipe)
    await begin_over_mcp(pipe, plan(step(1, "double", {"n": 4}), step(2, "linger", {"n": {"$ref": "double"}})))
    pipe.unlink()
    async with Fingerpost() as fp:
        [line] = (await fp.get_plan_run())["results"]
    resumed = await resume_over_mcp(line["run_id"])

    assert (line["state"], line["completed"]) == ("interrupted", 1)
    assert resumed == ["completed", [8, 8]]
    assert (installed / "calls").read_text() == "4\n"
