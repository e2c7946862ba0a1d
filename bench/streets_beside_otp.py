"""Walks beside a real OpenTripPlanner on the same extract: metres and seconds, pin to street left out on both sides.

    python bench/streets_beside_otp.py [tampere|helsinki] [HOW MANY]

Ours walk at its pace with its turns, about 1.29 m/s (decision 0480).
Half of the points are stops, the others lie anywhere near streets.
It drops ways that leave the extract; ours walk them as far as they are in it.
"""

import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walking import straight_line_m
from fingerpost.transit.osm.streets.building import build_graph as build_streets
from fingerpost.transit.osm.streets.extract import RidersArea, read_extract
from fingerpost.transit.osm.streets.graph import RIDER, weigh
from fingerpost.transit.osm.streets.search import StreetSearch
from fingerpost.transit.osm.streets.snapping import build_grid, snap_pin, snap_to_streets

THEIRS = replace(RIDER, pace_m_per_s=1.29, lift_s=110.0, escalator_avoided=0.75)
CITIES = {
    "tampere": ("TAMPERE", "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf", {}),
    "helsinki": (
        "HSL",
        "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip",
        "gtfs/helsinki/helsinki_centre_2020.osm.pbf",
        {"areaVisibility": True},
    ),
}
NEAREST_M, FURTHEST_M = 200.0, 2000.0
# Walks further apart than this are listed.
FAR_S = 60.0
_LONGEST_M = 20_000.0
WALK = """query ($from: PlanLabeledLocationInput!, $to: PlanLabeledLocationInput!) {
  planConnection(origin: $from, destination: $to, modes: {directOnly: true, direct: [WALK]}, first: 1) {
    edges { node { walkDistance duration } } } }"""


@dataclass(frozen=True, kw_only=True)
class StreetMeasure:
    """Walks on one graph of ours."""

    graph: object
    grid: object
    search: object

    @classmethod
    def on(cls, graph, grid, profile):
        """Return what measures walks on a graph by a walking profile."""
        return cls(graph=graph, grid=grid, search=StreetSearch(graph, weigh(graph, profile)))

    def snap(self, place, *, is_pin=True):
        """Return where a place meets the streets: a stop at the nearest way, a pin rather on the ground."""
        if is_pin:
            return snap_pin(self.graph, self.grid, *place)
        return snap_to_streets(self.graph, self.grid, np.array([place[0]]), np.array([place[1]]))

    def walk(self, start, end):
        """Return the metres and seconds between two places that were snapped, None where there is no way."""
        walked = self.search.measure(start, end, _LONGEST_M)
        return None if walked.metres[0] < 0 else (float(walked.metres[0]), float(walked.seconds[0]))


def main(city: str = "tampere", wanted: str = "600") -> None:
    """Ask both, and print how far apart they are."""
    feed, gtfs, extract, build_config = CITIES[city]
    gtfs, extract = get_shared(gtfs), get_shared(extract)
    table = import_feeds(feed, [FeedSource(gtfs)]).timetable
    stops = table.stop_kind == STOP
    lats, lons = table.stop_lat[stops], table.stop_lon[stops]
    began = time.perf_counter()
    ours = measure_on(extract, lats, lons)
    print(f"{city}: prepared in {time.perf_counter() - began:.2f} s, {ours.graph.edge_count:,} edges")
    pairs = draw_pairs(ours.graph, ours.grid, lats, lons, int(wanted))
    with serving_otp({feed: gtfs}, extract, **build_config) as server:
        report([compare(server, ours, pair) for pair in pairs])


@contextmanager
def serving_otp(feeds, extract, **build_config):
    """Run a real OpenTripPlanner of feeds and an extract until the block ends."""
    with tempfile.TemporaryDirectory(prefix="fingerpost-otp-") as folder:
        server = OtpServer(graph=build_graph(feeds, [extract], **build_config), folder=Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def measure_on(extract, lats, lons):
    """Return what measures walks on the streets of an extract around stops."""
    with tempfile.TemporaryDirectory() as scratch:
        graph = build_streets(read_extract(extract, RidersArea(lats, lons), Path(scratch))).graph
    return StreetMeasure.on(graph, build_grid(graph), THEIRS)


def draw_pairs(graph, grid, lats, lons, wanted):
    """Return pairs of places 200 to 2,000 m apart, seeded: stops, and pins beside them, all near streets."""
    dice = np.random.default_rng(16)
    pairs = []
    while len(pairs) < wanted:
        rows = dice.integers(0, len(lats), 2)
        is_pin = len(pairs) % 2 == 1
        off = dice.uniform(-0.003, 0.003, (2, 2)) * is_pin
        ends = [(float(lats[row] + dy), float(lons[row] + 2 * dx)) for row, (dy, dx) in zip(rows, off, strict=True)]
        apart_m = float(straight_line_m(*ends[0], np.array([ends[1][0]]), np.array([ends[1][1]]))[0])
        snapped = snap_to_streets(graph, grid, np.array([ends[0][0], ends[1][0]]), np.array([ends[0][1], ends[1][1]]))
        if NEAREST_M <= apart_m <= FURTHEST_M and (snapped.away_m < 100).all() and (snapped.edge >= 0).all():
            pairs.append(tuple((place, is_pin) for place in ends))
    return pairs


def compare(server, ours, ends):
    """Return both (metres, seconds) of a walk, and the ends; None for either where there is no way."""
    mine = ours.walk(*(ours.snap(place, is_pin=is_pin) for place, is_pin in ends))
    told = ask_walk(server, *(place for place, _ in ends))
    return mine, told and (told["walkDistance"], told["duration"]), ends


def located(lat, lon):
    return {"location": {"coordinate": {"latitude": lat, "longitude": lon}}}


def ask_walk(server, start, end):
    """Return its walk between two places, None where it finds none."""
    told = server.ask(WALK, **{"from": located(*start), "to": located(*end)})
    edges = (told.get("data") or {}).get("planConnection", {}).get("edges", [])
    return edges[0]["node"] if edges else None


def report(rows):
    """Print the differences, and each walk that is over a minute apart or that one of the two lacks."""
    both = [row for row in rows if row[0] and row[1]]
    print(
        f"{len(rows)} walks asked, {len(both)} found by both; only ours {sum(bool(o) and not t for o, t, _ in rows)}, "
        f"only theirs {sum(bool(t) and not o for o, t, _ in rows)}"
    )
    for column, what in enumerate(("metres", "seconds")):
        values = [abs(mine[column] - theirs[column]) for mine, theirs, _ in both]
        print(
            f"{what}: median {statistics.median(values):.1f}, p95 {np.percentile(values, 95):.1f}, "
            f"worst {max(values):.0f}"
        )
    print(f"within 30 s: {np.mean(np.array(values) <= 30):.1%}")
    for mine, theirs, ends in rows:
        if not (mine and theirs) or abs(mine[1] - theirs[1]) > FAR_S:
            told = " and ".join(f"{walk[0]:.0f} m {walk[1]:.0f} s" if walk else "none" for walk in (mine, theirs))
            print(f"  ours and theirs: {told}, {ends[0][0]} to {ends[1][0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
