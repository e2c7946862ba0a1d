"""The interfaces to plans: the two tools, the commands, the resource, and a trip plan with real tools."""

import asyncio
import json
from pathlib import Path

import pytest
from mcp import MCPError

from fingerpost.apps import error_boundary
from fingerpost.apps.mcp.listing import read_resource
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.plan.drawing import EXAMPLE

STEP = EXAMPLE.model_dump()
REVENUE = {"goal": "Apple's revenue", "steps": [STEP]}
SAVE = {
    "goal": "keep it",
    "steps": [
        {"step_id": 1, "description": "May we?", "agent": "human"},
        {
            "step_id": 2,
            "description": "Save",
            "tool": "save_user_variable",
            "parameters": {"key": "note", "type": "other", "value": "kept"},
            "dependencies": [1],
        },
    ],
}


@pytest.fixture
def ask(application):
    def call(name, arguments, user="ann"):
        async def once():
            answer = await error_boundary.answer(application.tools, name, arguments, user=user)
            await application.runs.stop()
            return answer

        return asyncio.run(once())

    yield call
    application.runs.journal.close()


def test_the_plan_step_contracts_example_runs_on_the_real_tool_and_is_skipped_from_its_memory(ask):
    """S50 to S52: the contract's sentence is planned; a number under ``revenue_data``; skipped in a second run."""
    first = ask("run_plan", {"user_input": "Get Apple's revenue for 2022"})
    again = ask("run_plan", {"plan": REVENUE, "memory_of": first.body["data"]["run_id"]})

    assert first.body["results"] == [{"key": "revenue_data", "value": 394_328_000_000, "left_out": False}]
    assert again.body["results"] == first.body["results"]
    assert [step["skipped"] for step in first.body["data"]["steps"] + again.body["data"]["steps"]] == [False, True]


def test_an_explicit_null_in_a_step_counts_as_absent(ask):
    step = {"step_id": 1, "description": "d", "tool": "get_user_variables", "parameters": None, "dependencies": None}

    assert ask("run_plan", {"plan": {"goal": "g", "steps": [step]}}).body["data"]["state"] == "completed"


QUERIES = {
    "financial_facts": {"ticker": "AAPL", "metrics": ["Revenue"]},
    "time_series": {"ticker": "AAPL", "metric": "Revenue"},
    "calculate": {"ticker": "AAPL", "expression": "Revenue"},
}


@pytest.mark.parametrize("query_type", QUERIES)
def test_a_period_may_come_from_an_earlier_step(ask, query_type):
    parameters = {**QUERIES[query_type], "period": {"$ref": "year"}}
    step = STEP | {"output_path": None, "done_check": None}

    def run_with(year, **more):
        asked = {"query_type": query_type, "parameters": parameters | more}
        return ask(
            "run_plan", {"plan": {"goal": "g", "steps": [step | {"parameters": asked}]}, "memory": {"year": year}}
        )

    found, wrong, refused = run_with("2022"), run_with("soon"), run_with("2022", ticker=5, vintag="latest")

    assert found.body["data"]["state"] == "completed"
    assert found.body["results"][-1]["value"]["results"][0]["value"] == 394_328_000_000
    assert "period" in wrong.body["error"]
    assert "must be a fiscal year or quarter (2022, 2022-Q2)" in wrong.body["error"]
    assert "ticker must be text, not the number 5" in refused.body["error"]
    assert "unknown field 'vintag'" in refused.body["error"]


def test_a_run_waits_for_a_person_and_continues_in_another_application(ask, application, home):
    first = ask("run_plan", {"plan": SAVE})
    application.runs.journal.close()
    before = ask("get_user_variables", {}).body["variables"]
    other = build(read_settings())
    run_id = first.body["data"]["run_id"]
    decision = {"run_id": run_id, "action": "approve", "step_id": 1, "note": "go"}
    second = asyncio.run(error_boundary.answer(other.tools, "run_plan", decision, user="ann"))
    other.runs.journal.close()

    assert (first.body["data"]["state"], first.body["data"]["waiting_for"], before) == ("waiting", [1], [])
    assert second.body["data"]["state"] == "completed"
    assert [each["key"] for each in ask("get_user_variables", {}).body["variables"]] == ["note"]


def test_only_its_owner_reads_a_run(ask):
    run_id = ask("run_plan", {"plan": SAVE}).body["data"]["run_id"]
    data = ask("get_plan_run", {"run_id": run_id, "include": ["plan", "items", "events"]}).body["data"]
    stranger = ask("get_plan_run", {"run_id": run_id}, user="eve")

    assert data["progress"] == {"completed": 0, "failed": 0, "total": 2}
    assert [item["type"] for item in data["items"]] == ["plan"]
    assert [event["kind"] for event in data["events"]] == ["run_started", "step_waiting", "run_waiting"]
    assert (stranger.is_error, stranger.body["error"]) == (True, f"There is no run '{run_id}'")
    assert [line["run_id"] for line in ask("get_plan_run", {}).body["results"]] == [run_id]


