"""The server over streamable HTTP: old and new protocol versions, health, safety, and a clean stop."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from mcp import Client
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount

from fingerpost.apps.mcp.http import new_config
from fingerpost.apps.mcp.listener import Access, Address, build_address_key
from fingerpost.apps.settings import read_settings
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import build
from fingerpost.errors import SettingsInvalid
from fingerpost.transit.kernel_mode import mark_compiled
from tests.apps.clients import ERAS, LOOPBACK, calling, post, request_of
from tests.apps.processes import DEADLINE_S, serving
from tests.apps.questions import KAMPPI_TO_ESPOO

NAMED, PUBLIC = Access(allowed_hosts=["trips.example"]), Access(is_public=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(FINGERPOST_HOME=str(tmp_path_factory.mktemp("home")), ready=True) as server:
        yield server


@ERAS
async def test_a_trip_is_planned_over_http(served, mode):
    async with Client(f"{served.url}/mcp", mode=mode) as client:
        answer = await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)

    assert not answer.is_error
    assert answer.structured_content["destination"]["name"] == "Espoo"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("text", 'the arguments must be a JSON object, not the text "text"'),
        ([1], "the arguments must be a JSON object, not a list"),
        (None, "origin is missing; destination is missing"),
    ],
)
def test_arguments_other_than_an_object_are_a_validation_error(served, arguments, sentence):
    """The protocol's own refusal would never reach a model."""
    with httpx2.Client(base_url=served.url) as client:
        answer = post(client, "plan_trip", arguments).json()["result"]

    assert answer["isError"]
    assert answer["structuredContent"]["error"]["message"] == sentence


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ("plans", ["tool_details", "run_plan", "get_plan_run"]),
        ("london,plans", ["planJourney", "tool_details", "run_plan", "get_plan_run"]),
    ],
)
async def test_the_path_selects_groups_of_tools(served, groups, names):
    async with Client(f"{served.url}/mcp/{groups}") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names


def test_a_tool_of_another_group_does_not_exist_at_the_path(served):
    body, headers = request_of("get_user_variables", {})
    answer = httpx2.post(f"{served.url}/mcp/plans", json=body, headers=headers).json()["result"]

    assert (answer["isError"], "get_user_variables" in answer["content"][0]["text"]) == (True, True)


def test_an_unknown_group_in_the_path_is_not_found(served):
    body, headers = request_of("get_user_variables", {})
    answer = httpx2.post(f"{served.url}/mcp/trip", json=body, headers=headers)

    assert (answer.status_code, answer.json()["error"]["message"][:35]) == (404, "There is no tool group called trip.")


async def test_it_is_healthy_before_it_is_ready(application):
    async with calling(application) as client:
        health, ready = await client.get("/health"), await client.get("/ready")

    assert (health.status_code, ready.status_code) == (200, 503)
    assert ready.json()["reason"] == "The networks are being opened"


async def test_the_server_is_not_ready_while_its_home_folder_is_missing(application, home):
    warm_up = WarmUp(application.networks, needs_engine=False)
    home.mkdir(exist_ok=True)
    found = []
    for is_there in (True, False):
        if not is_there:
            shutil.rmtree(home)
        async with calling(application, warm_up=warm_up) as client:
            answer = await client.get("/ready")
            found.append((answer.status_code, answer.json().get("reason")))

    assert found == [(200, None), (503, "The home folder is not writable: No such file or directory")]


async def test_the_server_is_not_ready_while_its_database_is_down(home, monkeypatch):
    monkeypatch.setenv("FINGERPOST_DATABASE_URL", "postgresql://ann:s3cr3t@127.0.0.1:1/x")
    application = build(read_settings())
    async with calling(application, warm_up=WarmUp(application.networks, needs_engine=False)) as client:
        answer = await client.get("/ready")

    assert (answer.status_code, answer.json()["reason"]) == (
        503,
        "The database cannot be reached; try again in a moment",
    )


@pytest.mark.parametrize(
    ("address", "access", "host", "status"),
    [
        (LOOPBACK, Access(), "localhost:8000", 200),
        (LOOPBACK, Access(), "trips.example", 421),
        (LOOPBACK, NAMED, "trips.example", 200),
        (LOOPBACK, NAMED, "trips.example:443", 200),
        (LOOPBACK, Access(allowed_hosts=["Trips.example"]), "trips.Example:443", 200),
        (Address("192.0.2.7", 8000), PUBLIC, "192.0.2.7:8000", 200),
    ],
)
async def test_the_names_that_it_may_be_called_by(application, address, access, host, status):
    async with calling(application, at=address, access=access) as client:
        answer = await post(client, "find_stops", {}, Host=host)

    assert answer.status_code == status


async def test_no_request_is_redirected_to_the_host_that_it_names(application):
    async with calling(application, "http://elsewhere.example") as client:
        answer = await client.post("/mcp/", json={})

    assert answer.status_code == 404


NOBODY = "validation-error"


