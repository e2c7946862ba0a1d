"""A real network in memory with random realtime data, and the tools over it."""

from datetime import UTC, datetime

from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from tests.contracts.conftest import asker
from tests.riders.feed_tables import Tables
from tests.shared_data import get_shared


class Town:
    """A network of real feeds, and beside it the same feeds as their tables say."""

    def __init__(self, name, feeds, day, home):
        paths = [(feed, get_shared(path)) for feed, path in feeds]
        # What runs on Saturdays alone is answered on a Thursday too; of the larger cities a week is too much to hold.
        self.day, self.tables = day, Tables(paths, day, days_after=6 if name == "KINGSTON" else 1)
        self.timetable = import_feeds(name, [FeedSource(path, feed) for feed, path in paths]).timetable
        self.index = RealtimeIndex(self.timetable)
        self.network = EmbeddedNetwork(NetworkRecord(name=name, source="gtfs"), self.timetable)
        self._ask = asker(home, self.network)

    def publish(self, messages: dict[str, FeedMessage], now):
        received = [FeedBytes(message.SerializeToString(), now, feed) for feed, message in messages.items()]
        self.network.publish(read_realtime(self.index, received, now), self.day)

    def ask(self, question, **more):
        ends = [{"type": "coords", "value": {"lat": lat, "lon": lon}}
                for lat, lon in (question.origin, question.destination)]  # fmt: skip
        arguments = {
            "origin": ends[0], "destination": ends[1], "constraints": {
                "optimize": "shortest_time", "maxWalkingDistance": question.max_walk_m,
                "maxTransfers": question.max_rides - 1,
            }, **more,
        }  # fmt: skip
        return self.call("plan_trip", arguments)

    def call(self, tool, arguments):
        return self._ask(tool, arguments).body


def iso(instant):
    return datetime.fromtimestamp(instant, UTC).isoformat()
