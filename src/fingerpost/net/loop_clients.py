"""One HTTP client for each event loop, because a connection belongs to the loop that opened it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fingerpost.net.request import Request
from fingerpost.net.response import Response

if TYPE_CHECKING:
    from fingerpost.net.client import Client


class LoopClients:
    """Creates an HTTP client per event loop; call ``aclose`` before an event loop ends."""

    def __init__(self, new_client: "Callable[[], Client]") -> None:
        self._new_client = new_client
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    async def fetch(self, request: Request, known: Response | None = None) -> Response:
        loop = asyncio.get_running_loop()
        if (client := self._by_loop.get(loop)) is None:
            client = self._by_loop[loop] = self._new_client()
        return await client.fetch(request, known)

    async def aclose(self) -> None:
        """Close the client of the running loop; the next ``fetch`` creates a new client."""
        client = self._by_loop.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
