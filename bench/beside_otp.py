"""Walks and trips beside a real OpenTripPlanner on the same feed and extract, which it starts.

    python bench/beside_otp.py streets [tampere|helsinki] [HOW MANY]
    python bench/beside_otp.py trips [HOW MANY]

Streets: metres and seconds of walks, pin to street left out on both sides. Ours walk at its pace with its turns, about
1.29 m/s (decision 0480). Half of the points are stops, the others lie anywhere near streets. It drops ways that leave
the extract; ours walk them as far as they are in it.

Trips, in Tampere: the walks of its itineraries, measured on our streets in the same way; where we arrive earlier,
whether our itinerary can be walked on its streets; where it arrives earlier, or alone answers, why, by living through
its itinerary by our rules. Then what a question and preparing cost: seconds of processor time, which other work on the
machine disturbs little.
"""

import asyncio
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from harness import HEAD, p95, report

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.streets import EXTRACT, FEED, GTFS, draw, prepare
from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S, straight_line_m
from fingerpost.transit.osm.streets.graph import RIDER, weigh
from fingerpost.transit.osm.streets.search import StreetSearch
from fingerpost.transit.osm.streets.snapping import snap_pin, snap_to_streets

THEIRS = replace(RIDER, pace_m_per_s=1.29, lift_s=110.0, escalator_avoided=0.75)
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
# Walks further apart than this are listed.
FAR_S = 60.0
_LONGEST_M = 20_000.0
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
    " edges { node { start end legs { mode duration start { scheduledTime } end { scheduledTime }"
    f" from {{ {PLACE} }} to {{ {PLACE} }} trip {{ gtfsId }} }} }} }} }} }}"
)
UNKNOWN = "unknown"
# Arrivals nearer than this are the same: its times are of whole minutes of no feed.
SAME_S = 60


@dataclass(frozen=True, kw_only=True)
class StreetMeasure:
    """Walks on one graph of ours."""

    graph: object
    grid: object
    search: object

    @classmethod
    def on(cls, streets, profile):
        """Return what measures walks on stored streets by a walking profile."""
        search = StreetSearch(streets.graph, weigh(streets.graph, profile))
        return cls(graph=streets.graph, grid=streets.grid, search=search)

    def snap(self, place, *, is_pin=True):
        """Return where a place meets the streets: a stop at the nearest way, a pin rather on the ground."""
        if is_pin:
            return snap_pin(self.graph, self.grid, *place)
        return snap_to_streets(self.graph, self.grid, np.array([place[0]]), np.array([place[1]]))

    def walk(self, start, end):
        """Return the metres and seconds between two places that were snapped, None where there is no way."""
        walked = self.search.measure(start, end, _LONGEST_M)
        return None if walked.metres[0] < 0 else (float(walked.metres[0]), float(walked.seconds[0]))


def compare_streets(city: str = "tampere", wanted: str = "600") -> None:
    """Ask both, and print how far apart they are."""
    feed, gtfs, extract, build_config = CITIES[city]
    gtfs, extract = get_shared(gtfs), get_shared(extract)
    network, streets, _ = prepare(gtfs, extract, feed)
    ours = StreetMeasure.on(streets, THEIRS)
    pairs = draw_pairs(ours, network.timetable, int(wanted))
    with serving_otp({feed: gtfs}, extract, **build_config) as server:
        report_walks([compare(server, ours, pair) for pair in pairs])


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
    """Return both (metres, seconds) of a walk, and the ends; None for either where there is no way."""
    mine = ours.walk(*(ours.snap(place, is_pin=is_pin) for place, is_pin in ends))
    told = ask_walk(server, *(place for place, _ in ends))
    return mine, told and (told["walkDistance"], told["duration"]), ends


def ask_otp(server, query, *ends, **more):
    """Return its itineraries between two places (lat, lon)."""
    asked = [{"location": {"coordinate": {"latitude": lat, "longitude": lon}}} for lat, lon in ends]
    told = server.ask(query, **{"from": asked[0], "to": asked[1]}, **more)
    return [edge["node"] for edge in (told.get("data") or {}).get("planConnection", {}).get("edges", [])]


