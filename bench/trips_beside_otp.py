"""Trips on Tampere beside a real OpenTripPlanner of the same feed and extract: walks, arrivals, and processor time.

    python bench/trips_beside_otp.py [HOW MANY]

First the answers: the walks of its itineraries, measured on our streets with its pace and turns, the way from a pin to
its street left out on both sides; and, where we arrive earlier, whether our itinerary can be walked on its streets.
Then what each of them costs: seconds of processor time, which other work on the machine disturbs little.
"""

import asyncio
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.streets import EXTRACT, GTFS, draw
from bench.streets_beside_otp import THEIRS, WALK
from bench.trip_causes import UNKNOWN, TheirsByOurRules
from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.osm.streets.preparing import StreetPreparation
from fingerpost.transit.osm.streets.search import StreetSearch
from fingerpost.transit.osm.streets.snapping import snap_to_streets
from fingerpost.transit.osm.streets.store import find_streets
from fingerpost.transit.osm.streets.walking_profile import weigh

FEED, ZONE = "TAMPERE", ZoneInfo("Europe/Helsinki")
PREPARING, TIMES = 0.15, 20.0
CLOCK_TICKS = 100
PLACE = "name lat lon stop { gtfsId }"
TRIP = (
    "query ($from: PlanLabeledLocationInput!, $to: PlanLabeledLocationInput!, $at: OffsetDateTime!) {"
    " planConnection(origin: $from, destination: $to, dateTime: {earliestDeparture: $at}, first: 5) {"
    " edges { node { start end legs { mode duration start { scheduledTime } end { scheduledTime }"
    f" from {{ {PLACE} }} to {{ {PLACE} }} trip {{ gtfsId }} }} }} }} }} }}"
)


def main(wanted: str = "200") -> None:
    """Print the figures."""
    gtfs, extract = get_shared(GTFS), get_shared(EXTRACT)
    network, streets, took_s = prepare(gtfs, extract)
    questions = draw(network)[: int(wanted)]
    with tempfile.TemporaryDirectory(prefix="fingerpost-otp-") as folder:
        server = OtpServer(graph=build_graph({FEED: gtfs}, [extract]), folder=Path(folder))
        server.start()
        try:
            for question in questions[:20]:
                ask(server, question)
            began = processor_s(server)
            theirs = [ask(server, question) for question in questions]
            their_s = (processor_s(server) - began) / len(questions)
            ours, our_s = plan(network, questions)
            compare_walks(network, streets, theirs)
            compare_arrivals(server, network, streets, questions, ours, theirs)
        finally:
            server.stop()
    print(f"a question: ours {our_s * 1e3:.2f} ms, theirs {their_s * 1e3:.1f} ms of processor time,")
    print(f"  {their_s / our_s:.0f} times its questions a second on one core (at least {TIMES:g})")
    built_s = measure_build(gtfs, extract)
    print(f"prepared: ours {took_s:.1f} s, theirs {built_s:.1f} s: {took_s / built_s:.2f} (at most {PREPARING})")


def prepare(gtfs, extract):
    """Return the network, its stored streets, and the seconds of processor time to prepare both."""
    took = []
    for _ in range(2):  # kernels are loaded before anything is counted
        began = time.process_time()
        preparation = StreetPreparation(extract)
        table = import_feeds(FEED, [FeedSource(gtfs)], find_walks=preparation.find_walks).timetable
        took.append(time.process_time() - began)
    folder = Path(tempfile.mkdtemp())
    preparation.save(folder)
    streets = find_streets(folder)
    return EmbeddedNetwork(NetworkRecord(name=FEED), table, streets=streets), streets, min(took)


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
    ends = [located(end.coordinate.lat, end.coordinate.lon) for end in (question.origin, question.destination)]
    at = datetime.fromtimestamp(question.instant, ZONE).isoformat()
    told = server.ask(TRIP, **{"from": ends[0], "to": ends[1], "at": at})
    return [edge["node"] for edge in (told.get("data") or {}).get("planConnection", {}).get("edges", [])]


