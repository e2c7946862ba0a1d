"""Errors, empty boards and long waits name the cause that a scan of the feed finds; in soak, also on real feeds."""

import asyncio
import os
import random
import re
from copy import copy
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.transit.embedded.feed_import import prepare_network
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource
from fingerpost.transit.engine.raptor.search import find_endpoint
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.networks import order
from fingerpost.transit.osm.streets.store import find_streets
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.tools import plan_journey, plan_route
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.fakes import FakeNetworks
from tests.raptor.oracle import NEVER, earliest_arrivals, list_trip_instances
from tests.riders.walks import straight_m, walk_m, walk_s
from tests.shared_data import get_shared
from tests.worlds.feed_scan import FeedScan
from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

SOAK = bool(os.environ.get("FINGERPOST_SOAK"))
SEEDS = range(200 if SOAK else 20)
QUESTIONS = 12
HOUR_S, WINDOW_S, DAY_S = 3600, 45 * 60, 24 * 3600
# Trips are searched up to this many days from the requested time.
DAYS, FAR = 7, 4 * 10**9
# The limits of the contract.
WIDEST_M, MOST_RIDES = 3000, 9
UNREACHED = "No (?:stop is within|walk of)"
TIME = r"\d{4}-\d\d-\d\dT[\d:]{8}(?:Z|[+-][\d:]{5})"
SIDES = {
    False: ("There are no departures near the origin", "the origin"),
    True: ("There are no arrivals near the destination", "the destination"),
}


class Question:
    def __init__(self, dice, feeds, now):
        self.stop, places = dice.choice(list(feeds.members)), list(feeds.places.values())
        self.ends = [self._draw_place(dice, places) for _ in range(2)]
        self.max_walk_m = dice.choice((60, 200, 400, 1000))
        self.arrive_by = dice.random() < 0.5
        self.time = now + timedelta(hours=dice.choice((-2, 0, 1, 6, 12, 24)))
        self.instant, self.now_s = int(self.time.timestamp()), int(now.timestamp())

    @staticmethod
    def _draw_place(dice, places):
        lat, lon = dice.choice(places)
        return round(lat + dice.uniform(-0.003, 0.003), 6), round(lon + dice.uniform(-0.003, 0.003), 6)

    def find_offset_s(self, departure, arrival):
        return self.instant - arrival if self.arrive_by else departure - self.instant

    def list_trip_calls(self):
        origin, destination = (f"{lat},{lon}" for lat, lon in self.ends)
        kind, field = ("arrive", "arrivalTime") if self.arrive_by else ("depart", "departureTime")
        when, limits = {"type": kind, "time": self.time.isoformat()}, {"maxWalkingDistance": self.max_walk_m}
        trip = {"origin": origin, "destination": destination, "limit": 3, "when": when, "constraints": limits}
        route = {"origin": {"rawText": origin}, "destination": {"rawText": destination}, field: self.time.isoformat()}
        return ("plan_trip", trip), ("planRoute", route), ("planJourney", {"from": origin, "to": destination})


class Scan(NamedTuple):
    """The stops in reach of each end, and all departures near the origin and arrivals near the destination."""

    feeds: FeedScan
    near: list[list[str]]
    times: list[list[int]]

    def find_nearest(self, question, side):
        """Return the nearest time after the instant of a question, or before it."""
        times, instant = self.times[side], question.instant
        nearest = (
            times[times <= instant].max(initial=0) if question.arrive_by else times[times >= instant].min(initial=FAR)
        )
        days = self.feeds.to_date(nearest) - self.feeds.to_date(instant)
        return int(nearest) if abs(days.days) <= DAYS else None

    def find_unserved(self, question):
        """Return the end without service: first the origin or, for an arrival, the destination."""
        sides = (question.arrive_by, not question.arrive_by)
        return next((side for side in sides if self.near[side] and self.find_nearest(question, side) is None), None)

    def explain(self, question, side, window_s=0):
        """Return the sentence about the service after a window of a question, or before it."""
        instant, is_before = question.instant + window_s, question.arrive_by and not window_s
        which, preposition = ("last", "before") if is_before else ("next", "after")
        noun, place = ("arrival", "there") if side else ("departure", "from here")
        times, to_date = self.times[side], self.feeds.to_date
        later = times[times < instant][::-1] if is_before else times[times > instant]
        if len(later) and abs(later[0] - instant) <= DAY_S:
            return f"The {which} {noun} is at {later[0]}."
        if len(later):
            return f"The {which} {noun}s are on {to_date(later[0])}."
        if not len(times):
            return f"The timetable has no {noun}s {place} on any day."
        return f"The timetable has no {noun}s {place} {preposition} {to_date(times[0 if is_before else -1])}."


