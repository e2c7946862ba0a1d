"""MOTIS, as the conformance suite for networks meets it: a server of our own answers in its shapes from the town."""

from contextlib import asynccontextmanager
from types import MappingProxyType

from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.source import ConformingSource, NotYetTheirs
from fingerpost.transit.remote.motis.network import MotisSource
from tests.conformance.embedded import EmbeddedConformance
from tests.motis.town_server import TownServer, serving
from tests.throwaway.conformance import new_client

URL = "http://town.example"
# Large enough for a machine that is busy.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
_SHORT = RequestLimits(read_s=0.05, total_s=8.0, attempts=1)


class MotisConformance(ConformingSource):
    """The town behind MOTIS' API; ``heard`` is given every server before it serves."""

    name = "motis"
    gaps = MappingProxyType(
        {
            "the_age_of_real_time_travels_with_the_answer": NotYetTheirs(
                "its API says of no trip, stop time or alert when it was last updated"
            ),
            "a_board_tells_the_alerts_of_its_stop": NotYetTheirs(
                "it tells a stop's alerts with each row of the board, and not apart from those of lines and trips"
            ),
        }
    )

    def __init__(self, heard=lambda server: None):
        self._heard = heard

    @asynccontextmanager
    async def open(self, town):
        record = NetworkRecord(name=town.name, source="motis", url=URL)
        async with EmbeddedConformance().open(town) as served:
            answering = TownServer(town, served)
            self._heard(answering)
            async with serving(answering.answer) as port, new_client(port) as client:
                source = MotisSource(client.fetch, LIMITS)
                yield source.open(record, await source.learn(record))

    @asynccontextmanager
    async def open_in_trouble(self, town, trouble):
        record = NetworkRecord(name=town.name, source="motis", url=URL)
        async with EmbeddedConformance().open(town) as served:
            reply = TownServer(town, served).answer
            async with serving(reply) as port, new_client(port) as client:
                learned = await MotisSource(client.fetch, LIMITS).learn(record)
            async with serving(reply, trouble) as port, new_client(port) as client:
                yield MotisSource(client.fetch, _SHORT).open(record, learned)
