"""Compare walks and trips with a real OpenTripPlanner, which this script starts on the same feed and extract.

    python bench/beside_otp.py streets [tampere|helsinki] [HOW MANY]
    python bench/beside_otp.py trips [tampere|helsinki] [HOW MANY]

Streets: the metres and seconds of walks, without the way from a pin to the street on either side. Our seconds are
scaled to OpenTripPlanner's pace, including turns, about 1.29 m/s (decision 0480). Half of the points are stops; the
others are anywhere near streets. OpenTripPlanner drops ways that leave the extract; ours are cut at its boundary.

Trips, between points in the extract: the walks in its itineraries, measured on our streets in the same way, and which
planner arrives earlier. If ours is earlier, it holds if a rider catches each of its rides with the walks of
OpenTripPlanner, or with these except on pieces that docs/streets.md explains: straight lines to places off the streets,
and squares that OpenTripPlanner, asked for this piece alone, walks round or not at all. If its is earlier, the first of
our documented rules that forbids its itinerary is the cause. Then, in Tampere, the cost of a question and of the
preparation, in seconds of processor time, which other work on the machine affects little. For trips, OpenTripPlanner
gets data that it can use in full: runs of frequencies.txt as trips, and an extract adapted by ``adapt_extract``.
"""

import asyncio
import csv
import io
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import osmium
from harness import HEAD, p50, p95, report
from tests.otp_server.server import OtpServer, build_graph
from tests.shared_data import get_shared

from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import CHANGE_SLACK_S, DETOUR_FACTOR, PACE_M_PER_S, straight_line_m
from fingerpost.transit.osm.streets.extract import find_way_rule
from fingerpost.transit.osm.streets.graph import compute_weights
from fingerpost.transit.osm.streets.snapping import snap_pin, snap_to_streets
from fingerpost.transit.osm.streets.street_walks import LINK_M, StreetSearch
from streets import EXTRACT, FEED, GTFS, draw, prepare