def test_a_refusal_has_the_standard_response(ask):
    answer = ask("run_plan", {"user_input": "make me rich"})
    message = "No planner supports this goal"

    assert (answer.is_error, answer.body["success"], answer.body["error"]) == (True, False, message)
    assert (answer.body["results"], answer.body["output_key"]) == ([], "run_plan")


def test_the_reason_for_no_verdict_is_stated_with_it(ask):
    claim = {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals", "value": 394328}
    asked = {"query_type": "verify_claim", "parameters": claim}
    step = STEP | {"parameters": asked, "output_path": ["data", "verdict"], "done_check": None}
    answer = ask("run_plan", {"plan": {"goal": "g", "steps": [step]}})
    said = "the value equals the figure in millions: set unit to 'USD million'"

    assert answer.body["results"][0]["value"] == "cannot_judge"
    assert {"kind": "note", "at": "explanation", "value": said} in answer.body["data"]["steps"][0]["remarks"]
    assert f"Step 1: {said}" in answer.text


def test_a_failed_plan_is_reported(ask):
    lost = {"step_id": 1, "description": "find", "tool": "findAddressOrStop", "parameters": {"rawText": "Xyzzyville"}}
    answer = ask("run_plan", {"plan": {"goal": "g", "steps": [lost]}})

    assert (answer.is_error, answer.body["results"]) == (True, [])
    assert answer.body["error"].startswith("The plan failed at step 1: ")
    assert not answer.body["data"]["resumable"]
    assert answer.body["data"]["next"].startswith("run_plan with action replace")


async def test_a_run_is_a_resource_of_its_owner(application):
    answer = await error_boundary.answer(application.tools, "run_plan", {"plan": REVENUE}, user="ann")
    uri = f"fingerpost://runs/{answer.body['data']['run_id']}"
    read = await read_resource(application, uri, user="ann")

    assert json.loads(read.contents[0].text)["state"] == "completed"
    with pytest.raises(MCPError, match="There is no run"):
        await read_resource(application, uri, user="eve")
    application.runs.journal.close()


TRIP = Path(__file__).parents[2] / "examples" / "there_and_back.json"


def test_the_trip_plan_runs_at_the_terminal(invoke, home):
    done = invoke("run", str(TRIP))

    assert done.returncode == 0
    assert "completed, 5 of 5 steps (" in done.stdout
    assert ": Save both\n" in done.stdout
    assert "last_round_trip" in invoke("vars", "list", "--json").stdout
    assert "completed" in invoke("runs", "list").stdout


def test_a_command_leaves_its_run_in_one_file_that_can_be_copied(invoke, home, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(SAVE))
    invoke("run", str(path))

    assert sorted(path.name for path in home.iterdir() if path.is_file()) == ["runs.sqlite"]


@pytest.mark.parametrize("command", ["resume", "show"])
def test_an_unknown_run_is_reported_in_one_sentence(invoke, command):
    assert invoke("runs", command, "x") == (2, "", "There is no run 'x'.\n")


def test_the_commands_look_after_a_run(invoke, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(SAVE))
    waiting = json.loads(invoke("run", str(path), "--json").stdout)
    shown = invoke("runs", "show", waiting["run_id"])
    approved = invoke("runs", "approve", waiting["run_id"], "1")
    ended = invoke("runs", "cancel", waiting["run_id"])

    assert waiting["state"] == "waiting"
    assert f"Decide with: fingerpost runs approve {waiting['run_id']} 1" in shown.stdout
    assert "completed, 2 of 2 steps (" in approved.stdout
    assert (ended.returncode, ended.stderr) == (2, "The run has already ended: its state is completed.\n")


def test_a_plan_cannot_control_the_terminal(invoke, tmp_path):
    path = tmp_path / "plan.json"
    evil = "\x1b[2J\x9b31m\rall is well\x07\n1. done"
    steps = [{"step_id": 1, "description": evil, "parameters": {"seen": evil}}]
    steps.append({"step_id": 2, "description": "fails", "tool": "find_stops", "parameters": {"radius": 1}})
    path.write_text(json.dumps({"goal": evil, "steps": steps[:1]}))
    done = invoke("run", str(path))
    run_id = json.loads(invoke("runs", "list", "--json").stdout)["results"][0]["run_id"]
    path.write_text(json.dumps({"goal": evil, "steps": [{**steps[1], "tool": evil}]}))
    printed = [done, invoke("runs", "list"), invoke("runs", "show", run_id), invoke("run", str(path))]
    text = "".join(each.stdout + each.stderr for each in printed)

    assert sorted({each for each in text if each < " " or "\x7f" <= each < "\xa0"}) == ["\n"]
    assert printed[1].stdout.count("\n") == 1
    assert "\ufffd[2J\ufffd31m all is well\ufffd 1. done" in printed[2].stdout