def scan_feeds(feeds, near):
    """Return two scans: with and without the times that riders can use only if they stay seated."""
    times = [feeds.list_times(near[side], arrivals=bool(side)) for side in range(2)]
    return [Scan(feeds, near, list(of_sides)) for of_sides in zip(*times, strict=True)]


class Found(NamedTuple):
    """What a tool found: the departures and arrivals of all trips if known, and its sentences."""

    spans: list[tuple[int, int]] | None
    sentences: str


def read_trips(body):
    if "error" in body:
        return Found([], f"{body['error']['message']} {body['error'].get('hint', '')}")
    spans = [
        (read(each["legs"][0]["departureTime"]), read(each["legs"][-1]["arrivalTime"])) for each in body["itineraries"]
    ]
    return Found(spans if len(spans) < 3 else None, join_warnings(body))


def read_routes(body):
    why = body["meta"].get("whyEmpty", "")
    near = re.search(rf"one \w+ the window is ({TIME}) to ({TIME})", why)
    spans = [(read(each["startTime"]), read(each["endTime"])) for each in body["itineraries"]]
    return Found([(read(near[1]), read(near[2]))] if near else spans, f"{why} {join_warnings(body['metadata'])}")


def read_journeys(body):
    spans = [(read(each["startDateTime"]), read(each["arrivalDateTime"])) for each in body["topJourneys"]]
    return Found(spans if len(spans) < 5 else None, body["message"])


READ = {"plan_trip": read_trips, "planRoute": read_routes, "planJourney": read_journeys}


def join_warnings(body):
    return " ".join(warning["message"] for warning in body.get("warnings", ()))


def list_complaints(question, scan, found):
    if found.spans != []:
        yield from list_complaints_of_offset(question, scan, found)
    elif not re.search("covers|The earliest possible arrival|The trip with the earliest arrival", found.sentences):
        yield from list_complaints_of_cause(question, scan, found.sentences)


def list_complaints_of_waits(body):
    """Check the waits of plan_trip; only it names rides for which riders stay seated."""
    changes = [pair for each in body.get("itineraries", ()) for pair in pairwise(each["legs"])]
    waits = [
        (read(after["departureTime"]) - read(before["arrivalTime"]), after["from"]["name"]) for before, after in changes
    ]
    wait_s, name = max(waits, default=(0, ""))
    minutes, warned = wait_s // 60, join_warnings(body)
    wait = f"{minutes // 60} h {minutes % 60} min" if minutes >= 120 else f"{minutes} min"
    expected = f"The longest wait between rides is {wait}, at {name}." if wait_s > HOUR_S else "wait between rides"
    if (
        "metadata" not in body
        and "staySeated" not in body.get("meta", {})
        and (expected in warned) != (wait_s > HOUR_S)
    ):
        yield f"waits of {waits} s"


def list_complaints_of_cause(question, scan, sentences):
    for side, (_, name) in SIDES.items():
        if bool(re.search(rf"{UNREACHED}[^;,.]* {name}", sentences)) != (not scan.near[side]):
            yield f"{len(scan.near[side])} stops near {name}"
        nearest_m = min(straight_m(question.ends[side], place) for place in scan.feeds.places.values())
        named = re.search(rf"{UNREACHED} [^;.]* {name}; the nearest, .*?, is (\d+) m away", sentences)
        if named is not None and abs(int(named[1]) - nearest_m) > 1:
            yield f"the nearest stop is {nearest_m} m from {name}"
    if re.search(f"{UNREACHED}|No service on", sentences):
        return
    unserved, asked, late_s = scan.find_unserved(question), question, None
    if unserved is None and question.arrive_by and question.instant >= question.now_s:
        asked = copy(question)
        asked.instant, asked.arrive_by = question.now_s, False
        times = {side: scan.find_nearest(asked, side) for side in SIDES if scan.near[side]}
        # Departures, unlike arrivals, are searched for a day.
        until_s = {False: question.now_s + DAY_S, True: FAR}
        late = (side for side, time in times.items() if time is None or question.instant < time <= until_s[side])
        unserved = next(late, None)
        late_s = times.get(unserved)
    for side, (nothing, _) in SIDES.items():
        if (nothing in sentences) != (side is unserved):
            yield f"unserved is {unserved}"
        if side is unserved and late_s is None and scan.explain(asked, side)[:-1] not in sentences:
            yield scan.explain(asked, side)
        if side is unserved and late_s is not None:
            named = re.search(f"{nothing} before ({TIME})", sentences)
            if named is None or read(named[1]) != late_s:
                yield f"nothing until {late_s}"
    if "maxWalkingDistance" in sentences or not re.search(
        f"With|walk|{'|'.join(each for each, _ in SIDES.values())}", sentences
    ):
        yield "no cause"


