"""Walks beside a real OpenTripPlanner on the same extract: metres and seconds, pin to street left out on both sides.

    python bench/streets_beside_otp.py [tampere|helsinki] [HOW MANY] [whole]

Ours walk with its pace and turns (decision 0480). Half of the points are stops, the others lie anywhere near streets.
It drops ways that leave the extract; ``whole`` drops them for ours too, which else walk them as far as they are in it.
"""

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import osmium

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.transit.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.streets.building import build_graph as build_streets
from fingerpost.transit.streets.extract import read_extract
from fingerpost.transit.streets.riders_area import RidersArea
from fingerpost.transit.streets.search import StreetSearch
from fingerpost.transit.streets.snapping import build_grid, snap_to_streets
from fingerpost.transit.streets.walking_profile import RIDER, weigh
from fingerpost.transit.timetable.timetable import STOP
from fingerpost.transit.timetable.walking import straight_line_m

THEIRS = replace(RIDER, pace_m_per_s=1.33, turn_degrees_per_m=20.0, lift_s=0.0)
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
WALK = """query ($from: PlanLabeledLocationInput!, $to: PlanLabeledLocationInput!) {
  planConnection(origin: $from, destination: $to, modes: {directOnly: true, direct: [WALK]}, first: 1) {
    edges { node { walkDistance duration } } } }"""


def main(city: str = "tampere", wanted: str = "600", ways: str = "all") -> None:
    """Ask both, and print how far apart they are."""
    feed, gtfs, extract, build_config = CITIES[city]
    gtfs, extract = get_shared(gtfs), get_shared(extract)
    table = import_feeds(feed, [FeedSource(gtfs)]).timetable
    stops = table.stop_kind == STOP
    lats, lons = table.stop_lat[stops], table.stop_lon[stops]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        read = drop_cut_ways(extract, Path(scratch)) if ways == "whole" else extract
        built = build_streets(read_extract(read, RidersArea(lats, lons), Path(scratch)))
    grid = build_grid(built.graph)
    print(f"{city}: prepared in {time.perf_counter() - began:.2f} s, {built.graph.edge_count:,} edges")
    search = StreetSearch(built.graph, weigh(built.graph, THEIRS))
    pairs = draw_pairs(built.graph, grid, lats, lons, int(wanted))
    with tempfile.TemporaryDirectory(prefix="fingerpost-otp-") as folder:
        server = OtpServer(graph=build_graph({feed: gtfs}, [extract], **build_config), folder=Path(folder))
        server.start()
        try:
            rows = [compare(server, search, built.graph, grid, *pair) for pair in pairs]
        finally:
            server.stop()
    report([row for row in rows if row is not None], len(pairs))


def drop_cut_ways(extract, folder):
    """Return an extract without the ways of which it lacks nodes."""
    path, nodes = folder / "whole.osm.pbf", set()
    with osmium.SimpleWriter(str(path)) as writer:
        for each in osmium.FileProcessor(str(extract)):
            if each.is_node():
                nodes.add(each.id)
            if not each.is_way() or all(node.ref in nodes for node in each.nodes):
                writer.add(each)
    return path


def draw_pairs(graph, grid, lats, lons, wanted):
    """Return pairs of points 200 to 2,000 m apart, seeded: stops, and points beside them, all near streets."""
    dice = np.random.default_rng(16)
    pairs = []
    while len(pairs) < wanted:
        rows = dice.integers(0, len(lats), 2)
        off = dice.uniform(-0.003, 0.003, (2, 2)) * (len(pairs) % 2)
        ends = [(float(lats[row] + dy), float(lons[row] + 2 * dx)) for row, (dy, dx) in zip(rows, off, strict=True)]
        apart_m = float(straight_line_m(*ends[0], np.array([ends[1][0]]), np.array([ends[1][1]]))[0])
        snapped = snap_to_streets(graph, grid, np.array([ends[0][0], ends[1][0]]), np.array([ends[0][1], ends[1][1]]))
        if NEAREST_M <= apart_m <= FURTHEST_M and (snapped.away_m < 100).all() and (snapped.edge >= 0).all():
            pairs.append(tuple(ends))
    return pairs


def compare(server, search, graph, grid, start, end):
    """Return both (metres, seconds) of a walk, and its ends; None for either where there is no way."""
    first, last = (snap_to_streets(graph, grid, np.array([lat]), np.array([lon])) for lat, lon in (start, end))
    walked = search.measure_one(first, last, 20_000.0)
    ours = None if walked.metres[0] < 0 else (float(walked.metres[0]), float(walked.seconds[0]))
    ends = [{"location": {"coordinate": {"latitude": lat, "longitude": lon}}} for lat, lon in (start, end)]
    told = server.ask(WALK, **{"from": ends[0], "to": ends[1]})
    edges = (told.get("data") or {}).get("planConnection", {}).get("edges", [])
    theirs = (edges[0]["node"]["walkDistance"], edges[0]["node"]["duration"]) if edges else None
    return ours, theirs, start, end


def report(rows, asked):
    """Print the differences."""
    both = [(ours, theirs, start, end) for ours, theirs, start, end in rows if ours and theirs]
    metres = [abs(ours[0] - theirs[0]) for ours, theirs, _, _ in both]
    seconds = [abs(ours[1] - theirs[1]) for ours, theirs, _, _ in both]
    print(
        f"{asked} walks asked, {len(both)} found by both; only ours {sum(bool(o) and not t for o, t, _, _ in rows)}, "
        f"only theirs {sum(bool(t) and not o for o, t, _, _ in rows)}"
    )
    for what, values in (("metres", metres), ("seconds", seconds)):
        print(
            f"{what}: median {statistics.median(values):.1f}, p95 {np.percentile(values, 95):.1f}, "
            f"worst {max(values):.0f}"
        )
    print(f"within 30 s: {np.mean(np.array(seconds) <= 30):.1%}")
    for ours, theirs, start, end in both:
        if abs(ours[1] - theirs[1]) > 60:
            told = " and ".join(f"{metres:.0f} m {seconds:.0f} s" for metres, seconds in (ours, theirs))
            print(f"  over 60 s: {told} (ours and theirs), {start} to {end}")


if __name__ == "__main__":
    main(*sys.argv[1:])
