"""One client for each event loop, without open connections after it is closed."""

import asyncio

from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import Request
from tests.net.local_server import LIMITS, answer, new_client, serving


async def test_a_loop_has_one_client_until_it_is_closed():
    made = []
    clients = LoopClients(lambda: made.append(new_client()) or made[-1])
    await clients.aclose()
    async with serving(answer(body=b"hello")) as server:

        async def ask():
            return (await clients.fetch(Request(url=server.url, limits=LIMITS))).body

        async def ask_and_close():
            await ask()
            await clients.aclose()

        bodies = [await ask(), await ask()]
        counts = [(len(made), server.connections)]
        await asyncio.to_thread(asyncio.run, ask_and_close())
        await ask_and_close()
        counts.append((len(made), server.connections))
        await ask_and_close()

    assert (bodies, [*counts, (len(made), server.connections)]) == ([b"hello"] * 2, [(1, 1), (2, 2), (3, 3)])
