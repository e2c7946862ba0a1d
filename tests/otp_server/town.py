"""The conformance suite's town behind a real OpenTripPlanner, with straight streets between its stops."""

import zipfile
from contextlib import asynccontextmanager
from itertools import combinations

import osmium

from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.conformance.network_checks import NEAR_ALPHA
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.conformance.suite import ConformingSource
from tests.conformance.town import PLACES, new_town
from tests.net.reply_server import LIMITS
from tests.otp_server.server import LOOPBACK, OtpServer, build_graph
from tests.otp_server.updates import Updates

# Large enough for a machine that is busy, and for the first questions after a start.


def start_towns(folder):
    """Start the town twice, without real time and with it; return the two servers and what their real time says."""
    feed, streets = folder / "town.zip", folder / "town.osm.pbf"
    with zipfile.ZipFile(feed, "w") as archive:
        for name, text in new_town().tables.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    _write_streets(streets, [*PLACES.values(), (NEAR_ALPHA.lat, NEAR_ALPHA.lon)])
    graph = build_graph({new_town().name: feed}, [streets])
    updates = Updates()
    updates.say_message(new_town(live=True).realtime)
    still = OtpServer(graph=graph, folder=folder / "still")
    live = OtpServer(graph=graph, folder=folder / "live", realtime=updates.url)
    for server in (still, live):
        server.start()
    return still, live, updates


class RealTown(ConformingSource):
    """The town behind a real server; faults are tested with the other class, whose server can produce them."""

    name = "opentripplanner, a real one"
    gaps = OpenTripPlannerConformance.gaps

    def __init__(self, still, live):
        self._still, self._live = still, live

    @asynccontextmanager
    async def open(self, town):
        server = self._still if town.realtime is None else self._live
        record = NetworkRecord(name=town.name, source="opentripplanner", url=server.url)
        pace = Limiter(default_per_second=1000, default_burst=1000)
        async with Client(private_hosts=[LOOPBACK], limiter=pace) as client:
            source = OpenTripPlannerSource(client.fetch, LIMITS)
            yield source.open(record, await source.learn(record))


def _write_streets(path, corners):
    """Write footways between all corners; OpenTripPlanner reads no other format of OpenStreetMap than PBF."""
    mutable = osmium.osm.mutable
    with osmium.SimpleWriter(str(path)) as writer:
        for number, (lat, lon) in enumerate(corners, 1):
            writer.add_node(mutable.Node(id=number, version=1, location=(lon, lat)))
        for number, ends in enumerate(combinations(range(1, len(corners) + 1), 2), 1):
            writer.add_way(mutable.Way(id=number, version=1, nodes=ends, tags={"highway": "footway"}))
