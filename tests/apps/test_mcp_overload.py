"""More calls than a process has room for are refused at once, and never kept waiting."""

import asyncio
from dataclasses import replace

import pytest
from mcp import Client

from fingerpost.apps.mcp import http_patience
from fingerpost.apps.mcp.server import new_server
from fingerpost.contract.envelope import Family
from fingerpost.contract.published import PublishedTool
from fingerpost.contract.wire import WireModel
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.apps.test_mcp_patience import connected, read_all


class Nothing(WireModel):
    """No field."""


class Held(PublishedTool):
    """Answers when it is let go."""

    name = "held"
    title = "Held"
    description = "Waits."
    family = Family.BOARD
    group = "core"
    input_model = Nothing
    output_shape = Nothing

    def __init__(self):
        self.entered, self.released = asyncio.Event(), asyncio.Event()

    async def handle(self, arguments, call):
        self.entered.set()
        await self.released.wait()
        return {}

    def describe(self, answer):
        return "done"


@pytest.mark.parametrize("most", [1, 2])
async def test_one_call_more_than_there_is_room_for_is_told_to_come_again(application, most):
    """While the first one runs; whoever has room is answered, and the first one in the end."""
    held = Held()
    settings = application.settings.model_copy(update={"max_concurrent_calls": most})
    crowded = replace(application, settings=settings, tools={**application.tools, "held": held})
    server = new_server(crowded, user="eva")
    async with Client(server) as first, Client(server) as second:
        waiting = asyncio.create_task(first.call_tool("held", {}))
        await held.entered.wait()
        answer = await second.call_tool("plan_trip", KAMPPI_TO_ESPOO)
        held.released.set()
        ended = await waiting
        later = await second.call_tool("plan_trip", KAMPPI_TO_ESPOO)

    assert not ended.is_error
    assert not later.is_error
    assert answer.is_error is (most == 1)
    if most == 1:
        error = answer.structured_content["error"]
        assert (error["code"], error["retryAfter"]) == ("rate-limited", 1)
        assert answer.content[0].text == (
            "rate-limited: The server is full: as many calls run as it answers at a time (1)."
            " Wait 1 s before the next call."
        )


@pytest.mark.parametrize(("most", "status"), [(0, b"503"), (1, b"200")])
async def test_one_connection_more_than_there_is_room_for_is_shed(application, monkeypatch, most, status):
    """It is told so before it has sent anything, and when to come again."""
    monkeypatch.setattr(http_patience, "MOST_CONNECTIONS", most)
    async with connected(application) as (reader, writer):
        if most:
            writer.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        told = await read_all(reader)

    assert told.startswith(b"HTTP/1.1 " + status)
    assert (b"Retry-After: 1\r\n" in told) is (most == 0)