def ask_walk(server, start, end):
    """Return its walk between two places, None where it finds none."""
    return next(iter(ask_otp(server, WALK, start, end)), None)


def report_walks(rows):
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


def compare_trips(wanted: str = "200") -> None:
    """Print the figures."""
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
        compare_arrivals(server, network, streets, questions, ours, theirs)
    print(f"In ms of processor time:\n{HEAD}")
    report("a question", our_s * 1e3, their_s * 1e3, bound=1 / TIMES)
    report("prepared", took_s * 1e3, measure_build(gtfs, extract) * 1e3, bound=PREPARING)


def measure_build(gtfs, extract):
    """Return the seconds of processor time that it takes to build the graph, which is thrown away."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    graph = build_graph({FEED: gtfs}, [extract], transitServiceEnd=f"2098-01-{1 + time.time_ns() % 28:02d}")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(graph.folder)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def processor_s(server):
    """Return the seconds of processor time that the server has taken."""
    words = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / CLOCK_TICKS


def ask(server, question):
    """Return its itineraries."""
    ends = [(end.coordinate.lat, end.coordinate.lon) for end in (question.origin, question.destination)]
    return ask_otp(server, TRIP, *ends, at=datetime.fromtimestamp(question.instant, ZONE).isoformat())


def plan(network, questions):
    """Return our itineraries, and the seconds of processor time a question."""
    for question in questions[:20]:
        asyncio.run(network.plan_journeys(question))

    async def ask_all():
        return [await network.plan_journeys(question) for question in questions]

    began = time.process_time()
    answers = asyncio.run(ask_all())
    return [answer.itineraries for answer in answers], (time.process_time() - began) / len(questions)


def compare_walks(network, streets, theirs):
    """Print how far the sums of walks of its itineraries lie from ours, on our streets at its pace."""
    measure = StreetMeasure.on(streets, THEIRS)
    apart_s = []
    for itinerary in (found for answer in theirs for found in answer if any(leg["trip"] for leg in found["legs"])):
        total_s = ours_s = 0.0
        for leg in (leg for leg in itinerary["legs"] if leg["mode"] == "WALK"):
            ends = [place_of(network, streets, leg[side]) for side in ("from", "to")]
            walked = measure.walk(*(measure.snap(end, is_pin=False) for end in ends))
            ours_s += walked[1] if walked else np.inf
            total_s += leg["duration"]
        apart_s.append(abs(ours_s - total_s))
    print(
        f"{len(apart_s)} itineraries of theirs: the sums of walks differ by {statistics.median(apart_s):.1f} s at the "
        f"median, {p95(apart_s):.0f} s at p95"
    )


def place_of(network, streets, place):
    """Return where a place of its itinerary is: a stop's own on the streets, else its position."""
    stop = (place.get("stop") or {}).get("gtfsId", ":").partition(":")[2]
    ids = list(network.timetable.stop_local_id)
    if stop not in ids:
        return place["lat"], place["lon"]
    at = int(np.searchsorted(streets.access.stop, ids.index(stop)))
    return float(streets.access.lat[at]), float(streets.access.lon[at])


