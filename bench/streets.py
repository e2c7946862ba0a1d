"""``make bench-streets``: what streets cost: plans with them and in a straight line, and preparing them.

Coordinates to coordinates in Tampere, in one process: the two kinds of walks take turns, question by question;
its processor time counts, so that other work on the machine disturbs little.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.shared_data import get_shared

from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.osm.streets.preparing import StreetPreparation
from fingerpost.transit.osm.streets.store import find_streets
from fingerpost.transit.port import JourneyQuery

GTFS, EXTRACT = "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf"
WANTED, ROUNDS = 200, 3
BOUND = 1.2
WHEN = int(datetime.fromisoformat("2022-02-22T08:00:00+02:00").timestamp())


def main() -> int:
    """Print the figures; 1 where the bound is missed."""
    straight, streets = prepare()
    questions = draw(straight)
    took = {"straight": [], "streets": []}
    for round_ in range(ROUNDS + 1):
        for question in questions:
            for name, network in (("straight", straight), ("streets", streets)):
                began = time.process_time()
                asyncio.run(network.plan_journeys(question))
                if round_:  # the first is not counted
                    took[name].append(time.process_time() - began)
    p50 = {name: statistics.median(each) * 1e3 for name, each in took.items()}
    p95 = {name: float(np.percentile(each, 95)) * 1e3 for name, each in took.items()}
    ratio = p50["streets"] / p50["straight"]
    for name in took:
        print(f"{name}: p50 {p50[name]:.2f} ms, p95 {p95[name]:.2f} ms, of {len(took[name])} plans")
    print(f"streets / straight line: {ratio:.2f} (at most {BOUND})")
    return int(ratio > BOUND)


def prepare():
    """Return the network in a straight line and with streets, and print what preparing took."""
    gtfs, extract = get_shared(GTFS), get_shared(EXTRACT)
    # Kernels are compiled before anything is counted.
    import_feeds("TAMPERE", [FeedSource(gtfs)], find_walks=StreetPreparation(extract).find_walks)
    took = {"straight": [], "streets": []}
    for _ in range(ROUNDS):
        began = time.process_time()
        plain = import_feeds("TAMPERE", [FeedSource(gtfs)])
        took["straight"].append(time.process_time() - began)
        began = time.process_time()
        preparation = StreetPreparation(extract)
        imported = import_feeds("TAMPERE", [FeedSource(gtfs)], find_walks=preparation.find_walks)
        took["streets"].append(time.process_time() - began)
    best = {name: min(each) for name, each in took.items()}
    print(f"prepared in {best['streets']:.2f} s with streets, {best['straight']:.2f} s without")
    print(f"{preparation.coverage}")
    folder = Path(tempfile.mkdtemp())
    preparation.save(folder)
    size = sum(path.stat().st_size for path in (folder / "streets").iterdir())
    print(
        f"streets on disk: {size / 1e6:.1f} MB; footpaths {len(imported.timetable.foot_to):,} and "
        f"{len(plain.timetable.foot_to):,}"
    )
    record = NetworkRecord(name="TAMPERE")
    return EmbeddedNetwork(record, plain.timetable), EmbeddedNetwork(
        record, imported.timetable, streets=find_streets(folder)
    )


def draw(network):
    """Return questions between points beside stops, seeded."""
    dice = np.random.default_rng(16)
    table = network.timetable
    rows = np.flatnonzero(table.stop_kind == STOP)
    questions = []
    for _ in range(WANTED):
        ends = [
            Location(
                coordinate=Coordinate(
                    float(table.stop_lat[row] + dice.uniform(-0.002, 0.002)),
                    float(table.stop_lon[row] + dice.uniform(-0.004, 0.004)),
                ),
                source=LocationSource.INPUT,
            )
            for row in dice.choice(rows, 2)
        ]
        instant = WHEN + int(dice.integers(0, 2 * 3600))
        questions.append(JourneyQuery(origin=ends[0], destination=ends[1], instant=instant))
    return questions


if __name__ == "__main__":
    sys.exit(main())
