"""Clients of the server: over the protocol in memory, and over HTTP in this process."""

import asyncio
import hashlib
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvicorn
from mcp import Client

from fingerpost.apps.mcp.http import new_app
from fingerpost.apps.mcp.listener import LOCAL_ACCESS, Address, listen
from fingerpost.apps.mcp.server import Caller, new_server
from fingerpost.apps.warm_up import WarmUp

# Tests over both protocol eras.
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
LOOPBACK = Address("127.0.0.1", 8000)
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def connect(application, mode="auto", *, user="eva", **options):
    return Client(new_server(application, lambda _: Caller(user)), mode=mode, **options)


def call_of(name, arguments, **meta):
    return {"name": name, "arguments": arguments, "_meta": {**_META, **meta}}


def request_of(name, arguments, *, version="2026-07-28", **meta):
    """Return the body and the headers of a call over HTTP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call_of(name, arguments, **meta)}
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": name,
    }
    return body, headers


def accept_tokens(path, monkeypatch, **subjects):
    """Let servers accept these tokens, each with its subject and scopes."""
    lines = [f"{hashlib.sha256(token.encode()).hexdigest()} {subject}\n" for token, subject in subjects.items()]
    path.write_text("".join(["# token, subject, scopes\n", *lines]), encoding="utf-8")
    monkeypatch.setenv("FINGERPOST_TOKENS_FILE", str(path))


def post(client, name, arguments, **headers):
    body, usual = request_of(name, arguments)
    return client.post("/mcp", json=body, headers={**usual, **headers})


def new_local_app(application, *, at=LOOPBACK, access=LOCAL_ACCESS, warm_up=None, site=None):
    return new_app(application, at, warm_up or WarmUp(application.networks), access, site)


@asynccontextmanager
async def calling(application, url="http://127.0.0.1:8000", *, caller="127.0.0.1", **options):
    """Serve an application to one caller; the options are those of ``new_local_app``."""
    app = new_local_app(application, **options)
    transport = httpx2.ASGITransport(app, client=(caller, 1))
    async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport, base_url=url) as client:
        yield client


@asynccontextmanager
async def serving_here(app, trusted_proxies=(), **options):
    """Serve an application on a free port of this machine; yield its host and port."""
    listener = listen(Address("127.0.0.1", 0), trusted_proxies)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, **options))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
        await asyncio.sleep(0)
    try:
        yield listener.getsockname()
    finally:
        server.should_exit = True
        await task
