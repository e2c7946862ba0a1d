"""The embedded networks, whose modules are imported when somebody first asks for a network.

A server is asked who it is and which tools it has the moment it starts, and numpy alone is a tenth of that time.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.transit.port import Network

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.networks import EmbeddedNetworks


class LateNetworks:
    """The networks under a home folder; see the port."""

    def __init__(self, home: Path) -> None:
        self._home = home
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
                self._inner = EmbeddedNetworks(self._home)
            return self._inner
