"""Compare walks and trips with a real OpenTripPlanner, which this script starts on the same feed and extract.

    python bench/beside_otp.py streets [tampere|helsinki] [HOW MANY]
    python bench/beside_otp.py trips [HOW MANY]

Streets: the metres and seconds of walks, without the way from a pin to the street on either side. Our seconds are
scaled to OpenTripPlanner's pace, including turns, about 1.29 m/s (decision 0480). Half of the points are stops; the
others are anywhere near streets. OpenTripPlanner drops ways that leave the extract; ours are cut at its boundary.

Trips, in Tampere: the walks in its itineraries, measured on our streets in the same way, and which planner arrives
earlier. Then the cost of a question and of the preparation, in seconds of processor time, which other work on the
machine affects little.
"""

import asyncio
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from harness import HEAD, p50, p95, report
from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S, straight_line_m
from fingerpost.transit.osm.streets.graph import compute_weights
from fingerpost.transit.osm.streets.search import StreetSearch
from fingerpost.transit.osm.streets.snapping import snap_pin, snap_to_streets
from streets import EXTRACT, FEED, GTFS, draw, prepare

THEIR_PACE_M_PER_S = 1.29
CITIES = {
    "tampere": (FEED, GTFS, EXTRACT, {}),
    "helsinki": (
        "HSL",
        "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip",
        "gtfs/helsinki/helsinki_centre_2020.osm.pbf",
        {"areaVisibility": True},
    ),
}
NEAREST_M, FURTHEST_M = 200.0, 2000.0
# Walks that differ by more than this are listed.
FAR_S = 60.0
_MAX_M = 20_000.0
WALK = """query ($from: PlanLabeledLocationInput!, $to: PlanLabeledLocationInput!) {
  planConnection(origin: $from, destination: $to, modes: {directOnly: true, direct: [WALK]}, first: 1) {
    edges { node { walkDistance duration } } } }"""
ZONE = ZoneInfo("Europe/Helsinki")
PREPARING, TIMES = 0.15, 20.0
CLOCK_TICKS = 100
PLACE = "name lat lon stop { gtfsId }"
TRIP = (
    "query ($from: PlanLabeledLocationInput!, $to: PlanLabeledLocationInput!, $at: OffsetDateTime!) {"
    " planConnection(origin: $from, destination: $to, dateTime: {earliestDeparture: $at}, first: 5) {"
    " edges { node { start end legs { mode duration"
    f" from {{ {PLACE} }} to {{ {PLACE} }} trip {{ gtfsId }} }} }} }} }} }}"
)
# Arrivals that differ by less than this count as equal.
SAME_S = 60


class StreetMeasure:
    """Walks on our streets, in seconds at OpenTripPlanner's pace."""

    def __init__(self, streets):
        self.graph, self.grid = streets.graph, streets.grid
        self.search = StreetSearch(streets.graph, compute_weights(streets.graph))

    def snap(self, place, *, is_pin=True):
        """Return where a place connects to the streets: a stop at the nearest way, a pin preferably at ground level."""
        if is_pin:
            return snap_pin(self.graph, self.grid, *place)
        return snap_to_streets(self.graph, self.grid, np.array([place[0]]), np.array([place[1]]))

    def walk(self, start, end):
        """Return the metres and seconds between two snapped places, or None if there is no way."""
        path = self.search.measure(start, end, _MAX_M)
        return None if path is None else (path.metres, path.seconds * PACE_M_PER_S / THEIR_PACE_M_PER_S)


def compare_streets(city: str = "tampere", wanted: str = "600") -> None:
    feed, gtfs, extract, build_config = CITIES[city]
    gtfs, extract = get_shared(gtfs), get_shared(extract)
    network, streets, _ = prepare(gtfs, extract, feed)
    ours = StreetMeasure(streets)
    pairs = draw_pairs(ours, network.timetable, int(wanted))
    with serving_otp({feed: gtfs}, extract, **build_config) as server:
        report_walks([compare(server, ours, pair) for pair in pairs])


