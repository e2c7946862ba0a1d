"""Progress notifications: clients that request them receive a run's id, in all versions and transports."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from fingerpost.apps.mcp import server
from fingerpost.apps.mcp.server import ProgressReporter
from fingerpost.errors import ParameterError
from fingerpost.transit.embedded import network
from tests.apps.clients import ERAS, connect, request_of
from tests.apps.plan_server import PLAN
from tests.apps.processes import COMMAND, DEADLINE_S, serving
from tests.project.sources import ROOT

pytestmark = pytest.mark.slow

TRIP = json.loads((Path(__file__).parents[2] / "examples" / "there_and_back.json").read_text())
STREAM = "application/json, text/event-stream"


@asynccontextmanager
async def connected(transport, mode, *command):
    if transport == "stdio":
        served = [*command] if command else [*COMMAND, "serve"]
        server = StdioServerParameters(command=served[0], args=served[1:], env=dict(os.environ), cwd=str(ROOT))
        async with Client(server, mode=mode) as client:
            yield client
        return
    with serving(*([*command, "http"] if command else ())) as server:
        async with Client(f"{server.url}/mcp", mode=mode) as client:
            yield client


def listener():
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))

    return heard, hear


@pytest.mark.parametrize(("transport", "mode"), [("stdio", "auto"), ("http", "legacy")])
async def test_a_started_plan_reports_its_id(transport, mode):
    heard, hear = listener()
    async with connected(transport, mode) as client:
        answer = await client.call_tool("run_plan", {"plan": TRIP, "wait_seconds": 60}, progress_callback=hear)

    # On a busy machine, the server also reports that it waits for the compiler.
    assert f"Run {answer.structured_content['data']['run_id']}" in [message for *_, message in heard]


@ERAS
async def test_progress_is_sent_only_on_request(application, mode):
    messages = []

    async def keep(message):
        messages.append(message)

    async with connect(application, mode, message_handler=keep) as client:
        answer = await client.call_tool("run_plan", {"plan": TRIP})
    application.runs.journal.close()

    assert (answer.is_error, messages) == (False, [])


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize(
    ("token", "accept", "kind", "observed"),
    [
        (None, STREAM, "application/json", set()),
        ("t", "application/json", "application/json", set()),
        ("t", STREAM, "text/event-stream", {"t"}),
        (7, STREAM, "text/event-stream", {7}),
    ],
    ids=["no token", "no stream", "text token", "number token"],
)
def test_http_streams_need_a_token(shared, version, token, accept, kind, observed):
    arguments = {"plan": {"goal": "g", "steps": [{"step_id": 1, "description": "think"}]}}
    meta = {} if token is None else {"progressToken": token}
    body, headers = request_of("run_plan", arguments, version=version, **meta)
    with httpx2.Client(base_url=shared.url, timeout=DEADLINE_S) as client:
        answer = client.post("/mcp", json=body, headers={**headers, "accept": accept})
    # How many reports are sent depends on how long the steps take.
    tokens = {
        json.loads(line.removeprefix("data: "))["params"]["progressToken"]
        for line in answer.text.splitlines()
        if "notifications/progress" in line
    }

    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
    assert tokens == observed
    assert '"state":"completed"' in answer.text


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with serving(FINGERPOST_HOME=str(tmp_path_factory.mktemp("home"))) as server:
        yield server


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_outside_of_calls_there_is_no_progress(shared, method):
    """The server keeps no session, so it offers no stream of its own, and has none to end."""
    with httpx2.Client(base_url=shared.url, timeout=DEADLINE_S) as client:
        answer = client.request(method, "/mcp", headers={"accept": "text/event-stream"})

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


class Waiting:
    def __init__(self, pipe):
        self.pipe = pipe
        self.begun = asyncio.Event()
        self.heard = []
        os.mkfifo(pipe)

    async def hear(self, _progress, _total, message):
        self.heard.append(message)
        self.begun.set()

    @property
    def run_id(self):
        return self.heard[0].removeprefix("Run ")


@pytest.fixture
def waiting(tmp_path):
    return Waiting(tmp_path / "pipe")


def calls_of(pipe):
    return Path(f"{pipe}.calls").read_text().splitlines()


@pytest.mark.parametrize(("transport", "mode"), [("stdio", "legacy"), ("http", "auto")])
async def test_a_disconnected_caller_ends_no_run(transport, mode, waiting):
    """The client sends ``notifications/cancelled``, or closes its stream; the run goes on, and its tool is asked once.

    What it heard before names the run (decision 0110).
    """
    pipe = waiting.pipe
    async with connected(transport, mode, sys.executable, "-m", "tests.apps.plan_server", str(pipe)) as client:
        asked = asyncio.create_task(client.call_tool("run_plan", {"plan": PLAN}, progress_callback=waiting.hear))
        async with asyncio.timeout(DEADLINE_S):
            await waiting.begun.wait()
            asked.cancel()
            await asyncio.wait([asked])
            run_id = waiting.run_id
            meanwhile = await client.call_tool("get_plan_run", {"run_id": run_id})
            joined = asyncio.Event()

            async def note(*_told):
                joined.set()

            resume = {"run_id": run_id, "action": "resume"}
            later = asyncio.create_task(client.call_tool("run_plan", resume, progress_callback=note))
            # A run that has ended is not resumed: the tool waits until this call is heard of.
            await joined.wait()
            await asyncio.to_thread(pipe.write_text, "go on")
            ended = (await later).structured_content["data"]

    assert asked.cancelled()
    assert meanwhile.structured_content["data"]["state"] == "running"
    assert (ended["state"], [value["key"] for value in ended["values"]]) == ("completed", ["waited"])
    assert calls_of(pipe) == ["called"]


async def test_a_run_is_cancelled_by_the_action_and_its_waiter_is_notified(waiting):
    pipe = waiting.pipe
    async with connected("stdio", "auto", sys.executable, "-m", "tests.apps.plan_server", str(pipe)) as client:
        asked = asyncio.create_task(client.call_tool("run_plan", {"plan": PLAN}, progress_callback=waiting.hear))
        async with asyncio.timeout(DEADLINE_S):
            await waiting.begun.wait()
            run_id = waiting.run_id
            await client.call_tool("run_plan", {"run_id": run_id, "action": "cancel"})
            ended = (await asked).structured_content["data"]
            await asyncio.to_thread(pipe.write_text, "too late")

    assert (ended["state"], ended["progress"]["completed"]) == ("cancelled", 0)


class Session:
    """Keeps what it is told; each message takes a turn of the loop."""

    def __init__(self):
        self.observed = []

    async def report_progress(self, progress, total, message):
        await asyncio.sleep(0)
        self.observed.append((progress, total, message))


async def report(session, *reports, turns=20):
    async with ProgressReporter(session) as reporting:
        for each in reports:
            reporting.report(*each)
            for _turn in range(turns):
                await asyncio.sleep(0)
    return reporting


@pytest.mark.parametrize(
    ("reports", "turns", "sent"),
    [
        ([(done, 1000, str(done)) for done in range(1000)], 0, [(999, 1000, "999")]),
        ([(done, 3, "x") for done in (1, 1, 0.5, 2, 2)], 20, [(1, 3, "x"), (2, 3, "x")]),
        ([(1, 3, "x" * 301)], 20, [(1, 3, "x" * 300 + "…")]),
    ],
    ids=["many at once", "not rising", "long words"],
)
async def test_reports_are_few_rising_and_short(reports, turns, sent):
    """The newest of many wins, and the last of all is always sent; the protocol forbids a value that does not rise."""
    session = Session()
    await report(session, *reports, turns=turns)

    assert session.observed == sent


async def test_nothing_is_sent_after_the_answer():
    session = Session()
    broken_off = ProgressReporter(session)
    await broken_off.__aenter__()
    broken_off.report(1, 3, "never sent")
    await broken_off.__aexit__(asyncio.CancelledError, asyncio.CancelledError(), None)
    answered = await report(session, (1, 3, "sent"))
    answered.report(2, 3, "too late")
    for _turn in range(20):
        await asyncio.sleep(0)

    assert session.observed == [(1, 3, "sent")]


@pytest.fixture
def compiling(monkeypatch):
    monkeypatch.setattr(server, "_EXPLAIN_AFTER_S", 0.0)
    monkeypatch.setattr(server, "_EXPLAIN_INTERVAL_S", 0.0)
    monkeypatch.setattr(server, "is_compiling", lambda: True)


async def test_callers_who_wait_for_the_compiler_get_progress(application, compiling, monkeypatch):
    told, is_told = [], asyncio.Event()

    async def hear(done, total, words):
        told.append((done, total, words))
        if len(told) == 2:
            is_told.set()

    async def wait(self, arguments, call):
        await is_told.wait()
        call.report(0, 5, "begun")
        raise ParameterError("enough")

    monkeypatch.setattr(type(application.tools["find_stops"]), "handle", wait)
    async with connect(application) as client:
        call = {"coordinate": {"lat": 60.17, "lon": 24.94}}
        await client.call_tool("find_stops", call, progress_callback=hear)

    counts = [done for done, _total, _words in told]
    assert counts == sorted(set(counts))
    assert told[0][2] == "Compiling the engine, which happens once and takes a minute or two; 0 s so far"
    assert told[-1][1:] == (5, "begun")


async def test_callers_without_progress_are_asked_to_retry_while_the_engine_compiles(application, monkeypatch):
    monkeypatch.setattr(server, "_MAX_SILENCE_S", 0.0)
    monkeypatch.setattr(network, "must_wait", lambda: True)
    async with connect(application) as client:
        answer = await client.call_tool("get_departures", {"stop": {"type": "label", "value": "Kamppi"}})

    error = answer.structured_content["error"]
    assert (error["retryAfter"], error["message"][:28]) == (30, "The engine is being compiled")


async def test_no_progress_is_sent_after_the_last_step(compiling):
    """Another call may be what compiles it; the last report stays that of the last step."""
    session = Session()
    await report(session, (5, 5, "done"))

    assert session.observed == [(5, 5, "done")]
