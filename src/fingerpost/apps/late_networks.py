"""The embedded networks, whose modules are imported when somebody first asks for a network.

A server is asked who it is and which tools it has the moment it starts, and numpy alone is a tenth of that time.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fingerpost.apps.settings import Settings
from fingerpost.transit.port import Network

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.networks import EmbeddedNetworks
    from fingerpost.transit.providers.embedded.realtime_feeds import Fetch


class LateNetworks:
    """The networks under a home folder; see the port."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._inner: EmbeddedNetworks | None = None
        self._lock = threading.Lock()

    async def list_networks(self) -> Sequence[Network]:
        """Return every network in order of preference; see the port."""
        inner = self._inner
        if inner is None:
            inner = await asyncio.to_thread(self._get_inner)
        return await inner.list_networks()

    def _get_inner(self) -> "EmbeddedNetworks":
        from fingerpost.transit.providers.embedded.networks import EmbeddedNetworks

        with self._lock:
            if self._inner is None:
                self._inner = EmbeddedNetworks(self._settings.home, lambda: _open_fetch(self._settings))
            return self._inner

    def list_problems(self) -> Mapping[str, str]:
        """Return, by name, a sentence on each network that could not be opened."""
        return {} if self._inner is None else self._inner.problems

    def close(self) -> None:
        """End what follows real time, where anything does."""
        if self._inner is not None:
            self._inner.close()


@asynccontextmanager
async def _open_fetch(settings: Settings) -> AsyncIterator["Fetch"]:
    # HTTP is loaded by those who ask a URL.
    from fingerpost.apps.outbound import new_client

    async with new_client(settings) as client:
        yield client.fetch
