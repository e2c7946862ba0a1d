"""One client for each event loop, without open connections after it is closed."""

import asyncio

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


async def test_one_loop_has_one_client_and_reuses_its_connection(clients, made):
    async with serving(answer(body=b"hello")) as server:
        bodies = [(await clients.fetch(asking(server))).body for _ in range(2)]
        await clients.aclose()

    assert (bodies, len(made), server.connections) == ([b"hello", b"hello"], 1, 1)


async def test_a_closed_client_is_created_again(clients, made):
    await clients.aclose()
    assert made == []
    async with serving(answer(body=b"hello")) as server:
        for _ in range(2):
            await clients.fetch(asking(server))
            await clients.aclose()

    assert (len(made), server.connections) == (2, 2)


async def test_every_loop_has_its_own_client(clients, made):
    async with serving(answer(body=b"hello")) as server:

        async def ask_and_close():
            await clients.fetch(asking(server))
            await clients.aclose()

        await clients.fetch(asking(server))
        await asyncio.to_thread(asyncio.run, ask_and_close())
        await clients.fetch(asking(server))
        await clients.aclose()

    assert (len(made), server.connections) == (2, 2)
