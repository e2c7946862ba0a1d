"""Slow, large and greedy requests are refused, and other callers are still answered."""

import asyncio
import json
from contextlib import ExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from unittest.mock import Mock

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.server import _streamable_http_modern
from uvicorn import Config
from uvicorn.server import ServerState

from fingerpost.apps.mcp import http_limits, listener
from fingerpost.apps.mcp.http_limits import Admission
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.apps.clients import calling, new_local_app, post, request_of, serving_here
from tests.apps.scripted_tool import ScriptedTool

DEADLINE_S = 30
CHUNKED = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n"
HEAD = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n"


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(http_limits, "HEADERS_S", 0.2)
    monkeypatch.setattr(http_limits, "BODY_S", 0.2)


@asynccontextmanager
async def connected(application, trusted_proxies=()):
    options = {"http": http_limits.LimitedHttpProtocol, "timeout_keep_alive": DEADLINE_S}
    async with serving_here(new_local_app(application), trusted_proxies, **options) as address:
        reader, writer = await asyncio.open_connection(*address)
        try:
            yield reader, writer
        finally:
            writer.close()


class Endless(ScriptedTool):
    """Never answers; ``begun`` and ``cancelled`` are set when a call is."""

    def __init__(self):
        super().__init__({})
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def handle(self, arguments, call):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def write_call(version, **meta):
    content, headers = request_of("scripted", {}, version=version, **meta)
    body = json.dumps(content).encode()
    headers |= {"host": "127.0.0.1", "content-length": len(body)}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body


@asynccontextmanager
async def calling_endless(application, version, **meta):
    tool = Endless()
    served = replace(application, tools={tool.name: tool})
    async with connected(served) as (reader, writer), asyncio.timeout(DEADLINE_S):
        writer.write(write_call(version, **meta))
        yield tool, reader, writer


VERSIONS = pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])


@VERSIONS
async def test_a_call_ends_when_its_client_disconnects(application, version):
    async with calling_endless(application, version) as (tool, _reader, writer):
        await tool.begun.wait()
        writer.transport.abort()
        await tool.cancelled.wait()

    assert tool.cancelled.is_set()


@pytest.mark.parametrize("meta", [{}, {"progressToken": "t"}], ids=["JSON", "stream"])
async def test_an_abandoned_call_counts_for_another_second(application, monkeypatch, meta):
    """A caller could begin hundreds in a second otherwise."""
    monkeypatch.setattr(http_limits, "ABANDONED_S", DEADLINE_S)
    alone = replace(application, settings=application.settings.model_copy(update={"max_concurrent_calls": 2}))
    async with calling_endless(alone, "2025-11-25", **meta) as (tool, _reader, writer):
        await tool.begun.wait()
        writer.transport.abort()
        await tool.cancelled.wait()
        reader, again = await asyncio.open_connection(*writer.get_extra_info("peername"))
        again.write(write_call("2026-07-28"))
        status = await reader.readline()
        again.close()

    assert status.startswith(b"HTTP/1.1 429 ")


async def test_a_call_whose_client_has_disconnected_already_does_not_begin(application):
    """It could not be cancelled later: most calls never wait, so nothing else runs before they end."""
    tool, begun = ScriptedTool({}), []
    tool.handle = lambda arguments, call: begun.append(call) or ScriptedTool.handle(tool, arguments, call)
    served = replace(application, tools={tool.name: tool})
    async with connected(served) as (reader, writer), asyncio.timeout(DEADLINE_S):
        _, abandoned = await asyncio.open_connection(*writer.get_extra_info("peername"))
        abandoned.write(write_call("2026-07-28"))
        abandoned.transport.abort()
        writer.write(write_call("2026-07-28"))
        status = await reader.readline()

    assert (status[:12], len(begun)) == (b"HTTP/1.1 200", 1)


@VERSIONS
async def test_a_slow_call_is_cancelled_and_answered(application, monkeypatch, version):
    monkeypatch.setattr(http_limits, "ANSWER_S", 0.2)
    async with calling_endless(application, version) as (tool, reader, _writer):
        status = await reader.readline()
        # On a busy machine the limit can pass before the tool is called.
        if tool.begun.is_set():
            await tool.cancelled.wait()

    assert status.startswith(b"HTTP/1.1 504 ")


