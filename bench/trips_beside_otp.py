"""Trips on Tampere beside a real OpenTripPlanner of the same feed and extract: walks, arrivals, and processor time.

    python bench/trips_beside_otp.py [HOW MANY]

First the answers: the walks of its itineraries, measured on our streets at its pace, the way from a pin to
its street left out on both sides; and, where we arrive earlier, whether our itinerary can be walked on its streets.
Where it arrives earlier, or alone answers, its itinerary is lived through by our rules to say why.
Then what each of them costs: seconds of processor time, which other work on the machine disturbs little.
"""

import asyncio
import resource
import shutil
import statistics
import sys
import time
from collections import Counter
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from harness import HEAD, p95, report

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.streets import EXTRACT, FEED, GTFS, draw, prepare
from bench.streets_beside_otp import THEIRS, StreetMeasure, ask_walk, located, serving_otp
from tests.otp_server.server import build_graph
from tests.shared_data import get_shared

from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S
from fingerpost.transit.osm.streets.graph import RIDER

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


def main(wanted: str = "200") -> None:
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
    ends = [located(end.coordinate.lat, end.coordinate.lon) for end in (question.origin, question.destination)]
    at = datetime.fromtimestamp(question.instant, ZONE).isoformat()
    told = server.ask(TRIP, **{"from": ends[0], "to": ends[1], "at": at})
    return [edge["node"] for edge in (told.get("data") or {}).get("planConnection", {}).get("edges", [])]


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
    measure = StreetMeasure.on(streets.graph, streets.grid, THEIRS)
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
    measure = StreetMeasure.on(streets.graph, streets.grid, RIDER)
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
    main(*sys.argv[1:])
