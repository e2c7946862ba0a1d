"""The remarks in a tool's response reach the user of a plan run: a property of all tools."""

import asyncio
import json

import pytest

from fingerpost.apps import error_boundary
from tests.apps.questions import CASES

OWN_TOOLS = {"run_plan", "get_plan_run"}


@pytest.fixture
def run_step(application):
    """Run one call as a step whose output path leads past all that the tool says; also call the tool itself."""

    def run(tool, parameters):
        async def both():
            question = parameters if "query_type" in parameters else {"query_type": tool, "parameters": parameters}
            alone = await application.tools[tool].execute(question["query_type"], question["parameters"], user="ann")
            step = {"step_id": 7, "description": "ask", "tool": tool, "parameters": parameters, "output_path": ["nil"]}
            answer = await error_boundary.answer(
                application.tools, "run_plan", {"plan": {"goal": "g", "steps": [step]}}, user="ann"
            )
            return alone, answer

        return asyncio.run(both())

    yield run
    application.runs.journal.close()


def said_by(value):
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "parameters" or not item:
                continue
            if name in ("missing", "notes", "note", "hint", "did_you_mean", "candidates", "warnings"):
                yield name, item
            else:
                yield from said_by(item)
    elif isinstance(value, list):
        for item in value:
            yield from said_by(item)


def sentences_of(name, value):
    if name == "candidates":
        # What tells candidates apart is keyed by their tokens.
        return list(value) if isinstance(value, dict) else [each.get("token") or each.get("id") for each in value]
    if name == "missing":
        return [
            text
            for why in value.values()
            for text in (why["message"], why["next_step"], *(why.get("did_you_mean") or ()))
        ]
    if name == "warnings":
        return [each["message"] for each in value]
    return [value] if isinstance(value, str) else value


def without_nulls(value):
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_every_tool_is_called(application):
    assert {tool for tool, _parameters in CASES} == set(application.tools) - OWN_TOOLS


@pytest.mark.parametrize(("tool", "parameters"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_the_output_of_a_tool_is_in_the_runs_answer(run_step, tool, parameters):
    alone, answer = run_step(tool, parameters)
    [step] = answer.body["data"]["steps"]
    kept = [json.dumps(remark["value"], sort_keys=True) for remark in step["remarks"]]
    said = [(name, without_nulls(value)) for name, value in said_by(alone)]

    assert [name for name, value in said if json.dumps(value, sort_keys=True) not in kept] == []
    sentences = [text.rstrip(".") for name, value in said for text in sentences_of(name, value)]
    assert [text for text in sentences if text not in answer.text] == []
    assert answer.body["data"]["remarks_left_out"] == 0
    assert step.get("error") == (alone.get("error") or alone.get("warning"))