@VERSIONS
async def test_a_slow_call_with_progress_is_cancelled_and_told_so(application, monkeypatch, version):
    monkeypatch.setattr(http_limits, "ANSWER_S", 0.2)
    # The SDK begins the stream with the first notification, or after this time.
    monkeypatch.setattr(_streamable_http_modern, "_SSE_PING_INTERVAL", 0.05)
    async with calling_endless(application, version, progressToken="t") as (tool, reader, _writer):
        answered = await reader.readuntil(b"0\r\n\r\n")
        if tool.begun.is_set():
            await tool.cancelled.wait()

    assert b'"id": 1, "error": {"code": -32600, "message": "The call was cancelled after 120 s; ' in answered


@VERSIONS
async def test_a_call_that_ends_with_the_server_is_answered(application, version):
    """The server cancels calls that are left ten seconds after Ctrl-C, and logs what they raise with its traceback."""
    tool = Endless()
    app = new_local_app(replace(application, tools={tool.name: tool}))
    head, _, body = write_call(version).partition(b"\r\n\r\n")
    headers = [tuple(line.split(b": ", 1)) for line in head.splitlines()[1:]]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    received, sent = iter([{"type": "http.request", "body": body}]), []

    async def receive():
        return next(received, None) or await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    async with app.router.lifespan_context(app), asyncio.timeout(DEADLINE_S):
        asked = asyncio.create_task(app(scope, receive, send))
        await tool.begun.wait()
        asked.cancel()
        await asked

    assert sent[0]["status"] == 503


async def read_all(reader):
    return await asyncio.wait_for(reader.read(), DEADLINE_S)


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"", b""),
        (b"POST /mcp HT", b""),
        (HEAD, b""),
        (HEAD + b"\r\n{", b"HTTP/1.1 408 "),
        # A proxy that believes the other length would take the rest for a request of somebody else.
        (HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /health HTTP/1.1\r\nx: " + b"y" * 300_000, b""),
        (b"GET /health HTTP/1.1\r\n" + b"x: y\r\n" * 102, b"HTTP/1.1 400 "),
        (CHUNKED + b"1\r\n{\r\n" * 20_001, b"HTTP/1.1 400 "),
        (HEAD + b"HOST: evil.example\r\n\r\n", b"HTTP/1.1 400 "),
        (CHUNKED + b"0\r\n" + b"x: y\r\n" * 102, b"HTTP/1.1 400 "),
        (CHUNKED + b"0\r\nx: " + b"y" * 4_000_000, b""),
    ],
    ids=["nothing", "half a line", "half of the headers", "half a body", "two lengths",
         "endless header", "endless headers", "tiny chunks", "two hosts", "endless trailers", "endless trailer"],
)  # fmt: skip
async def test_an_incomplete_ambiguous_or_endless_request_ends_its_connection(application, brief, sent, answered):
    """What is unread then may reset the connection."""
    async with connected(application) as (reader, writer):
        writer.write(sent)
        received = b""
        with suppress(ConnectionResetError):
            received = await read_all(reader)

    assert received[:13] == answered


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (20_000, b"Invalid Content-Type header"),
        (20_001, b"chunks that have less than 64 bytes on average. Send larger chunks."),
    ],
)
async def test_a_plan_may_be_sent_as_a_model_writes_it(application, count, told):
    """It writes a few characters at a time; beyond the limit the answer has the reason."""
    async with connected(application) as (reader, writer):
        writer.write(CHUNKED[:-2] + b"connection: close\r\n\r\n" + b"1\r\n{\r\n" * count + b"0\r\n\r\n")
        answered = await read_all(reader)

    assert answered.endswith(told)


async def test_a_request_behind_another_one_is_left_to_the_next_connection(application):
    """A client may send it again: it was not begun."""
    ask = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    async with connected(application) as (reader, writer):
        writer.write(ask * 1_000)
        answers = await read_all(reader)

    assert (answers.count(b"HTTP/1.1 200 "), b"connection: close" in answers) == (1, True)