@pytest.mark.parametrize(
    ("host", "access", "headers", "outcome"),
    [
        ("127.0.0.1", Access(), {}, None),
        ("::1", Access(), {}, None),
        ("localhost", Access(), {}, None),
        ("127.0.0.1", NAMED, {}, NOBODY),
        ("127.0.0.1", Access(), {"X-Forwarded-For": "203.0.113.5"}, NOBODY),
        ("127.0.0.1", Access(), {"Forwarded": "for=203.0.113.5"}, NOBODY),
        ("127.0.0.1", Access(), {"X-Forwarded-Port": "443"}, NOBODY),
        ("127.0.0.1", Access(), {"CF-Connecting-IP": "203.0.113.5"}, NOBODY),
    ],
)
async def test_only_a_caller_on_this_machine_stores_variables(application, host, access, headers, outcome):
    """Callers behind a proxy would share one user otherwise (rule A12)."""
    async with calling(application, at=Address(host, 8000), access=access) as client:
        answer = (await post(client, "get_user_variables", {}, **headers)).json()["result"]

    assert answer["structuredContent"].get("error", {}).get("code") == outcome


@pytest.mark.parametrize(
    ("host", "machine"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("2001:db8::1:2", "2001:db8::/64"),
        ("::ffff:203.0.113.5", "203.0.113.5"),
        ("::1", "::1"),
    ],
)
def test_limits_count_a_caller_by_its_address_or_its_ipv6_network(host, machine):
    assert build_address_key(host) == machine


@pytest.mark.parametrize(
    ("proxies", "forwarded"),
    [
        ([], "127.0.0.1"),
        (["127.0.0.1/32"], "::ffff:203.0.113.5"),
        (["10.0.0.0/8"], "127.0.0.1"),
        (["127.0.0.1/32", "203.0.113.0/24"], "198.51.100.9"),
    ],
)
async def test_only_a_trusted_proxy_names_the_caller(monkeypatch, proxies, forwarded):
    """Whoever reaches the port could take another's turns and limits otherwise; the environment does not count."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["client"][0])
        await Response()(scope, receive, send)

    config = new_config(Starlette(routes=[Mount("/", app)]), Access(trusted_proxies=proxies))
    config.load()
    transport = httpx2.ASGITransport(config.loaded_app, client=("127.0.0.1", 5))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        await client.get("/", headers={"X-Forwarded-For": "198.51.100.9, ::ffff:203.0.113.5"})

    assert seen == [forwarded]


@pytest.mark.parametrize("text", ["8000", "host:", ":8000", "host:port", "127.0.0.1:65536", "127.0.0.1:-1"])
def test_an_invalid_address_is_reported(text):
    with pytest.raises(SettingsInvalid, match=r"is not an address\. Write it like 127\.0\.0\.1:8000$"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("0.0.0.0:65535", Address("0.0.0.0", 65535)),
        ("[::1]:80", Address("::1", 80)),
    ],
)
def test_an_address_is_host_and_port_with_brackets_for_ipv6(text, address):
    assert Address.parse(text) == address


def test_a_publicly_reachable_address_is_refused(invoke):
    ended = invoke("serve", "--http", "0.0.0.0:0")

    assert ended.returncode == 2
    assert "Other machines can reach 0.0.0.0, and any of them could call the tools. Add --public" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_even_while_it_compiles(number, tmp_path, monkeypatch):
    """The folder claims to hold compiled kernels, so the server compiles in its own process."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    mark_compiled()
    with serving() as server:
        server.process.send_signal(number)

        assert server.process.wait(DEADLINE_S) == 0


@pytest.mark.parametrize(
    ("version", "meta", "kind"),
    [("2026-07-28", {}, "application/json"), ("2025-11-25", {"progressToken": 7}, "text/event-stream")],
    ids=["in one body", "on a stream"],
)
def test_a_running_call_is_answered_when_the_server_stops(tmp_path, version, meta, kind):
    """The tool waits for a pipe, so the signal surely comes while the call runs."""
    body, headers = request_of("slow", {}, version=version, **meta)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        serving(sys.executable, "-m", "tests.apps.plan_server", str(pipe), "http") as server,
        httpx2.Client(base_url=server.url, timeout=DEADLINE_S) as client,
        ThreadPoolExecutor() as threads,
    ):
        asked = threads.submit(client.post, "/mcp", json=body, headers=headers)
        server.wait_for("the call is running")
        server.process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            # Longer than the stream's library takes to notice.
            server.process.wait(1.0)
        pipe.write_text("go on")
        answer = asked.result()

        assert answer.headers["content-type"].split(";")[0] == kind
        assert '"text":"done"' in answer.text
        assert server.process.wait(DEADLINE_S) == 0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("Timetable.Example", 200),
        ("[::1]:8000", 200),
        ("10.1.2.3:8000", 200),
        ("[fd00::2]", 200),
        ("10.1.2.3.rebound.example", 421),
        ("timetable.example.rebound.example", 421),
        ("", 421),
    ],
)
async def test_a_name_that_is_not_the_servers_is_refused(application, host, status):
    """A page elsewhere whose name points to us asks under that name; probes ask by address."""
    async with calling(application, access=Access(allowed_hosts=["timetable.example"])) as client:
        assert (await client.get("/health", headers={"Host": host})).status_code == status
