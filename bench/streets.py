"""Measure the cost of streets: plans with street walks and straight walks, and preparation (``make bench-streets``).

The questions are between coordinates in Tampere, in one process. The two kinds of walks alternate from question to
question. Processor time is measured, which other work on the machine affects little.
"""

import asyncio
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np
from harness import HEAD, p95, report, report_pairs
from tests.shared_data import get_shared

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_import import StreetPreparation
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.osm.streets.store import find_streets, save_streets
from fingerpost.transit.port import JourneyQuery

FEED, GTFS, EXTRACT = "TAMPERE", "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf"
WANTED, ROUNDS = 200, 3
BOUND = 1.2
WHEN = int(datetime.fromisoformat("2022-02-22T08:00:00+02:00").timestamp())


def main() -> int:
    gtfs, extract = get_shared(GTFS), get_shared(EXTRACT)
    straight, _, straight_s = prepare(gtfs)
    streets, _, streets_s = prepare(gtfs, extract)
    print(f"Tampere with streets (ours) beside the straight line (theirs), in ms of processor time:\n{HEAD}")
    report("prepared", streets_s * 1e3, straight_s * 1e3)
    report("footpaths", *(len(network.timetable.footpaths.to) for network in (streets, straight)))
    took_ms = {straight: [], streets: []}
    for round_ in range(ROUNDS + 1):
        for question in draw(straight):
            for network, taken in took_ms.items():
                began = time.process_time()
                asyncio.run(network.plan_journeys(question))
                if round_:  # The first one is not counted.
                    taken.append((time.process_time() - began) * 1e3)
    report("a plan, p95", p95(took_ms[streets]), p95(took_ms[straight]))
    return 0 if report_pairs("a plan", took_ms[streets], took_ms[straight], bound=BOUND) else 1


def prepare(gtfs, extract=None, feed=FEED):
    """Return a network, its streets if there is an extract, and the least processor seconds for preparing both."""
    took_s = []
    for _ in range(ROUNDS + 1):  # Load the kernels before anything is measured.
        began = time.process_time()
        preparation = extract and StreetPreparation(extract)
        walks = {"find_walks": preparation.find_walks} if preparation else {}
        timetable = import_feeds(feed, [FeedSource(gtfs)], **walks).timetable
        took_s.append(time.process_time() - began)
    streets = None
    if preparation:
        folder = Path(tempfile.mkdtemp())
        save_streets(preparation.prepared, folder)
        streets = find_streets(folder)
        size = sum(path.stat().st_size for path in (folder / "streets").iterdir())
        print(f"{preparation.prepared.coverage}\nstreets on disk: {size / 1e6:.1f} MB")
    return EmbeddedNetwork(NetworkRecord(name=feed), timetable, streets=streets), streets, min(took_s[1:])


def draw(network, rows=None, wanted=WANTED):
    """Return questions between points beside stops (rows; default: all), seeded."""
    dice = np.random.default_rng(16)
    table = network.timetable
    rows = np.flatnonzero(table.stop_kind == STOP) if rows is None else rows

    def near(row):
        lat = float(table.stop_lat[row] + dice.uniform(-0.002, 0.002))
        lon = float(table.stop_lon[row] + dice.uniform(-0.004, 0.004))
        return Location(coordinate=Coordinate(lat, lon), source=LocationSource.INPUT)

    questions = []
    for _ in range(wanted):
        ends = [near(row) for row in dice.choice(rows, 2)]
        instant = WHEN + int(dice.integers(0, 2 * 3600))
        questions.append(JourneyQuery(origin=ends[0], destination=ends[1], instant=instant))
    return questions


if __name__ == "__main__":
    sys.exit(main())
