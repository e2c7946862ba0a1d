"""The embedded engine as sources of networks: timetables that were imported from GTFS, and the demos.

Nothing is opened before it is asked for, and the timetable store is looked at anew for every call, so a network may
be added, replaced or removed by another process while a server runs.
"""

import asyncio
import threading
import weakref
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.demo.catalogue import build_demo
from fingerpost.transit.providers.embedded.network import EmbeddedNetwork
from fingerpost.transit.providers.embedded.preparing import open_prepared
from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSource, read_source
from fingerpost.transit.timetable.shelf import Shelf, ShelfEntry

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.realtime_keeper import OpenFetch, RealtimeKeeper

DEMO_NOTE = "Demo network: simplified lines and running times, not for real trips."


class _Opened(NamedTuple):
    network: EmbeddedNetwork
    version: str


class EmbeddedSource:
    """Opens networks whose feeds were imported (``source = "gtfs"``).

    Args:
        home: the folder below which prepared timetables are kept.
        open_fetch: opens what URLs of real time are asked with.
    """

    kind = "gtfs"

    def __init__(self, home: Path, open_fetch: "OpenFetch") -> None:
        self._home = home
        self._shelf = Shelf(home)
        self._open_fetch = open_fetch
        self._keeper: RealtimeKeeper | None = None
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}

    async def complete(self, record: NetworkRecord) -> NetworkRecord:
        """Return the record as it is: feeds say their own bounds and zone."""
        return record

    def stamp(self) -> Hashable:
        """Return a value that changes whenever a prepared timetable does; see the port."""
        return self._shelf.stamp()

    def open(self, record: NetworkRecord) -> EmbeddedNetwork:
        """Open the current timetable of a network, or go on with the one that is open; see the port."""
        opened = self._opened.get(record.name)
        entry = self._get_entry(record)
        if opened is None or opened.version != entry.stamp:
            entry, timetable = open_prepared(self._home, record.name)
            self.retire(record.name)
            opened = _Opened(EmbeddedNetwork(record, timetable, notes=_list_notes(record, entry)), entry.stamp)
            self._opened[record.name] = opened
        elif opened.network.record != record:
            opened.network.configure(record, _list_notes(record, entry))
        self._follow(opened.network, tuple(read_source(text, self._home) for text in record.realtime))
        return opened.network

    def _get_entry(self, record: NetworkRecord) -> ShelfEntry:
        try:
            return self._shelf.get(record.name)
        except ParameterError as error:
            step = "refresh" if record.feeds else "add"
            raise SettingsInvalid(
                f"Nothing is prepared of {record.name}. "
                f"Run `fingerpost network {step} {record.name}{'' if record.feeds else ' FEED...'}`."
            ) from error

    def retire(self, name: str) -> None:
        """Follow no real time for a network any more; see the port."""
        opened = self._opened.pop(name, None)
        if opened is not None:
            opened.network.follow(None)

    async def close(self) -> None:
        """End what follows real time; see the port."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
            for opened in self._opened.values():
                opened.network.follow(None)
        if keeper is not None:
            await asyncio.to_thread(keeper.close)

    def _follow(self, network: EmbeddedNetwork, sources: tuple[RealtimeSource, ...]) -> None:
        """Let a network follow the sources of its record."""
        if sources == (() if network.realtime is None else network.realtime.sources):
            return
        if not sources:
            network.follow(None)
            return
        # Only networks with real time pay for reading it.
        from fingerpost.transit.providers.embedded.network_realtime import NetworkRealtime
        from fingerpost.transit.providers.embedded.realtime_keeper import RealtimeKeeper

        with self._lock:
            if self._keeper is None:
                self._keeper = RealtimeKeeper(self._open_fetch)
                weakref.finalize(self, self._keeper.close)
            network.follow(NetworkRealtime(network.timetable, sources, self._keeper, clock.now, network.publish))


class DemoSource:
    """Opens the demo networks that ship with the package (``source = "demo"``); they hold on any day."""

    kind = "demo"

    def __init__(self) -> None:
        self._opened: dict[str, EmbeddedNetwork] = {}

    async def complete(self, record: NetworkRecord) -> NetworkRecord:
        """Refuse: demo networks are there without being added.

        Raises:
            SettingsInvalid: always.
        """
        raise SettingsInvalid(f"{record.name} ships with fingerpost and cannot be added.")

    def stamp(self) -> Hashable:
        """Return a constant: demos never change."""
        return None

    def open(self, record: NetworkRecord) -> EmbeddedNetwork:
        """Build a demo network once; see the port."""
        network = self._opened.get(record.name)
        if network is None:
            network = EmbeddedNetwork(record, build_demo(record.name), notes=(DEMO_NOTE,))
            self._opened[record.name] = network
        return network

    def retire(self, name: str) -> None:
        """Do nothing: a demo follows no real time of its own."""

    async def close(self) -> None:
        """Do nothing: nothing goes on behind a demo."""


def _list_notes(record: NetworkRecord, entry: ShelfEntry) -> tuple[str, ...]:
    """Return what every answer must say of a timetable that is not of the record's feeds."""
    note = entry.find_note(record.feeds)
    return () if note is None else (note,)
