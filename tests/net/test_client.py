"""The client with a server that hangs, resets, truncates and sends false data."""

import asyncio
import gzip
import socket
import struct
from dataclasses import replace

import pytest

from fingerpost.errors import (
    ParameterError,
    Remedy,
    RemedyKind,
    SourceChanged,
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    SourceUnreachable,
)
from fingerpost.net.request import Request
from tests.net.local_server import LIMITS, FakeTime, answer, new_client, serving

OK = answer(body=b"hello")
ONCE = replace(LIMITS, attempts=1)


async def hang(writer):
    await asyncio.sleep(3600)


async def reset(writer):
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def then(*pieces, pause_s=0.0):

    async def write(writer):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return write


def asking(server, path="/", **given):
    return Request(url=server.url + path, **{"limits": ONCE, **given})


async def test_an_answer_is_complete():
    reply = answer(body=b"hello", ETag='"a"')
    async with serving(reply) as server, new_client(contact="ops@example.org") as client:
        got = await client.fetch(asking(server, "/x", params={"q": "a b"}))

    assert (got.status, got.body, got.validators.etag, got.from_cache) == (200, b"hello", '"a"', False)
    assert got.redacted_url == f"{server.url}/x?q=a+b"
    name, _, rest = server.asked[0].headers["user-agent"].partition("/")
    assert (name, rest.endswith(" (ops@example.org)")) == ("fingerpost", True)
    assert server.asked[0].headers["accept-encoding"] == "gzip"


