"""The embedded engine, as the conformance suite for networks meets it."""

import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.testing.feeds import timetable_from_tables
from fingerpost.testing.networks.source import ConformingSource, Never
from fingerpost.transit.embedded.source import EmbeddedSource
from tests.homes import keep_network

_NO_SERVER = Never("the engine runs in this process and asks no server")


class EmbeddedConformance(ConformingSource):
    name = "embedded"
    gaps = MappingProxyType(
        {
            "a_server_that_cannot_be_reached_is_told": _NO_SERVER,
            "a_server_that_is_silent_is_told": _NO_SERVER,
            "a_server_that_fails_is_told": _NO_SERVER,
            "a_server_that_asks_us_to_wait_is_told": _NO_SERVER,
            "an_answer_in_another_format_is_told": _NO_SERVER,
        }
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
            source = EmbeddedSource(home, None)
            try:
                yield source.open(NetworkRecordStore(home).read().records[town.name])
            finally:
                await source.close()
