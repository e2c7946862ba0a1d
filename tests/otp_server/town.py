"""The conformance suite's town behind a real OpenTripPlanner, with straight streets between its stops.

A street extract is written here by hand, because OpenTripPlanner reads no other format than OpenStreetMap's PBF.
"""

import struct
import zipfile
from contextlib import asynccontextmanager

from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.plan_conformance import NEAR_ALPHA
from fingerpost.testing.networks.suite import ConformingSource
from fingerpost.testing.networks.town import PLACES, new_town
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.otp_server.server import LOOPBACK, OtpServer, build_graph
from tests.otp_server.updates import Updates

# Large enough for a machine that is busy, and for the first questions after a start.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)


def start_towns(folder):
    """Start the town twice, without real time and with it; return the two servers and what their real time says."""
    feed, streets = folder / "town.zip", folder / "town.osm.pbf"
    with zipfile.ZipFile(feed, "w") as archive:
        for name, text in new_town().tables.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    near = (NEAR_ALPHA.lat, NEAR_ALPHA.lon)
    streets.write_bytes(_streets([*PLACES.values(), near]))
    graph = build_graph({new_town().name: feed}, [streets])
    updates = Updates()
    updates.say_message(new_town(live=True).realtime)
    still = OtpServer(graph=graph, folder=folder / "still")
    live = OtpServer(graph=graph, folder=folder / "live", realtime=updates.url)
    for server in (still, live):
        server.start()
    return still, live, updates


class RealTown(ConformingSource):
    """The town behind a real server; trouble is the other class's, whose server can be told to make some."""

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


def _streets(corners):
    words = [b"", b"highway", b"footway"]
    nodes = b""
    for at, corner in enumerate(corners, 1):
        lat, lon = (_zigzag(round(degrees * 1e7)) for degrees in corner)
        nodes += _bytes(1, _number(1, _zigzag(at)) + _number(8, lat) + _number(9, lon))
    pairs = [(one, other) for one in range(1, len(corners) + 1) for other in range(one + 1, len(corners) + 1)]
    ways = b"".join(
        _bytes(
            3,
            _number(1, at)
            + _bytes(2, _varint(1))
            + _bytes(3, _varint(2))
            + _bytes(8, _varint(_zigzag(one)) + _varint(_zigzag(other - one))),
        )
        for at, (one, other) in enumerate(pairs, 1)
    )
    table = _bytes(1, b"".join(_bytes(1, word) for word in words))
    block = table + _bytes(2, nodes) + _bytes(2, ways)
    return _blob(b"OSMHeader", _bytes(4, b"OsmSchema-V0.6")) + _blob(b"OSMData", block)


def _blob(kind, content):
    blob = _bytes(1, content)
    head = _bytes(1, kind) + _number(3, len(blob))
    return struct.pack(">I", len(head)) + head + blob


def _bytes(key, content):
    return _varint(key << 3 | 2) + _varint(len(content)) + content


def _number(key, value):
    return _varint(key << 3) + _varint(value)


def _zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))
