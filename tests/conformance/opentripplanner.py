"""OpenTripPlanner, as the conformance suite for networks meets it.

A server of our own answers its GraphQL from the town; ``make test-otp`` asks a real one.
"""

from contextlib import asynccontextmanager
from types import MappingProxyType

from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.source import ConformingSource, NotYetTheirs
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.conformance.embedded import EmbeddedConformance
from tests.opentripplanner.town_server import TownServer, serving
from tests.throwaway.conformance import new_client

URL = "http://town.example/otp/gtfs/v1"
# Large enough for a machine that is busy.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
_SHORT = RequestLimits(read_s=0.05, total_s=8.0, attempts=1)


class OpenTripPlannerConformance(ConformingSource):
    """The town behind OpenTripPlanner's GraphQL."""

    name = "opentripplanner"
    gaps = MappingProxyType(
        {
            "the_age_of_real_time_travels_with_the_answer": NotYetTheirs(
                "its GraphQL says of no trip, stop time or alert when it was last updated"
            )
        }
    )

    @asynccontextmanager
    async def open(self, town):
        record = NetworkRecord(name=town.name, source="opentripplanner", url=URL)
        async with (
            EmbeddedConformance().open(town) as served,
            serving(TownServer(town, served).answer) as port,
            new_client(port) as client,
        ):
            source = OpenTripPlannerSource(client.fetch, LIMITS)
            yield source.open(record, await source.learn(record))

    @asynccontextmanager
    async def open_in_trouble(self, town, trouble):
        record = NetworkRecord(name=town.name, source="opentripplanner", url=URL)
        async with EmbeddedConformance().open(town) as served:
            reply = TownServer(town, served).answer
            async with serving(reply) as port, new_client(port) as client:
                learned = await OpenTripPlannerSource(client.fetch, LIMITS).learn(record)
            async with serving(reply, trouble) as port, new_client(port) as client:
                yield OpenTripPlannerSource(client.fetch, _SHORT).open(record, learned)