PLAIN = b"HTTP/1.1 200 OK\r\n"
HALF_A_GZIP = answer(body=gzip.compress(b"hello" * 1000)[:-10], Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("reply", "limits", "error"),
    [
        # Silence longer than read_s, and a body that takes longer than total_s.
        pytest.param(hang, {"read_s": 0.05}, SourceTimeout, id="hangs before its headers"),
        pytest.param(
            then(PLAIN + b"Content-Length: 5\r\n\r\nhe", pause_s=3600), {"read_s": 0.05}, SourceTimeout, id="hangs"
        ),
        pytest.param(
            then(PLAIN + b"Content-Length: 5000\r\n\r\n", *[b"x"] * 5000, pause_s=0.01),
            {"total_s": 0.1},
            SourceTimeout,
            id="drips",
        ),
        # What breaks off is no answer.
        pytest.param(reset, {}, SourceUnreachable, id="reset"),
        pytest.param(then(PLAIN + b"Content-Length: 10\r\n\r\nhello"), {}, SourceUnreachable, id="too few bytes"),
        pytest.param(
            then(PLAIN + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), {}, SourceUnreachable, id="no last chunk"
        ),
        pytest.param(then(b""), {}, SourceUnreachable, id="nothing"),
        pytest.param(then(HALF_A_GZIP), {}, SourceUnreachable, id="half of a gzip"),
        # Another protocol on that port, and an encoding that was not asked for.
        pytest.param(then(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), {}, SourceChanged, id="ssh"),
        pytest.param(then(b"HTTP/1.1 abc\r\n\r\n"), {}, SourceChanged, id="no status"),
        pytest.param(answer(body=b"x", Content_Encoding="br"), {}, SourceChanged, id="brotli"),
        # Each refusal is named by what to do next.
        (answer("401 Unauthorized"), {}, SourceKeyRefused),
        (answer("403 Forbidden"), {}, SourceKeyRefused),
        (answer("404 Not Found"), {}, SourceFailed),
        (answer("408 Request Timeout"), {}, SourceTimeout),
        (answer("429 Too Many Requests"), {"total_s": 2.0}, SourceLimited),
        (answer("500 Internal Server Error"), {}, SourceFailed),
        (answer("504 Gateway Timeout"), {}, SourceTimeout),
        (answer("206 Partial Content"), {}, SourceFailed),
        (answer("304 Not Modified"), {}, SourceFailed),
        pytest.param(
            then(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nhello"),
            {},
            SourceKeyRefused,
            id="half a refusal",
        ),
    ],
)
async def test_a_failure_is_an_error_of_the_tree(reply, limits, error):
    async with serving(reply) as server, new_client() as client:
        with pytest.raises(error):
            await client.fetch(asking(server, limits=replace(ONCE, **limits)))


async def test_a_closed_port_is_unreachable():
    async with serving(OK) as server, new_client() as client:
        pass
    async with new_client() as client:
        with pytest.raises(SourceUnreachable):
            await client.fetch(asking(server))


async def test_more_bytes_than_announced_are_not_content():
    liar = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more\r\n\r\n"
    async with serving(liar) as server, new_client() as client:
        first = await client.fetch(asking(server, limits=LIMITS))
        second = await client.fetch(asking(server, limits=LIMITS))

    assert (first.body, second.body, server.connections) == (b"hello", b"hello", 2)


async def test_a_second_response_in_one_packet_is_not_the_answer_to_the_next_request():
    async with serving(OK + answer(body=b"of another"), answer(body=b"own")) as server, new_client() as client:
        await client.fetch(asking(server))
        second = await client.fetch(asking(server))

    assert second.body == b"own"


async def pour(writer):
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def test_a_body_of_the_maximum_size_is_accepted():
    async with serving(answer(body=b"x" * LIMITS.max_bytes)) as server, new_client() as client:
        assert len((await client.fetch(asking(server))).body) == LIMITS.max_bytes


@pytest.mark.parametrize(
    "large",
    [
        answer(body=b"x" * (LIMITS.max_bytes + 1)),
        pour,
        # Some kilobytes that unpack to fifty megabytes.
        answer(body=gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip"),
    ],
    ids=["a byte too much", "without an end", "a gzip bomb"],
)
async def test_a_body_is_bounded(large):
    async with serving(large) as server, new_client() as client:
        with pytest.raises(SourceFailed, match="larger than"):
            await client.fetch(asking(server))


async def test_a_status_that_is_an_answer_is_returned():
    async with serving(answer("400 Bad Request", b'{"errors": []}')) as server, new_client() as client:
        got = await client.fetch(asking(server, accept=frozenset({400})))

    assert (got.status, got.body) == (400, b'{"errors": []}')


async def test_a_source_may_judge_responses_itself():

    def judge(response):
        return SourceLimited("quota", retry_after_s=600) if b"quota" in response.body else None

    async with serving(answer("403 Forbidden", b"Out of call volume quota")) as server, new_client() as client:
        with pytest.raises(SourceLimited) as raised:
            await client.fetch(asking(server, check_response=judge))

    assert raised.value.retry_after_s == 600


async def test_a_transient_failure_is_retried():
    async with serving(reset, answer("503 Busy"), OK) as server, new_client() as client:
        got = await client.fetch(asking(server, limits=LIMITS))

    assert (got.body, len(server.asked)) == (b"hello", 3)


@pytest.mark.parametrize(
    ("status", "given", "times"),
    [
        ("503 Busy", {}, 3),
        ("404 Not Found", {}, 1),
        ("401 Unauthorized", {}, 1),
        ("501 No", {}, 1),
        ("503 Busy", {"content": b"{}"}, 3),
    ],
)
async def test_only_transient_failures_are_retried(status, given, times):
    async with serving(answer(status)) as server, new_client() as client:
        with pytest.raises((SourceFailed, SourceKeyRefused)):
            await client.fetch(asking(server, limits=LIMITS, **given))

    assert [asked.body for asked in server.asked] == [given.get("content", b"")] * times


async def test_retry_after_is_honoured():
    headers = {"Retry_After": "Wed, 21 Oct 2026 07:28:07 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    limited, time = answer("429 Too Many Requests", **headers), FakeTime()
    async with serving(limited, OK) as server, new_client(time=time) as client:
        got = await client.fetch(asking(server, limits=LIMITS))

    assert (got.body, time.slept) == (b"hello", [7.0])


async def test_a_wait_that_is_too_long_is_not_begun():
    async with serving(answer("503 Busy", Retry_After="120")) as server, new_client() as client:
        with pytest.raises(SourceLimited) as first:
            await client.fetch(asking(server, limits=LIMITS))
        with pytest.raises(SourceLimited) as second:
            await client.fetch(asking(server, limits=LIMITS))

    assert (first.value.retry_after_s, second.value.retry_after_s, len(server.asked)) == (120, 120, 1)


@pytest.mark.parametrize("url", ["ftp://x.example/", "file:///etc/passwd", "http://", "nothing", "http://a b/"])
async def test_only_http_addresses_are_requested(url):
    async with new_client() as client:
        with pytest.raises(ParameterError):
            await client.fetch(Request(url=url))


async def test_a_key_that_the_source_repeats_is_not_in_its_answer():
    key, seen = "s3cr3t+key/value", []
    echo = b"s3cr3t+key/value s3cr3t%2Bkey%2Fvalue s3cr3t+key\\/value"
    replies = (answer(body=echo, ETag='"s3cr3t+key/value"'), answer("400 Bad Request", echo))
    keyed = {"secret_params": {"app_key": "MY_KEY"}, "check_response": lambda response: seen.append(response.body)}
    async with serving(*replies) as server, new_client(environ={"MY_KEY": key}) as client:
        first = await client.fetch(asking(server, fresh_s=60, **keyed))
        again = await client.fetch(asking(server, fresh_s=60, **keyed))
        with pytest.raises(SourceFailed):
            await client.fetch(asking(server, "/other", **keyed))

    assert (first.body, first.headers["etag"], again.body) == (b"*** *** ***", '"***"', first.body)
    assert first.validators.etag is None
    assert seen == [b"*** *** ***"] * 2


async def test_a_key_that_is_not_set_is_named():
    async with serving(OK) as server, new_client(environ={}) as client:
        with pytest.raises(SourceKeyRefused, match="MY_KEY is not set"):
            await client.fetch(asking(server, secret_headers={"x-key": "MY_KEY"}))

    assert server.asked == []


async def test_a_caller_that_leaves_early_leaves_nothing():
    asked = asyncio.Event()

    async def keep_waiting(writer):
        asked.set()
        await hang(writer)

    async with serving(keep_waiting, OK) as server, new_client() as client:
        task = asyncio.create_task(client.fetch(asking(server)))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        got = await client.fetch(asking(server))

    assert got.body == b"hello"


async def test_a_refused_key_names_the_variables_that_contain_it():
    async with serving(answer("401 Unauthorized")) as server, new_client(environ={"MY_KEY": "0123456789"}) as client:
        with pytest.raises(SourceKeyRefused) as refused:
            await client.fetch(asking(server, secret_headers={"x-key": "MY_KEY"}))

    assert refused.value.remedy == Remedy(RemedyKind.SET_KEY, {"settings": "MY_KEY"})


async def test_only_the_refusing_server_is_paused():
    refusal = answer("429 Slow", Retry_After="600")
    async with serving(refusal) as troubled, serving(OK) as healthy, new_client() as client:
        with pytest.raises(SourceLimited):
            await client.fetch(asking(troubled))

        assert (await client.fetch(asking(healthy))).body == b"hello"
