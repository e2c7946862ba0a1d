"""The embedded engine in the conformance suite for networks."""

import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

from fingerpost.net.client import Client
from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.transit.embedded.source import EmbeddedSource
from tests.conformance.suite import ConformingSource, ServerFault
from tests.feeds import timetable_from_tables
from tests.homes import keep_network


class EmbeddedConformance(ConformingSource):
    name = "embedded"
    gaps = MappingProxyType(
        {fault.name: "the engine runs in this process and queries no server" for fault in ServerFault}
    )

    @asynccontextmanager
    async def open(self, town):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            realtime = []
            if town.realtime is not None:
                (home / "updates.pb").write_bytes(town.realtime)
                realtime.append(str(home / "updates.pb"))
            keep_network(home, town.name, timetable_from_tables(town.tables, network=town.name), realtime=realtime)
            source = EmbeddedSource(home, LoopClients(Client))
            try:
                yield source.open(NetworkRecordStore(home).read().records[town.name])
            finally:
                await source.close()
