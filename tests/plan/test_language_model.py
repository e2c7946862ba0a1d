"""Planning with a language model, against a local endpoint that uses OpenAI's protocol."""

import json
import logging
from contextlib import asynccontextmanager

import pytest

from fingerpost.errors import PlanInvalid, SourceFailed, ToolError
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.planners import PlanningCapability
from tests.net.local_server import LOOPBACK, answer
from tests.net.reply_server import serving_replies
from tests.plan.drawing import FINANCIAL, Recorder

language_model = pytest.importorskip("fingerpost.plan.language_model", reason="needs the extra [llm]")

CATALOGUE = Catalogue.of([FINANCIAL, Recorder().tool()])


def written(number=1, tool="echo", dependencies=(), **arguments):
    query_type = "financial_facts" if tool == "sec_financial_data" else tool
    return {
        "step_id": number,
        "tool": tool,
        "parameters": {"query_type": query_type, "parameters": arguments},
        "expected_key": f"k{number}",
        "dependencies": list(dependencies),
    }


@asynccontextmanager
async def endpoint(*answers, status="200 OK"):
    requests = []

    async def reply(asked):
        request = json.loads(asked.body)
        requests.append(request)
        plan = answers[min(len(requests), len(answers)) - 1] if answers else {}
        name = request["tools"][0]["function"]["name"] if request.get("tools") else "none"
        call = {"id": f"c{len(requests)}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(plan)}}  # fmt: skip
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "fake",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip
        return answer(status, json.dumps(body).encode(), Content_Type="application/json", Connection="close")

    async with serving_replies(reply) as port:
        yield f"http://{LOOPBACK}:{port.number}/v1", requests


def capability(url, key=None):
    return PlanningCapability(CATALOGUE, [language_model.LanguageModelPlanner(url, "fake", key).plan])


async def test_a_model_writes_a_plan_that_is_checked():
    async with endpoint({"steps": [written(n=3)]}) as (url, requests):
        plan = await capability(url).create_plan("echo three")

    assert [(step.tool, step.parameters["parameters"]) for step in plan.steps] == [("echo", {"n": 3})]
    assert len(requests) == 1
    schema = json.dumps(requests[0]["tools"])
    assert "n?: integer, label?: string" in schema
    assert '"const": "echo"' in schema


async def test_every_mistake_goes_back_to_the_model():
    answers = [
        {"steps": [written(tool="teleport")]},
        {"steps": [written(n=3, dependencies=[7])]},
        {"steps": [written(n=3)]},
    ]
    async with endpoint(*answers) as (url, requests):
        plan = await capability(url).create_plan("echo three")

    assert (len(plan.steps), len(requests)) == (1, 3)
    assert "teleport" in json.dumps(requests[1]["messages"][-1])
    assert "dependencies name step 7, which does not exist; available: 1" in json.dumps(requests[2]["messages"][-1])


async def test_a_model_that_never_writes_a_valid_plan_is_abandoned():
    message = "did not write a valid plan: The plan cannot run: step 1: parameters"
    async with endpoint({"steps": [written(n="x")]}) as (url, requests):
        with pytest.raises(PlanInvalid, match=message):
            await capability(url).create_plan("echo three")

    assert len(requests) == 3


async def test_a_model_reports_missing_input():
    async with endpoint({"steps": [], "missing": "which company"}) as (url, _requests):
        with pytest.raises(PlanInvalid, match=r"^The goal is incomplete: which company$"):
            await capability(url).create_plan("revenue")


async def test_an_endpoint_that_fails_is_a_source_that_fails():
    async with endpoint(status="400 Bad Request") as (url, _requests):
        with pytest.raises(SourceFailed, match="status 400"):
            await capability(url).create_plan("revenue")


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"steps": [written(n=3, label="m4rk3r-k3y")]}, "200 OK"),
        ({"steps": [], "missing": "not m4rk3r-k3y"}, "200 OK"),
        ({"steps": [{**written(n=3), "expected_key": "m4rk3r-k3y"}] * 2}, "200 OK"),
        ({"error": "unknown key m4rk3r-k3y"}, "401 Unauthorized"),
    ],
)
async def test_its_key_is_in_no_plan_error_or_log(told, status, caplog):
    """Whatever the endpoint repeats."""
    caplog.set_level(logging.DEBUG)
    async with endpoint(told, status=status) as (url, requests):
        try:
            outcome = repr(await capability(url, "m4rk3r-k3y").create_plan("echo three"))
        except ToolError as error:
            outcome = f"{error!r} {error.details} {error.hint}"

    assert requests
    assert "m4rk3r" not in outcome + "".join(map(logging.LogRecord.getMessage, caplog.records))