def located(lat, lon):
    return {"location": {"coordinate": {"latitude": lat, "longitude": lon}}}


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
    """Print how far the sums of walks of its itineraries lie from ours, on our streets with its pace and turns."""
    search = StreetSearch(streets.graph, weigh(streets.graph, THEIRS))
    apart = []
    for itinerary in (each for found in theirs for each in found if any(leg["trip"] for leg in each["legs"])):
        total_s = ours_s = 0.0
        for leg in (leg for leg in itinerary["legs"] if leg["mode"] == "WALK"):
            ends = [place_of(network, streets, leg[side]) for side in ("from", "to")]
            first, last = (
                snap_to_streets(streets.graph, streets.grid, np.array([lat]), np.array([lon])) for lat, lon in ends
            )
            walked = search.measure(first, last, 20_000.0)
            ours_s += float(walked.seconds[0]) if walked.metres[0] >= 0 else np.inf
            total_s += leg["duration"]
        apart.append(abs(ours_s - total_s))
    print(
        f"{len(apart)} itineraries of theirs: the sums of walks differ by {statistics.median(apart):.1f} s at the "
        f"median, {np.percentile(apart, 95):.0f} s at p95"
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
    counts, causes, verdicts = Counter(), Counter(), {}
    by_our_rules = TheirsByOurRules(streets, partial(place_of, network, streets))
    for question, mine, found in zip(questions, ours, theirs, strict=True):
        best = min(mine, key=lambda each: each.arrival, default=None)
        its = min(found, key=_arrival, default=None)
        which = _say_who(best, its)
        counts[which] += 1
        if which == "we are earlier":
            verdict = judge(server, question, best, _arrival(its))
            verdicts.setdefault(verdict.partition(":")[0], []).append(verdict)
            print(f"  {_arrival(its) - best.arrival:.0f} s earlier: {verdict}")
        elif which in ("we are later", "only it answers"):
            cause = by_our_rules.find_cause(question, its, best and best.arrival)
            causes[f"{which}: {cause}"] += 1
            if cause == UNKNOWN:
                print(f"  {which}, and why is unknown: {question.origin.coordinate}, {its}, {best}")
        elif which == "only we answer":
            verdict = judge(server, question, best, float("inf"))
            causes[f"{which}: {verdict.partition(':')[0]}"] += 1
    print(f"arrivals: {dict(counts)}; of the earlier: { {what: len(each) for what, each in verdicts.items()} }")
    for cause, count in causes.most_common():
        print(f"  {count} {cause}")


def _arrival(itinerary):
    return datetime.fromisoformat(itinerary["end"]).timestamp()


def _say_who(best, its):
    """Return who arrives earlier, or who answers at all."""
    if best is None or its is None:
        return "nobody answers" if best is its else "only it answers" if best is None else "only we answer"
    # Its times are of whole minutes of no feed.
    if abs(best.arrival - _arrival(its)) <= 60:
        return "as early"
    return "we are earlier" if best.arrival < _arrival(its) else "we are later"


def judge(server, question, itinerary, arrival):
    """Return whether our itinerary stands on its streets: what a rider at its pace catches, and when he is there."""
    at = question.instant
    for leg in itinerary.legs:
        if leg.is_transit:
            if at > leg.departure:
                return f"missed: {leg.line} at {leg.start.name} by {at - leg.departure:.0f} s"
            at = leg.arrival
            continue
        ends = [located(point.coordinate.lat, point.coordinate.lon) for point in (leg.start, leg.end)]
        told = server.ask(WALK, **{"from": ends[0], "to": ends[1]})
        edges = (told.get("data") or {}).get("planConnection", {}).get("edges", [])
        if not edges:
            # Two points on one street, next to each other, are no walk to it.
            walked_s = leg.duration_s if (leg.distance_m or 0) < 50 else None
            if walked_s is None:
                return f"not walked: {leg.start.name} to {leg.end.name}, {leg.distance_m:.0f} m"
        else:
            walked_s = edges[0]["node"]["duration"]
        at += walked_s
    return "stands" if at < arrival - 60 else "no earlier: its walks take longer"


if __name__ == "__main__":
    main(*sys.argv[1:])
