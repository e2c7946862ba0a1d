"""A language model as planner, against an endpoint that speaks OpenAI's protocol on this machine."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from fingerpost.errors import PlanInvalid, SourceFailed
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.language_model import LanguageModelPlanner, plan_model
from fingerpost.plan.planners import PlanningCapability
from tests.plan.drawing import FINANCIAL, Recorder

pytest.importorskip("pydantic_ai", reason="needs the extra [llm]")

CATALOGUE = Catalogue.of([FINANCIAL, Recorder().tool()])


def written(number=1, tool="echo", dependencies=(), **arguments):
    """Draw a step as a model writes it."""
    query_type = "financial_facts" if tool == "sec_financial_data" else tool
    return {
        "step_id": number,
        "tool": tool,
        "parameters": {"query_type": query_type, "parameters": arguments},
        "expected_key": f"k{number}",
        "dependencies": list(dependencies),
    }


@contextmanager
def endpoint(*answers, status=200):
    """Serve scripted plans; yield the address and the list of requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            requests.append(request)
            plan = answers[min(len(requests), len(answers)) - 1] if answers else {}
            name = request["tools"][0]["function"]["name"] if request.get("tools") else "none"
            call = {"id": f"c{len(requests)}", "type": "function",
                    "function": {"name": name, "arguments": json.dumps(plan)}}  # fmt: skip
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            body = {"id": "x", "object": "chat.completion", "created": 1, "model": "fake",
                    "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip
            payload = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def capability(url):
    return PlanningCapability(CATALOGUE, [LanguageModelPlanner.at(url, "fake", None)])


async def test_a_model_writes_a_plan_that_is_checked():
    """What it writes becomes the plan-step contract's plan."""
    with endpoint({"steps": [written(n=3)]}) as (url, requests):
        plan = await capability(url).create_plan("echo three")

    assert [(step.tool, step.parameters["parameters"]) for step in plan.steps] == [("echo", {"n": 3})]
    assert len(requests) == 1


async def test_every_mistake_goes_back_to_the_model():
    """First a tool that does not exist, then a step that does not exist; the third plan holds."""
    answers = [
        {"steps": [written(tool="teleport")]},
        {"steps": [written(n=3, dependencies=[7])]},
        {"steps": [written(n=3)]},
    ]
    with endpoint(*answers) as (url, requests):
        plan = await capability(url).create_plan("echo three")

    assert (len(plan.steps), len(requests)) == (1, 3)
    assert "teleport" in json.dumps(requests[1]["messages"][-1])
    assert "dependencies name step 7, which does not exist; there are 1" in json.dumps(requests[2]["messages"][-1])


async def test_a_model_that_never_writes_a_sound_plan_is_given_up():
    """Within its bound, with the last complaint."""
    message = "wrote no plan that holds: The plan cannot run: step 1: parameters"
    with endpoint({"steps": [written(n="x")]}) as (url, requests), pytest.raises(PlanInvalid, match=message):
        await capability(url).create_plan("echo three")

    assert len(requests) == 3


async def test_a_model_that_lacks_something_says_so():
    """No steps, and what is missing: an honest error, no default plan."""
    with (
        endpoint({"steps": [], "missing": "which company"}) as (url, _requests),
        pytest.raises(PlanInvalid, match=r"^The goal lacks something: which company$"),
    ):
        await capability(url).create_plan("revenue")


async def test_an_endpoint_that_fails_is_a_source_that_fails():
    """The caller learns the status."""
    with endpoint(status=400) as (url, _requests), pytest.raises(SourceFailed, match="status 400"):
        await capability(url).create_plan("revenue")


def test_the_registry_is_the_output_schema():
    """One kind of step a tool; the name of a tool is a constant, so another name is an error of form."""
    schema = plan_model(CATALOGUE).model_json_schema()

    assert schema["properties"]["steps"]["items"]["discriminator"]["propertyName"] == "tool"
    assert schema["$defs"]["echo_step"]["properties"]["tool"]["const"] == "echo"
