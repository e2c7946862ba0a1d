"""More calls than a process has room for are refused at once, and never kept waiting."""

import asyncio
from dataclasses import replace

import pytest
from mcp import Client

from fingerpost.apps.mcp import http_patience
from fingerpost.contract.envelope import Family
from fingerpost.contract.published import PublishedTool
from fingerpost.contract.wire import WireModel
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.apps.test_mcp_patience import connected, listening, read_all


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
    async with listening(crowded) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(url) as first, Client(url) as second:
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
            "rate-limited: The server is full: it takes 1 requests at a time. Wait 1 s before the next call."
        )


async def test_requests_that_have_not_begun_are_counted(application):
    """Ten come in one moment, and each would be answered without a pause: no more than one ever runs."""
    settings = application.settings.model_copy(update={"max_concurrent_calls": 4})
    async with listening(replace(application, settings=settings)) as port:
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_user_variables","arguments":{}}}'
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
        for _, writer in pairs:
            writer.write(ask_of(body))
        answers = [await read_all(reader) for reader, _ in pairs]
        for _, writer in pairs:
            writer.close()

    assert sum(b"The server is full" in answer for answer in answers) == 6
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)


def ask_of(body):
    head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n"
    accept = b"accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n"
    return head + accept + b"content-length: %d\r\n\r\n%b" % (len(body), body)


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
