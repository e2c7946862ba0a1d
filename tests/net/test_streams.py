"""Streams of httpcore: requests in one packet, connections that are used again, and errors."""

import asyncio
import socket
import ssl
import struct
from contextlib import asynccontextmanager
from dataclasses import replace
from unittest.mock import Mock, call

import httpcore2
import pytest

from fingerpost.net.request import Request
from fingerpost.net.streams import StreamBackend
from tests.net.local_server import LIMITS, LOOPBACK, answer, new_client, serving

BIG = bytes(3_000_000)


@asynccontextmanager
async def asking(behave):
    """Yield a stream to a server that answers as ``behave`` does."""
    async with serving(behave) as server:
        stream = await StreamBackend().connect_tcp(LOOPBACK, server.port, 5)
        await stream.write(b"GET / HTTP/1.1\r\n\r\n")
        yield stream
        await stream.aclose()


async def test_a_requests_headers_and_content_are_one_packet():
    async with asking(answer(body=b"hi")) as stream:
        stream._transport = Mock(wraps=stream._transport)
        await stream.write(b"{}")
        await stream.read(1000, 5)

    assert stream._transport.write.call_args_list == [call(b"GET / HTTP/1.1\r\n\r\n{}")]


async def test_a_slow_reader_makes_the_server_wait():
    async with asking(answer(body=BIG)) as stream:
        await stream.read(10_000, 5)
        stream._transport = Mock(wraps=stream._transport)
        stream._unread += BIG
        await stream.read(10_000, 5)

    stream._transport.resume_reading.assert_not_called()


async def test_a_connection_is_used_again():
    async with serving(answer(body=b"hi")) as server, new_client() as client:
        for _ in range(3):
            await client.fetch(Request(url=server.url, limits=LIMITS))

    assert (len(server.asked), server.connections) == (3, 1)


async def test_a_connection_that_the_server_has_closed_is_not_used_again():
    is_done = asyncio.Event()

    async def answer_and_close(writer):
        writer.write(answer(body=b"hi"))
        await is_done.wait()

    async with serving(answer_and_close) as server, new_client() as client:
        await client.fetch(Request(url=server.url, limits=LIMITS))
        is_done.set()
        await asyncio.wait(server.tasks)
        got = await client.fetch(Request(url=server.url, limits=replace(LIMITS, attempts=1)))

    assert (got.body, server.connections) == (b"hi", 2)


async def test_all_of_a_large_response_arrives():
    async def write_all(writer):
        writer.write(BIG)
        await writer.drain()

    received = b""
    async with asking(write_all) as stream:
        while data := await stream.read(10_000, 5):
            received += data

    assert received == BIG


async def test_a_connection_with_unread_bytes_counts_as_readable():
    """Such bytes would be read as the next response, so httpcore opens a new connection."""
    async with asking(b"unexpected") as stream:
        await stream.read(2, 5)
        is_readable = stream.get_extra_info("is_readable")

    assert is_readable


async def test_a_silent_server_is_not_waited_for():
    async with asking(lambda writer: asyncio.Event().wait()) as stream:
        with pytest.raises(httpcore2.ReadTimeout):
            await stream.read(100, 0.01)


async def test_a_reset_connection_is_an_error_and_not_the_end():
    async def reset(writer):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async with asking(reset) as stream:
        with pytest.raises(httpcore2.ReadError):
            await stream.read(100, 5)


async def test_a_port_on_which_nobody_listens_refuses_the_connection():
    with socket.create_server((LOOPBACK, 0)) as closed_at_once:
        port = closed_at_once.getsockname()[1]

    with pytest.raises(httpcore2.ConnectError):
        await StreamBackend().connect_tcp(LOOPBACK, port, 5)


async def test_a_connection_that_ends_before_its_response_is_reported_and_tried_again():
    async def hang_up(writer):
        pass

    async with serving(hang_up, answer(body=b"hi")) as server, new_client() as client:
        got = await client.fetch(Request(url=server.url, limits=LIMITS))

    assert (got.body, server.connections) == (b"hi", 2)


async def test_a_cancelled_tls_handshake_closes_the_connection():
    is_asked, has_ended = asyncio.Event(), asyncio.Event()

    async def serve(reader, writer):
        await reader.read(1)
        is_asked.set()
        await reader.read()
        has_ended.set()
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    stream = await StreamBackend().connect_tcp(LOOPBACK, server.sockets[0].getsockname()[1], 5)
    handshake = asyncio.create_task(stream.start_tls(ssl.create_default_context(), "feeds.example", 5))
    await is_asked.wait()
    handshake.cancel()
    await asyncio.wait([handshake])
    await asyncio.wait_for(has_ended.wait(), 5)
    server.close()

    assert handshake.cancelled()


async def test_a_cancelled_connection_is_not_left_open():
    """Pytest reports a socket that is left open."""
    async with serving(answer()) as server:
        connecting = asyncio.create_task(StreamBackend().connect_tcp(LOOPBACK, server.port, 5))
        await asyncio.sleep(0)
        connecting.cancel()
        await asyncio.wait([connecting])

    assert connecting.cancelled()
