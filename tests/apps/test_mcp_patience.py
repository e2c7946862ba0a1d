"""Half-sent requests are not kept for ever: neither their headers nor their bodies."""

import asyncio
from contextlib import asynccontextmanager

import pytest
import uvicorn

from fingerpost.apps.mcp import http_patience
from fingerpost.apps.mcp.address import Address
from fingerpost.apps.mcp.http import new_app
from fingerpost.apps.warm_up import WarmUp

DEADLINE_S = 30
HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n"


@pytest.fixture
def brief(monkeypatch):
    """Little patience."""
    monkeypatch.setattr(http_patience, "HEADERS_S", 0.2)
    monkeypatch.setattr(http_patience, "BODY_S", 0.2)


@asynccontextmanager
async def listening(application):
    """A server of ours in this process, by its port."""
    app = new_app(application, Address("127.0.0.1", 8000), WarmUp(application.networks))
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, http=http_patience.PatientProtocol)
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
        await asyncio.sleep(0)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def connected(application):
    """A connection to such a server."""
    async with listening(application) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()


async def read_all(reader):
    return await asyncio.wait_for(reader.read(), DEADLINE_S)


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HT", HEAD], ids=["nothing", "half a line", "half of the headers"])
async def test_a_connection_without_whole_headers_is_closed(application, brief, sent):
    """Whatever of them came."""
    async with connected(application) as (reader, writer):
        writer.write(sent)
        assert await read_all(reader) == b""


async def test_a_body_that_stops_half_way_is_refused(application, brief):
    """With 408, and the connection ends."""
    async with connected(application) as (reader, writer):
        writer.write(HEAD + b"\r\n{")
        assert (await read_all(reader)).startswith(b"HTTP/1.1 408 ")


async def test_the_second_request_of_a_connection_is_waited_for_as_long(application, brief):
    """One answered request is no licence."""
    async with connected(application) as (reader, writer):
        writer.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET /heal")
        told = await read_all(reader)
        assert told.startswith(b"HTTP/1.1 200 ")
        assert told.count(b"HTTP/1.1") == 1


async def test_a_whole_request_is_answered(application):
    """In pieces, with the usual patience."""
    async with connected(application) as (reader, writer):
        for piece in (b"GET /health HT", b"TP/1.1\r\nhost: 127.0.0.1\r\n", b"connection: close\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
        assert b'"status":"ok"' in await read_all(reader)
