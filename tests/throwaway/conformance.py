"""The throwaway source, as the conformance suite for networks meets it: served by the embedded engine over HTTP."""

from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType

from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.source import ConformingSource, NotYetOurs, NotYetTheirs
from fingerpost.transit.model.profile import Ability
from tests.conformance.embedded import EmbeddedConformance
from tests.net import local_server
from tests.net.local_server import anywhere
from tests.throwaway.server import URL, Port, serving_network
from tests.throwaway.source import LIMITS, ThrowawaySource

ENVIRON = {"TOWN_KEY": "s3cr3t-k3y"}


class ThrowawayConformance(ConformingSource):
    """With ``is_served`` False nothing serves."""

    name = "throwaway"
    gaps = MappingProxyType(
        {
            Ability.FARES: NotYetTheirs("the server's JSON knows no prices"),
            Ability.GEOMETRY: NotYetOurs("the server would tell its own provenance of lines, and we do not ask"),
        }
    )

    def __init__(self, *, is_served=True):
        self._is_served = is_served

    @asynccontextmanager
    async def open(self, town):
        if not self._is_served:
            async with self._opened(town, Port(None), LIMITS) as network:
                yield network
            return
        async with (
            EmbeddedConformance().open(town) as served,
            serving_network(served) as port,
            self._opened(town, port, LIMITS) as network,
        ):
            yield network

    @asynccontextmanager
    async def open_in_trouble(self, town, trouble):
        async with EmbeddedConformance().open(town) as served:
            record = new_record(town)
            async with serving_network(served) as port, new_client(port) as client:
                learned = await ThrowawaySource(client.fetch, LIMITS).learn(record)
            async with serving_network(served, trouble) as port, new_client(port) as client:
                yield ThrowawaySource(client.fetch, replace(LIMITS, read_s=0.05)).open(record, learned)

    @asynccontextmanager
    async def _opened(self, town, port, limits):
        record = new_record(town)
        async with new_client(port) as client:
            source = ThrowawaySource(client.fetch, limits)
            yield source.open(record, await source.learn(record))


def new_record(town):
    return NetworkRecord(name=town.name, source="throwaway", url=URL, key="TOWN_KEY")


def new_client(port):
    """Return a client that finds the server at port 80, and never sleeps."""
    return local_server.new_client(private_hosts=["town.example"], resolve=anywhere, inner=port, environ=ENVIRON)
