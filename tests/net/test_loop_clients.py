"""One client for each event loop that asks, and no connection left once they are closed."""

import asyncio
import threading

import pytest

from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import Request
from tests.net.local_server import LIMITS, answer, new_client, serving


@pytest.fixture
def made():
    return []


@pytest.fixture
def clients(made):
    return LoopClients(lambda: made.append(new_client()) or made[-1])


def asking(server):
    return Request(url=f"{server.url}/", limits=LIMITS)


async def test_one_loop_has_one_client_and_keeps_its_connection(clients, made):
    async with serving(answer(body=b"hello")) as server:
        bodies = [(await clients.fetch(asking(server))).body for _ in range(2)]
        await clients.aclose()

    assert (bodies, len(made), server.connections) == ([b"hello", b"hello"], 1, 1)


async def test_after_closing_a_client_is_made_anew(clients, made):
    await clients.aclose()
    assert made == []
    async with serving(answer(body=b"hello")) as server:
        for _ in range(2):
            await clients.fetch(asking(server))
            await clients.aclose()

    assert (len(made), server.connections) == (2, 2)


async def test_each_loop_has_a_client_of_its_own_and_one_of_them_closes_all(clients, made):
    """The loop of another thread asks too; the client is closed on its loop, or a warning would fail this test."""
    other = asyncio.new_event_loop()
    thread = threading.Thread(target=other.run_forever)
    thread.start()
    try:
        async with serving(answer(body=b"hello")) as server:
            await clients.fetch(asking(server))
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(clients.fetch(asking(server)), other))
            await clients.aclose()
            assert (len(made), server.connections) == (2, 2)
    finally:
        other.call_soon_threadsafe(other.stop)
        await asyncio.to_thread(thread.join)
        other.close()


async def test_a_loop_that_has_ended_keeps_nobody_from_closing_the_rest(clients, made):
    async with serving(answer(body=b"hello")) as server:

        async def ask_and_close():
            await clients.fetch(asking(server))
            await made[-1].aclose()

        await asyncio.to_thread(asyncio.run, ask_and_close())
        await clients.fetch(asking(server))
        await clients.aclose()

    assert len(made) == 2