@contextmanager
def serving_otp(feeds, extract, **build_config):
    with tempfile.TemporaryDirectory(prefix="fingerpost-otp-") as folder:
        server = OtpServer(graph=build_graph(feeds, [extract], **build_config), folder=Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def draw_pairs(ours, table, wanted):
    """Return pairs of places 200 to 2,000 m apart, seeded: stops, and pins beside them, all near streets."""
    stops = table.stop_kind == STOP
    lats, lons = table.stop_lat[stops], table.stop_lon[stops]
    dice = np.random.default_rng(16)
    pairs = []
    while len(pairs) < wanted:
        rows = dice.integers(0, len(lats), 2)
        is_pin = len(pairs) % 2 == 1
        off = dice.uniform(-0.003, 0.003, (2, 2)) * is_pin
        ends = [(float(lats[row] + dy), float(lons[row] + 2 * dx)) for row, (dy, dx) in zip(rows, off, strict=True)]
        apart_m = float(straight_line_m(*ends[0], np.array([ends[1][0]]), np.array([ends[1][1]]))[0])
        snapped = [ours.snap(place, is_pin=False) for place in ends]
        is_near = all(place.away_m[0] < 100 and place.edge[0] >= 0 for place in snapped)
        if NEAREST_M <= apart_m <= FURTHEST_M and is_near:
            pairs.append(tuple((place, is_pin) for place in ends))
    return pairs


def compare(server, ours, ends):
    """Return (metres, seconds) of a walk for both planners, and its ends; None for a planner that finds no way."""
    mine = ours.walk(*(ours.snap(place, is_pin=is_pin) for place, is_pin in ends))
    found = ask_otp(server, WALK, *(place for place, _ in ends))
    return mine, (found[0]["walkDistance"], found[0]["duration"]) if found else None, ends


def ask_otp(server, query, *ends, **more):
    """Return OpenTripPlanner's itineraries between two places (lat, lon)."""
    asked = [{"location": {"coordinate": {"latitude": lat, "longitude": lon}}} for lat, lon in ends]
    told = server.ask(query, **{"from": asked[0], "to": asked[1]}, **more)
    return [edge["node"] for edge in (told.get("data") or {}).get("planConnection", {}).get("edges", [])]


def report_walks(rows):
    both = [row for row in rows if row[0] and row[1]]
    print(
        f"{len(rows)} walks asked, {len(both)} found by both; only ours {sum(bool(o) and not t for o, t, _ in rows)}, "
        f"only theirs {sum(bool(t) and not o for o, t, _ in rows)}"
    )
    for column, what in enumerate(("metres", "seconds")):
        values = [abs(mine[column] - theirs[column]) for mine, theirs, _ in both]
        print(f"{what}: median {p50(values):.1f}, p95 {p95(values):.1f}, worst {max(values):.0f}")
    print(f"within 30 s: {np.mean(np.array(values) <= 30):.1%}")
    for mine, theirs, ends in rows:
        if not (mine and theirs) or abs(mine[1] - theirs[1]) > FAR_S:
            told = " and ".join(f"{walk[0]:.0f} m {walk[1]:.0f} s" if walk else "none" for walk in (mine, theirs))
            print(f"  ours and theirs: {told}, {ends[0][0]} to {ends[1][0]}")


def compare_trips(wanted: str = "200") -> None:
    gtfs, extract = get_shared(GTFS), get_shared(EXTRACT)
    network, streets, took_s = prepare(gtfs, extract)
    questions = draw(network)[: int(wanted)]
    with serving_otp({FEED: gtfs}, extract) as server:
        for question in questions[:20]:
            ask(server, question)
        began = processor_s(server)
        theirs = [ask(server, question) for question in questions]
        their_s = (processor_s(server) - began) / len(questions)
        ours, our_s = plan(network, questions)
        compare_walks(network, streets, theirs)
        compare_arrivals(questions, ours, theirs)
    print(f"In ms of processor time:\n{HEAD}")
    report("a question", our_s * 1e3, their_s * 1e3, bound=1 / TIMES)
    report("prepared", took_s * 1e3, measure_build(gtfs, extract) * 1e3, bound=PREPARING)


def measure_build(gtfs, extract):
    """Return the seconds of processor time that OpenTripPlanner takes to build the graph; discard the graph."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    graph = build_graph({FEED: gtfs}, [extract], transitServiceEnd=f"2098-01-{1 + time.time_ns() % 28:02d}")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(graph.folder)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def processor_s(server):
    words = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / CLOCK_TICKS


def ask(server, question):
    ends = [(end.coordinate.lat, end.coordinate.lon) for end in (question.origin, question.destination)]
    return ask_otp(server, TRIP, *ends, at=datetime.fromtimestamp(question.instant, ZONE).isoformat())


def plan(network, questions):
    """Return our itineraries, and the seconds of processor time per question."""
    for question in questions[:20]:
        asyncio.run(network.plan_journeys(question))

    async def query_all():
        return [await network.plan_journeys(question) for question in questions]

    began = time.process_time()
    answers = asyncio.run(query_all())
    return [answer.itineraries for answer in answers], (time.process_time() - began) / len(questions)


def compare_walks(network, streets, theirs):
    """Print how much the total walks in its itineraries differ from ours, on our streets at its pace."""
    measure = StreetMeasure(streets)
    apart_s = []
    for itinerary in (found for answer in theirs for found in answer if any(leg["trip"] for leg in found["legs"])):
        total_s = ours_s = 0.0
        for leg in (leg for leg in itinerary["legs"] if leg["mode"] == "WALK"):
            ends = [place_of(network, streets, leg[side]) for side in ("from", "to")]
            walked = measure.walk(*(measure.snap(end, is_pin=False) for end in ends))
            ours_s += walked[1] if walked else np.inf
            total_s += leg["duration"]
        apart_s.append(abs(ours_s - total_s))
    differences = f"{p50(apart_s):.1f} s at the median, {p95(apart_s):.0f} s at p95"
    print(f"{len(apart_s)} itineraries of theirs: the sums of walks differ by {differences}")


def place_of(network, streets, place):
    """Return a place of its itinerary on our streets: that of the stop if known, else its position."""
    stop = (place.get("stop") or {}).get("gtfsId", ":").partition(":")[2]
    ids = list(network.timetable.stop_local_id)
    if stop not in ids:
        return place["lat"], place["lon"]
    at = int(np.searchsorted(streets.access.stop, ids.index(stop)))
    return float(streets.access.lat[at]), float(streets.access.lon[at])


def compare_arrivals(questions, ours, theirs):
    """Print how often each planner arrives earlier, and each question on which they differ; no trip is the latest."""
    counts = Counter()
    for question, mine, found in zip(questions, ours, theirs, strict=True):
        best = min((itinerary.arrival for itinerary in mine), default=np.inf)
        its = min((datetime.fromisoformat(itinerary["end"]).timestamp() for itinerary in found), default=np.inf)
        is_same = best == its or abs(best - its) <= SAME_S
        who = "as early" if is_same else "we are earlier" if best < its else "we are later"
        counts[who] += 1
        if not is_same:
            print(f"  {who}, {best} and {its}: {question.origin.coordinate} to {question.destination.coordinate}")
    print(f"arrivals: {dict(counts)}")


if __name__ == "__main__":
    {"streets": compare_streets, "trips": compare_trips}[sys.argv[1]](*sys.argv[2:])
