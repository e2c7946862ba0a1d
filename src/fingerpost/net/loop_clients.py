"""One HTTP client for each event loop, because a connection belongs to the loop that opened it."""

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fingerpost.net.request import Request
from fingerpost.net.response import Response

if TYPE_CHECKING:
    from fingerpost.net.client import Client


class LoopClients:
    """The HTTP clients of one process, for all its threads; await ``aclose`` before an event loop ends."""

    def __init__(self, new_client: "Callable[[], Client]") -> None:
        self._new_client = new_client
        self._lock = threading.Lock()
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._by_loop.get(loop)
            if client is None:
                client = self._by_loop[loop] = self._new_client()
        return await client.fetch(request, known)

    async def aclose(self) -> None:
        """Close all clients, each on its own loop; ``fetch`` creates new ones."""
        here = asyncio.get_running_loop()
        with self._lock:
            clients = dict(self._by_loop)
            self._by_loop.clear()
        for loop, client in clients.items():
            if loop is here:
                await client.aclose()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(client.aclose(), loop))
