"""Two callers of an HTTP server that a file in ``deploy/`` starts: neither sees what the other stores."""

import ipaddress
import json
import shlex
from contextlib import asynccontextmanager

import httpx2
import pytest

from fingerpost.apps.mcp.http import new_config
from fingerpost.apps.mcp.listener import Access, Address, parse_ip_networks
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.apps.clients import accept_tokens, new_local_app, post
from tests.deploy.test_containers import SERVICES, find_all, parse_command
from tests.deploy.test_units import read_keys

COMMANDS = {
    "Containerfile": json.loads(find_all("CMD")[0]),
    "compose.yaml": SERVICES["server"]["command"],
    "fingerpost.service": ["fingerpost", *shlex.split(read_keys("fingerpost.service")["ExecStart"])[1:]],
}
ADDRESSES = {"ann": "203.0.113.5", "bob": "198.51.100.9"}
HOME = {"key": "home", "type": "location", "value": {"lat": 60.16, "lon": 24.93}}
PLAN = {"goal": "Wait", "steps": [{"step_id": 1, "description": "May we?", "agent": "human"}]}


@asynccontextmanager
async def calling(command):
    """Serve with the options of a command, behind its proxy if it trusts one; callers with a token send their name."""
    options = parse_command(command).params
    proxies = parse_ip_networks(options["trusted_proxy"] or ())
    hosts, settings = options["allow_host"] or (), read_settings()
    access = Access(allowed_hosts=hosts, trusted_proxies=proxies, is_public=options["public"])
    app = new_local_app(build(settings), at=Address.parse(options["http"]), access=access)
    config = new_config(app, access)
    config.load()

    async def call(caller, name, arguments):
        proxy = next((str(ipaddress.ip_network(network)[0]) for network in proxies), None)
        transport = httpx2.ASGITransport(config.loaded_app, client=(proxy or ADDRESSES[caller], 1))
        headers = {"x-forwarded-for": ADDRESSES[caller]} if proxy else {}
        if settings.tokens_file:
            headers["authorization"] = f"Bearer {caller}"
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return (await post(client, name, arguments, **headers)).json()["result"]["structuredContent"]

    async with app.router.lifespan_context(app):
        yield call


@pytest.mark.parametrize("file", COMMANDS)
async def test_nothing_is_stored_for_anonymous_callers_and_no_run_is_listed(file):
    async with calling(COMMANDS[file]) as call:
        saved = await call("ann", "save_user_variable", HOME)
        begun = await call("ann", "run_plan", {"plan": PLAN})
        seen = [await call(name, "get_user_variables", {}) for name in ADDRESSES]
        runs = [await call(name, "get_plan_run", {}) for name in ADDRESSES]

    assert [body["error"]["code"] for body in (saved, *seen)] == ["validation-error"] * 3
    assert begun["data"]["state"] == "waiting"
    assert [body["error"] for body in runs] == ["no user is signed in, so runs are not listed"] * 2


@pytest.mark.parametrize("file", COMMANDS)
async def test_callers_with_tokens_reach_only_what_is_theirs(file, tmp_path, monkeypatch):
    accept_tokens(tmp_path / "tokens", monkeypatch, ann="ann", bob="bob")
    async with calling(COMMANDS[file]) as call:
        await call("ann", "save_user_variable", HOME)
        run_id = (await call("ann", "run_plan", {"plan": PLAN}))["data"]["run_id"]
        attempts = [
            ("get_plan_run", {"run_id": run_id}),
            *(("run_plan", {"run_id": run_id, "action": action}) for action in ("cancel", "resume")),
            ("run_plan", {"run_id": run_id, "action": "approve", "step_id": 1}),
            ("run_plan", {"run_id": run_id, "action": "replace", "plan": PLAN}),
            ("run_plan", {"plan": PLAN, "memory_of": run_id}),
        ]
        refused = [(await call("bob", *attempt))["error"] for attempt in attempts]
        seen = await call("bob", "get_user_variables", {}), await call("bob", "get_plan_run", {})
        deleted = await call("bob", "delete_user_variable", {"all": True})
        kept = await call("ann", "get_user_variables", {}), await call("ann", "get_plan_run", {})

    assert set(refused) == {f"There is no run '{run_id}'"}
    assert (seen[0]["variables"], seen[1]["results"], deleted["deleted"]) == ([], [], [])
    assert (kept[0]["variables"][0]["key"], kept[1]["results"][0]["run_id"]) == ("home", run_id)