def list_missed_trips(question, timetable, sentences):
    """Check with the slow router that no trip exists beyond the limits where an answer says so."""
    if "would not help" in sentences and not question.arrive_by and not len(timetable.in_seat_from):
        columns = (timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), timetable.stop_kind.tolist())
        stops = {row: (lat, lon) for row, (lat, lon, kind) in enumerate(zip(*columns, strict=True)) if kind == 0}
        ends = [{row: walk_m(end, place) for row, place in stops.items()} for end in question.ends]
        reached = [{row: (m, walk_s(m)) for row, m in each.items() if m <= WIDEST_M} for each in ends]
        day = datetime.fromtimestamp(question.instant, ZoneInfo(timetable.feeds[0].zone)).date()
        trips = list_trip_instances(timetable, [day + timedelta(days=each) for each in range(-1, 7)])
        walks = [SimpleNamespace(walk_by_stop=each) for each in reached]
        best = earliest_arrivals(timetable, trips, *walks, question.instant, MOST_RIDES, WIDEST_M)[-1]
        if best < NEVER:
            yield f"a trip arrives at {best}"


def list_complaints_of_offset(question, scan, found):
    warned = found.sentences
    offset = re.search(rf"the (first|last) one (departs|arrives) at ({TIME})", warned)
    offsets = [question.find_offset_s(*span) for span in found.spans or ()]
    if found.spans is not None and (offset is not None) != (min(offsets) > HOUR_S):
        yield f"offsets of {offsets}"
    if "the window is" in warned and 0 <= offsets[0] <= WINDOW_S:
        yield "the trip is in the window"
    # Trips between ends without a stop in reach are those of a relaxed search.
    if offset is None or not all(scan.near):
        return
    for side in (question.arrive_by, not question.arrive_by):
        nearest, (nothing, _) = scan.find_nearest(question, side), SIDES[side]
        if nearest is None or abs(nearest - question.instant) > HOUR_S:
            until, service = "after" if question.arrive_by else "before", scan.explain(question, side)
            named = re.search(rf"{nothing} {until} ({TIME})\.", warned)
            is_day = nearest is not None and f"{nothing} {until} {scan.feeds.to_date(nearest)}." in warned
            if not is_day and f"{nothing}. {service}" not in warned and (named is None or read(named[1]) != nearest):
                yield f"{nothing} until {nearest}"
            return
    if "have no connection within the limits" not in warned:
        yield "something leaves and something arrives"


def read(time):
    return int(datetime.fromisoformat(time).timestamp())


def list_complaints_of_board(question, scan, now, body):
    """Check the reason for an empty board or timetable."""
    times, since = scan.times[False], question.instant
    is_empty = not ((times >= since) & (times <= since + WINDOW_S)).any()
    expected = scan.explain(question, False, WINDOW_S) if is_empty else None
    why = re.sub(TIME, lambda time: str(read(time[0])), body["meta"].get("whyEmpty", "")) or None
    if (not body["departures"], why) != (is_empty, expected):
        yield expected
    if "metadata" in body and is_empty:
        reason = "IN_THE_PAST" if since < now - 120 else "NO_DEPARTURES" if "is at" in expected else "NO_SERVICE"
        has_service = scan.feeds.has_service(question.stop, since)
        # At a stop that is never served, either reason is right on a day without service.
        reasons = {reason} if has_service else {"NO_SERVICE"} if len(times) else {reason, "NO_SERVICE"}
        if body["metadata"].get("noResultsReason") not in reasons:
            yield f"{reasons}"


def list_near(network, feeds, question):
    """Return the stops in reach of each end; walks along streets are the engine's, and have oracles of their own."""
    timetable, walks = network.timetable, network.walks.get_walks(step_free=False)
    if network.walks.streets is None:
        return [
            [stop for stop, place in feeds.places.items() if walk_m(end, place) <= question.max_walk_m]
            for end in question.ends
        ]
    ends = [
        find_endpoint(timetable, *end, [], question.max_walk_m, walks=walks, is_destination=bool(side))
        for side, end in enumerate(question.ends)
    ]
    return [[f"CITY:{timetable.stop_local_id[row]}" for row in end.walk_by_stop] for end in ends]


