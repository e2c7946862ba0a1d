"""The networks that the embedded engine can answer for: those added to the shelf, and the demos.

Nothing is opened before it is asked for, and the shelf is looked at anew for every call, so a network may be
added, replaced or removed by another process while a server runs.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost.errors import ParameterError
from fingerpost.transit.demo.catalogue import build_demo, list_demo_names
from fingerpost.transit.rules.networks import by_preference
from fingerpost.transit.timetable.shelf import Shelf

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.network import EmbeddedNetwork

DEMO_NOTE = "Demo network: simplified lines and running times, not for real trips."


class EmbeddedNetworks:
    """All embedded networks under one home folder, demos last (ruling A13)."""

    def __init__(self, home: Path) -> None:
        self._shelf = Shelf(home)
        self._stamp: object = None
        self._listed: tuple[EmbeddedNetwork, ...] = ()
        self._open: dict[tuple[str, str], EmbeddedNetwork] = {}
        self._lock = threading.Lock()

    async def list_networks(self) -> Sequence["EmbeddedNetwork"]:
        """Return every network: added before demo, then the smaller area first."""
        if self._listed and self._shelf.stamp() == self._stamp:
            return self._listed
        return await asyncio.to_thread(self._refresh)

    def _refresh(self) -> Sequence["EmbeddedNetwork"]:
        # The engine compiles or loads machine code when it is imported; a server must answer before that.
        from fingerpost.transit.providers.embedded.network import EmbeddedNetwork

        with self._lock:
            stamp = self._shelf.stamp()
            networks: dict[tuple[str, str], EmbeddedNetwork] = {}
            for name in self._shelf.list_names():
                try:
                    key = (name, self._shelf.get(name).stamp)
                    if key not in self._open:
                        entry, timetable = self._shelf.open(name)
                        key = (name, entry.stamp)
                        self._open[key] = EmbeddedNetwork(name, timetable, is_demo=False)
                    networks[key] = self._open[key]
                except ParameterError:
                    # Removed since the names were listed; the stamp read before that brings us here again.
                    continue
            for name in list_demo_names():
                key = (name, "demo")
                networks[key] = self._open.get(key) or EmbeddedNetwork(
                    name, build_demo(name), is_demo=True, notes=(DEMO_NOTE,)
                )
            self._open = networks
            self._listed = tuple(by_preference(networks.values()))
            self._stamp = stamp
            return self._listed