@pytest.mark.parametrize("field", [b"x-forwarded-for: 203.0.113.9", b"origin: http://evil.example"])
async def test_a_trailer_is_no_header(field):
    """Behind a trusted proxy, it would be the last address in X-Forwarded-For."""
    seen = []

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        seen.extend(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with serving_here(app, http=http_limits.LimitedHttpProtocol) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(CHUNKED + b"0\r\n" + field + b"\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert seen == [b"host", b"transfer-encoding"]


async def test_a_proxy_is_known_by_its_address_on_a_socket_for_ipv6_and_ipv4():
    """Its X-Forwarded-For would be ignored otherwise, and all its callers would share one limit."""
    options = {"config": Config(None), "server_state": ServerState(), "app_state": {}}
    protocol = http_limits.LimitedHttpProtocol(**options)
    protocol.connection_made(Mock(get_extra_info={"peername": ("::ffff:10.0.0.5", 80)}.get))
    protocol.connection_lost(None)

    assert protocol.client == ("10.0.0.5", 80)


@pytest.mark.parametrize(
    ("headers", "writes"),
    [([(b"content-length", b"2")], [b"2\r\n\r\nhi"]), ([], [b"chunked\r\n\r\n", b"2\r\nhi\r\n0\r\n\r\n"])],
    ids=["one answer", "stream"],
)
async def test_an_answer_is_sent_in_one_packet_and_a_stream_at_once(headers, writes):
    sent = asyncio.Event()

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"hi"})
        sent.set()

    config = Config(app)
    config.load()
    transport = Mock(get_extra_info={}.get, is_closing=lambda: False)
    protocol = http_limits.LimitedHttpProtocol(config=config, server_state=ServerState(), app_state={})
    protocol.connection_made(transport)
    protocol.data_received(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
    await sent.wait()
    protocol.connection_lost(None)

    assert [call.args[0][-len(end) :] for call, end in zip(transport.write.mock_calls, writes, strict=True)] == writes


async def test_a_connection_whose_answers_are_not_read_is_aborted(monkeypatch):
    """Closing it would wait for the client."""
    monkeypatch.setattr(listener, "UNREAD_S", 0.1)
    aborted = asyncio.Event()

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(9_000_000), "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        aborted.set()

    async with serving_here(app, http=http_limits.LimitedHttpProtocol) as address:
        _, writer = await asyncio.open_connection(*address)
        writer.transport.pause_reading()
        writer.write(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert await asyncio.wait_for(aborted.wait(), DEADLINE_S)
        writer.transport.abort()


async def test_the_second_request_of_a_connection_has_the_same_deadline(application, brief):
    async with connected(application) as (reader, writer):
        writer.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert (await reader.readuntil(b'{"status":"ok"}')).startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /heal")
        assert await read_all(reader) == b""


async def test_a_request_in_pieces_is_answered(application):
    async with connected(application) as (reader, writer):
        for piece in (b"GET /health HT", b"TP/1.1\r\nhost: 127.0.0.1\r\n", b"connection: close\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
        assert b'"status":"ok"' in await read_all(reader)


async def test_progress_may_be_requested_across_two_pieces(application):
    content, headers = request_of("get_user_variables", {}, version="2025-11-25", progressToken="t")
    text = json.dumps(content).encode()
    middle = text.index(b"progressToken") + 8

    async def pieces():
        yield text[:middle]
        yield text[middle:]

    async with calling(application) as client:
        answer = await client.post("/mcp", content=pieces(), headers=headers)

    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_a_connection_beyond_the_limit_is_refused(application, monkeypatch):
    monkeypatch.setattr(listener, "MAX_CONNECTIONS", 0)
    async with connected(application) as (reader, _):
        received = await read_all(reader)

    assert received.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 1\r\n" in received


@pytest.mark.parametrize(("proxies", "status"), [((), b"503"), (("127.0.0.0/8",), b"200")], ids=["one", "a proxy"])
async def test_connections_of_one_address_are_limited_unless_it_is_a_trusted_proxy(
    application, monkeypatch, proxies, status
):
    """A closed one counts for another second. Loopback stands for another machine here; it is not limited itself."""
    monkeypatch.setattr(listener, "MAX_CONNECTIONS_PER_ADDRESS", 1)
    monkeypatch.setattr(listener, "COUNTED_AFTER_CLOSE_S", DEADLINE_S)
    monkeypatch.setattr(listener, "is_loopback", lambda _host: False)
    ask = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"
    async with connected(application, proxies) as (reader, writer):
        writer.write(ask)
        first = await read_all(reader)
        reader, again = await asyncio.open_connection(*writer.get_extra_info("peername"))
        again.write(ask)
        second = await asyncio.wait_for(reader.readline(), DEADLINE_S)
        again.close()

    assert (first.split()[1], second.split()[1]) == (b"200", status)


@pytest.mark.parametrize("headers", [{}, {"content-length": "4000000"}], ids=["as it is sent", "by its header"])
async def test_a_body_that_is_too_large_is_refused(application, headers):
    async with calling(application) as client:
        answer = await client.post("/mcp", content=b"x" * 1_600_000, headers=headers)

    assert answer.status_code == 413
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "The request is larger than 1,500,000 bytes; send a smaller one",
    }


async def test_a_crowd_of_one_machine_is_refused_while_another_machine_is_answered(application, monkeypatch):
    monkeypatch.setenv("FINGERPOST_MAX_CONCURRENT_CALLS", "4")
    app = new_local_app(build(read_settings()))

    async def call_from(machine):
        transport = httpx2.ASGITransport(app, client=(machine, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await post(client, "get_user_variables", {})

    async with app.router.lifespan_context(app):
        *crowd, other = await asyncio.gather(*(call_from(f"192.0.2.{host}") for host in (1, 1, 1, 1, 1, 2)))
        later = await call_from("192.0.2.1")

    assert [answer.status_code for answer in crowd] == [200, 200, 429, 429, 429]
    assert {answer.headers["retry-after"] for answer in crowd[2:]} == {"1"}
    assert (other.status_code, later.status_code) == (200, 200)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_python_sdk_shows_the_text_of_a_refusal(application, monkeypatch, mode):
    async with (
        serving_here(new_local_app(application)) as (host, port),
        Client(f"http://{host}:{port}/mcp", mode=mode) as client,
    ):
        await client.list_tools()
        monkeypatch.setattr(Admission, "enter", lambda *_: nullcontext(False))
        with pytest.raises(MCPError, match=r"^Too many requests at once; retry in a second$"):
            await client.call_tool("get_user_variables", {})


@pytest.mark.parametrize(
    ("most", "caller", "room"),
    [(100, "203.0.113.5", 8), (4, "203.0.113.5", 2), (100, "127.0.0.1", 50), (100, "::ffff:127.0.0.1", 50)],
)
def test_a_caller_has_room_for_so_many_requests(most, caller, room):
    """An address of this machine may stand for many callers, because of a proxy that is not trusted."""
    admission = Admission(most)
    with ExitStack() as requests:
        found = [requests.enter_context(admission.enter(caller)) for _ in range(room + 1)]
        assert found == [True] * room + [False]

    with admission.enter(caller) as is_admitted:
        assert is_admitted


async def test_unfinished_bodies_use_only_their_callers_share(application, monkeypatch):
    """Each is counted from its headers on, before anything of its body is read."""
    monkeypatch.setattr(http_limits, "MAX_CALLS_PER_CALLER", 0)

    async def never():
        raise AssertionError("the body was read")
        yield b""

    async with calling(application, caller="192.0.2.1") as client:
        answer = await client.post("/mcp", content=never())

    assert answer.status_code == 429


@pytest.mark.parametrize(
    ("method", "length", "status"), [(b"PUT", b"2", b"405"), (b"POST", b"2000000", b"413"), (b"PUT", b"1", None)]
)
async def test_an_answer_before_the_whole_body_ends_the_connection(application, method, length, status):
    """What follows would be parsed for as long as it is sent."""
    async with connected(application) as (reader, writer):
        writer.write(method + b" /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: " + length + b"\r\n\r\n{")
        answered = await reader.readuntil(b"\r\n\r\n")

    assert (answered.split()[1] if b"connection: close" in answered else None) == status