def check(network, feeds, now, seed, folder, monkeypatch, questions=QUESTIONS):
    dice, has_streets, now_s = random.Random(seed), network.walks.streets is not None, int(now.timestamp())
    journeys = JourneyOptions(per_second=10_000)
    tools = list_tools(FakeNetworks(network), VariableStore(folder / "variables.sqlite"), journeys=journeys)
    answers = {tool.name: tool.answer for tool in tools}
    monkeypatch.setattr(order, "_LONDON_ZONE", network.profile.zone)

    def call(tool, arguments, clock=now):
        monkeypatch.setenv("FINGERPOST_NOW", clock.isoformat())
        return asyncio.run(answers[tool](arguments, user="ann")).body

    for _ in range(questions):
        question = Question(dice, feeds, now)
        # The other tools have fixed limits, within which all of a small city lies.
        limited = partial(JourneyParameters, max_walk_m=question.max_walk_m)
        monkeypatch.setattr(plan_route, "JourneyParameters", limited)
        monkeypatch.setattr(plan_journey, "MAX_WALK_M", question.max_walk_m)
        monkeypatch.setattr(order, "_CHARING_CROSS", Coordinate(*question.ends[0]))
        at, stop = question.time.isoformat(), {"type": "id", "value": question.stop}
        board = call("get_departures", {"stop": stop, "at": at, "windowMinutes": 45})
        scans = scan_feeds(feeds, [feeds.members[question.stop], []])
        for body in (board, call("getStopTimetable", {"stopId": board["stopId"], "at": at})):
            complaints = [list(list_complaints_of_board(question, scan, now_s, body)) for scan in scans]
            assert [] in complaints, (complaints, question.stop, at, now, body)
        scans = scan_feeds(feeds, list_near(network, feeds, question))
        for tool, arguments in question.list_trip_calls():
            if tool == "planJourney":
                question.arrive_by = False
            body = call(tool, arguments, question.time if tool == "planJourney" else now)
            found = READ[tool](body)
            complaints = [list(list_complaints(question, scan, found)) for scan in scans]
            more = list_complaints_of_waits(body)
            missed = () if has_streets else list_missed_trips(question, network.timetable, found.sentences)
            assert ([] in complaints, [*more, *missed]) == (True, []), (
                complaints,
                tool,
                arguments,
                question.time,
                body,
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cause_is_that_of_a_scan(seed, tmp_path, monkeypatch):
    world = draw_world(seed, with_streets=False)
    opened = open_world(world, tmp_path)
    feeds = FeedScan([(feed.feed_name, feed.path) for feed in opened.feeds], world.now)
    check(opened.network, feeds, world.now, seed, tmp_path, monkeypatch)


# The feeds of the shared data that have fixed routes; a folder with an extract is also tested with its streets.
FEEDS = """
broken/hsl_2022_broken_subset helsinki/hsl_centre_2022-02-22 kingston/kingston_2026-01 nyc/bus_bk nyc/bus_busco
nyc/bus_bx nyc/bus_m nyc/bus_qns nyc/bus_si nyc/lirr nyc/mnr nyc/subway small/caltrain small/cairns_2014
small/google_example small/sao_paulo_subset small/wmata_rail_2026 tampere/tampere_nysse_2021-22
helsinki/hsl_centre_2022-02-22,helsinki/helsinki_centre_2020 tampere/tampere_nysse_2021-22,tampere/tampere
""".split()  # noqa: SIM905


@pytest.mark.skipif(not SOAK, reason="takes minutes a feed; make soak")
@pytest.mark.parametrize("paths", FEEDS)
def test_the_cause_in_a_real_city_is_that_of_a_scan(paths, tmp_path, monkeypatch):
    """In the night before the last day, so that some questions are about days without service."""
    feed, _, extract = paths.partition(",")
    path = get_shared(f"gtfs/{feed}.gtfs.zip")
    extract = str(get_shared(f"gtfs/{extract}.osm.pbf")) if extract else None
    prepare_network(
        tmp_path,
        "CITY",
        [FeedSource(path, "CITY")],
        extract=extract,
        feeds=[],
        added_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    entry, timetable = TimetableStore(tmp_path).open("CITY")
    record = NetworkRecord(name="CITY", source="gtfs")
    network = EmbeddedNetwork(record, timetable, streets=find_streets(entry.folder))
    now = datetime.combine(network.profile.last_day, time(), UTC) - timedelta(hours=2)
    check(network, FeedScan([("CITY", path)], now), now, paths, tmp_path, monkeypatch, questions=30)