def compare_arrivals(server, network, streets, questions, ours, theirs):
    """Print who arrives earlier; where we do, whether its streets let a rider keep our itinerary, else why it does."""
    counts, causes = Counter(), Counter()
    measure = StreetMeasure.on(streets, RIDER)
    where = partial(place_of, network, streets)
    for question, mine, found in zip(questions, ours, theirs, strict=True):
        best = min(mine, key=lambda itinerary: itinerary.arrival, default=None)
        its = min(found, key=lambda itinerary: _seconds(itinerary["end"]), default=None)
        arrival = _seconds(its["end"]) if its else float("inf")
        who = _who_is_earlier(best, its, arrival)
        counts[who] += 1
        if who in ("we are earlier", "only we answer"):
            cause = judge(server, question, best, arrival)
            print(f"  {who}, by {arrival - best.arrival:.0f} s: {cause}")
        elif who in ("we are later", "only it answers"):
            cause = find_cause(where, measure, question, its, best and best.arrival)
            if cause == UNKNOWN:
                print(f"  {who}, and why is unknown: {question.origin.coordinate}, {its}, {best}")
        else:
            continue
        causes[f"{who}: {cause.partition(':')[0]}"] += 1
    print(f"arrivals: {dict(counts)}")
    for cause, count in causes.most_common():
        print(f"  {count} {cause}")


def _seconds(text):
    return datetime.fromisoformat(text).timestamp()


def _who_is_earlier(best, its, arrival):
    if best is None or its is None:
        return "nobody answers" if best is its else "only it answers" if best is None else "only we answer"
    if abs(best.arrival - arrival) <= SAME_S:
        return "as early"
    return "we are earlier" if best.arrival < arrival else "we are later"


def judge(server, question, itinerary, arrival):
    """Return whether our itinerary stands on its streets: what a rider at its pace catches, and when he is there."""
    at = question.instant
    for leg in itinerary.legs:
        if leg.is_transit:
            if at > leg.departure:
                return f"missed: {leg.line} at {leg.start.name} by {at - leg.departure:.0f} s"
            at = leg.arrival
            continue
        walked = ask_walk(server, *((point.coordinate.lat, point.coordinate.lon) for point in (leg.start, leg.end)))
        # Two points on one street, next to each other, are no walk to it.
        if walked is None and (leg.distance_m or 0) >= 50:
            return f"not walked: {leg.start.name} to {leg.end.name}, {leg.distance_m:.0f} m"
        at += walked["duration"] if walked else leg.duration_s
    return "stands" if at < arrival - SAME_S else "no earlier: its walks take longer"


def find_cause(where, measure, question, itinerary, our_arrival):
    """Return why an itinerary of its is not ours by our pace, slack and limits; ``our_arrival`` may be None."""
    legs = itinerary["legs"]
    walked = [_walk(where, measure, leg) if leg["mode"] == "WALK" else (0.0, 0.0) for leg in legs]
    if sum(metres for metres, _ in walked) > question.max_walk_m:
        return "it walks further than our limit in sum"
    if sum(leg["trip"] is not None for leg in legs) > question.max_transfers + 1:
        return "it changes more often than we do"
    at, is_first, walk_s = question.instant, True, 0.0
    for leg, (_, seconds) in zip(legs, walked, strict=True):
        if leg["mode"] == "WALK":
            walk_s += seconds
            continue
        begins, ends = (_seconds(leg[side]["scheduledTime"]) for side in ("start", "end"))
        if is_first and at + walk_s > begins:
            return "at our pace, from the pin to its street too, the first of its rides is missed"
        if at + walk_s > begins:
            return "at our pace a change of its is missed"
        if not is_first and at + walk_s + CHANGE_SLACK_S > begins:
            return "one of its changes leaves less than our slack"
        at, is_first, walk_s = ends, False, 0.0
    if our_arrival is not None and at + walk_s > our_arrival - SAME_S:
        return "at our pace, from the street to the pin too, its last walk ends no earlier than ours"
    return UNKNOWN


def _walk(where, measure, leg):
    """Return the metres and seconds of a walk of its on our streets, the ways from pins to streets included."""
    snapped = [measure.snap(where(leg[side])) for side in ("from", "to")]
    found = measure.walk(*snapped)
    if found is None:
        return np.inf, np.inf
    away_m = sum(float(place.away_m[0]) for place in snapped)
    return found[0] + away_m, found[1] + away_m / RIDER.pace_m_per_s


if __name__ == "__main__":
    {"streets": compare_streets, "trips": compare_trips}[sys.argv[1]](*sys.argv[2:])