THEIR_PACE_M_PER_S = 1.29
CITIES = {
    "tampere": (FEED, GTFS, EXTRACT, {}),
    "helsinki": (
        "HSL",
        "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip",
        "gtfs/helsinki/helsinki_centre_2020.osm.pbf",
        # The default is two minutes from the street to any metro platform, in addition to the mapped escalators.
        {"areaVisibility": True, "maxAreaNodes": 2000, "subwayAccessTime": 0},
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
    " edges { node { start end legs { mode duration start { scheduledTime } end { scheduledTime }"
    f" from {{ {PLACE} }} to {{ {PLACE} }} trip {{ gtfsId }} }} }} }} }} }}"
)
# Arrivals that differ by less than this count as equal.
SAME_S = 60
# A walk longer than a straight line across a square by this factor and this many metres goes round it.
ROUND_FACTOR, ROUND_M = 1.5, 10.0
MIN_ASKED_M = 50
# The ids of real ways are below this.
MAX_WAY_ID = 10**11
OFF, SQUARE = "a place off the streets", "a square that it walks round"
# Pins farther than this from a street are not asked about.
NEAR_STREET_M = 50.0
# A ride missed by less than this is caught: at p95, walks in Tampere differ by 16 s, because ours have no turns.
PACE_S = 16


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

    def list_covered(self, table):
        """Return the stops (rows) near streets."""
        rows = np.flatnonzero(table.stop_kind == STOP)
        return rows[self.are_near(table.stop_lat[rows], table.stop_lon[rows])]

    def are_near(self, lats, lons):
        """Return which positions are near streets."""
        return snap_to_streets(self.graph, self.grid, lats, lons, limit_m=NEAR_STREET_M).edge >= 0

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
    asked = [{"location": describe_position(*end)} for end in ends]
    told = server.ask(query, **{"from": asked[0], "to": asked[1]}, **more)
    return [edge["node"] for edge in (told.get("data") or {}).get("planConnection", {}).get("edges", [])]


def describe_position(lat, lon):
    return {"coordinate": {"latitude": lat, "longitude": lon}}


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


def compare_trips(city: str = "tampere", wanted: str = "200") -> None:
    feed, gtfs, extract, build_config = CITIES[city]
    gtfs, extract = get_shared(gtfs), get_shared(extract)
    network, streets, took_s = prepare(gtfs, extract, feed)
    ours = StreetMeasure(streets)
    questions = [
        question
        for question in draw(network, ours.list_covered(network.timetable), 2 * int(wanted))
        if ours.are_near(*np.array([(end.lat, end.lon) for end in get_pins(question)]).T).all()
    ][: int(wanted)]
    with tempfile.TemporaryDirectory() as folder:
        runs, adapted = list_runs(gtfs, Path(folder)), adapt_extract(extract, Path(folder))
        with serving_otp({feed: runs}, adapted, **build_config) as server:
            for question in questions[:20]:
                ask(server, question)
            began = processor_s(server)
            theirs = [ask(server, question) for question in questions]
            their_s = (processor_s(server) - began) / len(questions)
            found, our_s = plan(network, questions)
            compare_walks(network, streets, theirs)
            compare_arrivals(server, Places(network, streets, ours, adapted), questions, found, theirs)
    print(f"In ms of processor time:\n{HEAD}")
    report("a question", our_s * 1e3, their_s * 1e3, bound=1 / TIMES)
    if city == "tampere":
        report("prepared", took_s * 1e3, measure_build(gtfs, extract) * 1e3, bound=PREPARING)


def list_runs(gtfs, folder):
    """Return a copy of a feed in which each run of frequencies.txt is a trip of its own."""
    with zipfile.ZipFile(gtfs) as archive:
        tables = {name: archive.read(name) for name in archive.namelist()}
    if "frequencies.txt" not in tables:
        return gtfs
    rows = {name: list(csv.DictReader(io.StringIO(tables[f"{name}.txt"].decode("utf-8-sig"))))
            for name in ("frequencies", "trips", "stop_times")}  # fmt: skip
    calls = defaultdict(list)
    for row in rows["stop_times"]:
        calls[row["trip_id"]].append(row)
    trips, repeated = {row["trip_id"]: row for row in rows["trips"]}, {row["trip_id"] for row in rows["frequencies"]}
    listed = [row for name, row in trips.items() if name not in repeated]
    timed = [row for row in rows["stop_times"] if row["trip_id"] not in repeated]
    for row in rows["frequencies"]:
        name = row["trip_id"]
        calls[name].sort(key=lambda call: int(call["stop_sequence"]))
        first_s = to_seconds(calls[name][0]["departure_time"])
        for start_s in range(to_seconds(row["start_time"]), to_seconds(row["end_time"]), int(row["headway_secs"])):
            run = {"trip_id": f"{name}@{start_s}"}
            listed.append(trips[name] | run)
            for call in calls[name]:
                times = {side: shift_time(call[side], start_s - first_s) for side in ("arrival_time", "departure_time")}
                timed.append(call | run | times)
    del tables["frequencies.txt"]
    path = folder / gtfs.name
    with zipfile.ZipFile(path, "w") as archive:
        for name, table in (("trips.txt", listed), ("stop_times.txt", timed)):
            text = io.StringIO()
            writer = csv.DictWriter(text, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
            tables[name] = text.getvalue().encode()
        for name, content in tables.items():
            # A fixed date keeps the graph's key the same.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def adapt_extract(extract, folder):
    """Return a copy of an extract that OpenTripPlanner can use in full.

    It drops ways that leave the extract, multipolygons with a member that is not a way, and lines across squares beside
    an area closed to walkers. So ways end at the border, multipolygons have only ways, and such areas are left out.
    """
    known = {node.id for node in osmium.FileProcessor(str(extract), osmium.osm.NODE)}
    path = folder / extract.name
    with osmium.SimpleWriter(str(path)) as writer:
        for item in osmium.FileProcessor(str(extract)):
            tags = dict(item.tags)
            is_closed = tags.get("area") == "yes" and "highway" in tags and find_way_rule(tags) is None
            if item.is_node():
                writer.add_node(item)
            elif item.is_relation():
                members = [(member.type, member.ref, member.role) for member in item.members]
                if tags.get("type") == "multipolygon":
                    members = [member for member in members if member[0] == "w"]
                writer.add_relation(item.replace(members=members, tags={} if is_closed else tags))
            elif not is_closed:
                runs = [
                    list(run)
                    for is_known, run in groupby((node.ref for node in item.nodes), known.__contains__)
                    if is_known
                ]
                for number, nodes in enumerate(run for run in runs if len(run) > 1):
                    writer.add_way(item.replace(id=item.id + number * MAX_WAY_ID, nodes=nodes))
    return path


def to_seconds(text):
    hours, minutes, seconds = map(int, text.split(":"))
    return 3600 * hours + 60 * minutes + seconds


def shift_time(text, seconds):
    if not text:
        return text
    minutes, second = divmod(to_seconds(text) + seconds, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"


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
    ends = [(end.lat, end.lon) for end in get_pins(question)]
    return ask_otp(server, TRIP, *ends, at=datetime.fromtimestamp(question.instant, ZONE).isoformat())


def get_pins(question):
    return question.origin.coordinate, question.destination.coordinate


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
    stop = find_stop(network, place)
    if stop is None:
        return place["lat"], place["lon"]
    at = int(np.searchsorted(streets.access.stop, stop))
    return float(streets.access.lat[at]), float(streets.access.lon[at])


def find_stop(network, place):
    stop = (place.get("stop") or {}).get("gtfsId", ":").partition(":")[2]
    ids = list(network.timetable.stop_local_id)
    return ids.index(stop) if stop in ids else None


class Places:
    """The places of both planners' itineraries, and walks between them by our documented rules."""

    def __init__(self, network, streets, measure, extract):
        self._network, self._streets, self._measure = network, streets, measure
        self._segments = list_segments(extract)

    def describe(self, point):
        """Return the point on a street from which we walk to a place of our itinerary, and the metres between them.

        Both planners walk from there: OpenTripPlanner may connect a pin, or a stop that the map has elsewhere than the
        feed, to another street.
        """
        position, snapped = self._snap(point)
        if snapped.edge[0] < 0:
            return position, 0.0
        return self._measure.search.locate(snapped), float(snapped.away_m[0])

    def _snap(self, point):
        row = self._network.stops.find_row(point.id)
        position = point.coordinate.lat, point.coordinate.lon
        if row is not None:
            access = self._streets.access
            at = int(np.searchsorted(access.stop, row))
            position = float(access.lat[at]), float(access.lon[at])
        return position, self._measure.snap(position, is_pin=row is None)

    def split(self, leg):
        """Yield the pieces of a walk of ours: both ends, metres, and the rule that it needs (or None)."""
        search, graph = self._measure.search, self._measure.graph
        first, last = (self._snap(point)[1] for point in (leg.start, leg.end))
        path = search.measure(first, last, _MAX_M)
        if path is None:
            (start, start_m), (end, end_m) = (self.describe(point) for point in (leg.start, leg.end))
            yield start, end, leg.distance_m - start_m - end_m, OFF if min(first.edge[0], last.edge[0]) < 0 else None
            return
        groups = [list(arcs) for _, arcs in groupby(path.arcs, key=lambda arc: self._find_rule(arc >> 1))]
        for number, arcs in enumerate(groups):
            begins, ends = (float(graph.edge_m[arc >> 1]) for arc in (arcs[0], arcs[-1]))
            begin_m = float(first.offset_m[0]) if number == 0 else begins * (arcs[0] & 1)
            end_m = float(last.offset_m[0]) if number == len(groups) - 1 else ends * (1 - (arcs[-1] & 1))
            line = search.draw(arcs, begin_m, end_m)
            metres = sum(float(straight_line_m(*one, *other[:, np.newaxis])[0]) for one, other in pairwise(line))
            yield tuple(line[0].tolist()), tuple(line[-1].tolist()), metres, self._find_rule(arcs[0] >> 1)

    def _find_rule(self, edge):
        graph = self._measure.graph
        points = slice(graph.shape_first[edge], graph.shape_first[edge + 1])
        places = zip(graph.shape_lat_e7[points].tolist(), graph.shape_lon_e7[points].tolist(), strict=True)
        segments = {frozenset(segment) for segment in pairwise(places)}
        return None if segments <= self._segments else SQUARE

    def walk(self, leg):
        """Return the metres and seconds of a walk of its on our streets at our pace, from pin to pin."""
        stops = [find_stop(self._network, leg[side]) for side in ("from", "to")]
        if None not in stops:
            link = self._network.walks.get_walks(step_free=False).measure(*(np.array([stop]) for stop in stops))
            return float(link.metres[0]), float(link.seconds[0])
        ends = [place_of(self._network, self._streets, leg[side]) for side in ("from", "to")]
        snapped = [self._measure.snap(end, is_pin=stop is None) for end, stop in zip(ends, stops, strict=True)]
        path = self._measure.search.measure(*snapped, _MAX_M)
        if path is None and min(each.edge[0] for each in snapped) >= 0:
            return np.inf, np.inf
        if path is None:
            metres = float(straight_line_m(*ends[0], *np.array(ends[1])[:, np.newaxis])[0]) * DETOUR_FACTOR
            return metres, metres / PACE_M_PER_S
        away_m = sum(float(each.away_m[0]) for each in snapped)
        return path.metres + away_m, path.seconds + away_m / PACE_M_PER_S


def list_segments(extract):
    """Return the segments of the ways in an extract, in ten-millionths of a degree, without borders of squares."""
    segments = set()
    for way in (
        osmium.FileProcessor(str(extract)).with_locations().with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
    ):
        if "highway" in way.tags and way.tags.get("area") != "yes":
            segments.update(map(frozenset, pairwise((node.location.y, node.location.x) for node in way.nodes)))
    return segments


def compare_arrivals(server, places, questions, ours, theirs):
    """Print how often each planner arrives earlier, and each question on which they differ, with the reason."""
    counts = Counter()
    for question, mine, found in zip(questions, ours, theirs, strict=True):
        best = min(mine, key=lambda itinerary: itinerary.arrival, default=None)
        its = min(found, key=get_arrival, default=None)
        arrivals = (best.arrival if best else np.inf), (get_arrival(its) if its else np.inf)
        if arrivals[0] == arrivals[1] or abs(arrivals[0] - arrivals[1]) <= SAME_S:
            counts["as early"] += 1
            continue
        is_ours = arrivals[0] < arrivals[1]
        reason = judge(server, places, question, best) if is_ours else find_cause(places, question, its, arrivals[0])
        who = "we are earlier" if is_ours else "we are later"
        counts[f"{who}: {reason.partition(':')[0]}"] += 1
        at = datetime.fromtimestamp(question.instant, ZONE).isoformat()
        ends = [f"{end.lat:.6f},{end.lon:.6f}" for end in get_pins(question)]
        print(f"  {who} by {abs(arrivals[0] - arrivals[1]):.0f} s: {reason}; {' '.join(ends)} --at {at}")
    for what, count in counts.most_common():
        print(f"{count:5} {what}")
    earlier = {what: count for what, count in counts.items() if what.startswith("we are earlier")}
    print(
        f"{earlier.get('we are earlier: holds', 0)} of our {sum(earlier.values())} earlier arrivals hold on its streets"
    )


def get_arrival(itinerary):
    return datetime.fromisoformat(itinerary["end"]).timestamp()


def judge(server, places, question, itinerary):
    """Return whether a rider who walks as OpenTripPlanner does catches each ride, or else the rules that explain it."""
    result = follow(server, places, question, itinerary)
    if result == "holds":
        return result
    rules = set()
    if follow(server, places, question, itinerary, rules) != "holds":
        return result
    return f"explained by {' and '.join(sorted(rules)) or 'another way on its streets'}: {result}"


def follow(server, places, question, itinerary, rules=None):
    """Return "holds", or the first reason why not; ``rules`` collects the rules on which the walks depend."""
    at = question.instant
    for leg in itinerary.legs:
        if leg.is_transit:
            if at > leg.departure + PACE_S:
                return f"missed: {leg.line} at {leg.start.name} by {at - leg.departure:.0f} s"
            at = leg.arrival
            continue
        (start, start_m), (end, end_m) = (places.describe(point) for point in (leg.start, leg.end))
        taken_s = (
            walk_in_pieces(server, places.split(leg), rules)
            if rules is not None
            else walk(server, start, end, leg.distance_m)
        )
        if taken_s is None:
            return f"not walked: {leg.start.name} to {leg.end.name}, {leg.distance_m:.0f} m"
        at += taken_s + (start_m + end_m) / THEIR_PACE_M_PER_S
    late_s = at - itinerary.arrival
    return "holds" if late_s <= 2 * SAME_S else f"late: its walk at the end takes {late_s:.0f} s more"


def walk(server, start, end, metres):
    """Return the seconds of its walk between two places, or None if it finds none."""
    found = ask_otp(server, WALK, start, end)
    if found:
        return found[0]["duration"]
    # Two points on one street, next to each other, are no walk to it.
    return metres / THEIR_PACE_M_PER_S if metres < MIN_ASKED_M else None


def walk_in_pieces(server, pieces, rules):
    """Return the seconds of a walk by its answers, but at our length on the pieces that a rule explains."""
    total_s = 0.0
    for start, end, metres, rule in pieces:
        found = ask_otp(server, WALK, start, end) if rule in (None, SQUARE) else []
        is_round = not found or found[0]["walkDistance"] > metres * ROUND_FACTOR + ROUND_M
        if rule is OFF or (rule is SQUARE and is_round):
            rules.add(rule)
            total_s += metres / THEIR_PACE_M_PER_S
            continue
        taken_s = found[0]["duration"] if found else walk(server, start, end, metres)
        if taken_s is None:
            return None
        total_s += taken_s
    return total_s


def add_ends(question, legs):
    """Return its legs with the walks from and to the pins that it leaves out, because they are at a stop for it."""
    pins = [{"lat": end.lat, "lon": end.lon} for end in get_pins(question)]
    first = [{"mode": "WALK", "trip": None, "from": pins[0], "to": legs[0]["from"]}] if legs[0]["trip"] else []
    last = [{"mode": "WALK", "trip": None, "from": legs[-1]["to"], "to": pins[1]}] if legs[-1]["trip"] else []
    return [*first, *legs, *last]


def find_cause(places, question, itinerary, our_arrival):
    """Return the first of our rules that forbids an itinerary of OpenTripPlanner's, or "unknown"."""
    legs = add_ends(question, itinerary["legs"])
    walks = [places.walk(leg) if leg["mode"] == "WALK" else (0.0, 0.0) for leg in legs]
    if sum(metres for metres, _ in walks) > question.max_walk_m:
        return "its walks exceed our limit"
    if sum(leg["trip"] is not None for leg in legs) > question.max_transfers + 1:
        return "its changes exceed our limit"
    rides = [number for number, leg in enumerate(legs) if leg["trip"]]
    if any(sum(walks[number][0] for number in range(*ends)) > LINK_M for ends in pairwise(rides)):
        return "a walk of its at a change exceeds our limit"
    at, is_first = question.instant, True
    for leg, (_, seconds) in zip(legs, walks, strict=True):
        if leg["mode"] == "WALK":
            at += seconds
            continue
        begins, ends = (datetime.fromisoformat(leg[side]["scheduledTime"]).timestamp() for side in ("start", "end"))
        if at > begins:
            return "at our pace its first ride is missed" if is_first else "at our pace a change of its is missed"
        if not is_first and at + CHANGE_SLACK_S > begins:
            return "a change of its leaves less than our slack"
        at, is_first = ends, False
    return "at our pace it arrives no earlier" if at > our_arrival - SAME_S else f"unknown: {itinerary}"


if __name__ == "__main__":
    {"streets": compare_streets, "trips": compare_trips}[sys.argv[1]](*sys.argv[2:])
