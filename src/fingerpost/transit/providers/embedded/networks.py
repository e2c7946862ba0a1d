"""The networks that the embedded engine can answer for: those added to the shelf, and the demos.

Nothing is opened before it is asked for, and the shelf is looked at anew for every call, so a network may be
added, replaced or removed by another process while a server runs.
"""

import asyncio
import logging
import threading
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.network_records import NetworkRecordFile
from fingerpost.transit.demo.catalogue import build_demo, list_demo_names
from fingerpost.transit.providers.embedded.preparing import open_prepared
from fingerpost.transit.providers.embedded.realtime_sources import read_source
from fingerpost.transit.rules.networks import by_preference
from fingerpost.transit.timetable.shelf import Shelf

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.network import EmbeddedNetwork
    from fingerpost.transit.providers.embedded.realtime_feeds import Fetch
    from fingerpost.transit.providers.embedded.realtime_keeper import OpenFetch, RealtimeKeeper

_log = logging.getLogger(__name__)

DEMO_NOTE = "Demo network: simplified lines and running times, not for real trips."


class EmbeddedNetworks:
    """All embedded networks under one home folder, demos last (ruling A13).

    A network that cannot be opened is left out, and ``problems`` has a sentence about it by its name.

    Args:
        home: the folder.
        open_fetch: opens what URLs of real time are asked with; by default a client with its own pace.
    """

    def __init__(self, home: Path, open_fetch: "OpenFetch | None" = None) -> None:
        self._home = home
        self._shelf = Shelf(home)
        self._records = NetworkRecordFile(home)
        self._open_fetch = open_fetch or _open_fetch
        self._keeper: RealtimeKeeper | None = None
        self._stamp: object = None
        self._listed: tuple[EmbeddedNetwork, ...] = ()
        self._open: dict[tuple[str, str], EmbeddedNetwork] = {}
        self._lock = threading.Lock()
        self.problems: dict[str, str] = {}

    async def list_networks(self) -> Sequence["EmbeddedNetwork"]:
        """Return every network: added before demo, then the smaller area first."""
        if self._listed and self._current_stamp() == self._stamp:
            return self._listed
        return await asyncio.to_thread(self._refresh)

    def _refresh(self) -> Sequence["EmbeddedNetwork"]:
        # The engine compiles or loads machine code when it is imported; a server must answer before that.
        from fingerpost.transit.providers.embedded.network import EmbeddedNetwork

        with self._lock:
            stamp = self._current_stamp()
            # The first look takes an older home over; what is prepared says only then of which feeds it is.
            self._records.read()
            networks: dict[tuple[str, str], EmbeddedNetwork] = {}
            problems: dict[str, str] = {}
            for name in self._shelf.list_names():
                try:
                    key = (name, self._shelf.get(name).stamp)
                    if key not in self._open:
                        entry, timetable = open_prepared(self._home, name)
                        key = (name, entry.stamp)
                        self._open[key] = EmbeddedNetwork(name, timetable, is_demo=False)
                    networks[key] = self._open[key]
                except ParameterError:
                    # Removed since the names were listed; the stamp read before that brings us here again.
                    continue
                except SettingsInvalid as error:
                    # The other networks go on; whoever asks for this one, or for the list, is told.
                    problems[name] = error.message
                    _log.error("network=%s cannot be used: %s", name, error.message)
            for name in list_demo_names():
                key = (name, "demo")
                networks[key] = self._open.get(key) or EmbeddedNetwork(
                    name, build_demo(name), is_demo=True, notes=(DEMO_NOTE,)
                )
            for (name, _), network in networks.items():
                self._follow(name, network)
            for key, gone in self._open.items():
                if key not in networks:
                    gone.follow(None)
            self._open = networks
            self.problems = problems
            self._listed = tuple(by_preference(networks.values()))
            self._stamp = stamp
            return self._listed

    def close(self) -> None:
        """End what follows real time; a later question begins it anew."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
            for network in self._open.values():
                network.follow(None)
            self._stamp, self._listed = None, ()
        if keeper is not None:
            keeper.close()

    def _current_stamp(self) -> tuple[str, object]:
        return self._shelf.stamp(), self._records.stamp()

    def _follow(self, name: str, network: "EmbeddedNetwork") -> None:
        """Let a network follow the sources that are kept for it now."""
        record = self._records.read().records.get(name)
        sources = () if record is None else tuple(map(read_source, record.realtime))
        followed = () if network.realtime is None else network.realtime.sources
        if sources == followed:
            return
        if not sources:
            network.follow(None)
            return
        # Only networks with real time pay for reading it.
        from fingerpost.transit.providers.embedded.network_realtime import NetworkRealtime
        from fingerpost.transit.providers.embedded.realtime_keeper import RealtimeKeeper

        if self._keeper is None:
            self._keeper = RealtimeKeeper(self._open_fetch)
            weakref.finalize(self, self._keeper.close)
        network.follow(NetworkRealtime(network.timetable, sources, self._keeper, clock.now, network.publish))


@asynccontextmanager
async def _open_fetch() -> AsyncIterator["Fetch"]:
    # A client takes as long to import as the engine does.
    from fingerpost.net.client import Client

    async with Client() as client:
        yield client.fetch
