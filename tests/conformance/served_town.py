"""The base class of sources with a test server: the suite's town, served over HTTP in the source's format."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import ClassVar

from fingerpost.store.network_records import NetworkRecord
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.suite import ConformingSource
from tests.net.reply_server import LIMITS, new_town_client

URL = "http://town.example"
# Large enough for a machine that is busy.
_SHORT = replace(LIMITS, read_s=0.05, total_s=8.0)


class ServedTown(ConformingSource):
    """A source over a server of our own; ``record`` holds fields of the network's record."""

    new_source: ClassVar
    record: ClassVar[Mapping] = {"url": URL}

    @abstractmethod
    def serve(self, town, served, fault=None):
        """Serve the town, which the embedded engine's network ``served`` knows; yield how to connect."""

    def new_record(self, town):
        return NetworkRecord(name=town.name, source=self.name, **self.record)

    @asynccontextmanager
    async def open(self, town):
        async with (
            EmbeddedConformance().open(town) as served,
            self.serve(town, served) as port,
            new_town_client(port) as client,
        ):
            source, record = self.new_source(client.fetch, LIMITS), self.new_record(town)
            yield source.open(record, await source.learn(record))

    @asynccontextmanager
    async def open_with_fault(self, town, fault):
        record = self.new_record(town)
        async with EmbeddedConformance().open(town) as served:
            async with self.serve(town, served) as port, new_town_client(port) as client:
                learned = await self.new_source(client.fetch, LIMITS).learn(record)
            async with self.serve(town, served, fault) as port, new_town_client(port) as client:
                yield self.new_source(client.fetch, _SHORT).open(record, learned)
