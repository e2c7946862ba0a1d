"""Errors and warnings about long waits name the cause that a scan of the feed finds; in soak, also on real feeds."""

import asyncio
import os
import random
import re
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.raptor.search import find_endpoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.networks import order
from fingerpost.transit.port import JourneyParameters
from fingerpost.transit.tools import plan_journey, plan_route
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.fakes import FakeNetworks
from tests.raptor.oracle import NEVER, around, earliest_arrivals, list_trip_instances, runs_on
from tests.riders.walks import walk_m
from tests.shared_data import get_shared
from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

SOAK = bool(os.environ.get("FINGERPOST_SOAK"))
SEEDS = range(200 if SOAK else 20)
QUESTIONS = 12
HOUR_S, WINDOW_S = 3600, 45 * 60
DAYS = 8
NO_BOARDING, NO_ALIGHTING = 1, 2
# The limits of the contract.
WIDEST_M, MOST_RIDES = 3000, 9
UNREACHED = "No (?:stop is within|walk of)"
TIME = r"\d{4}-\d\d-\d\dT[\d:]{8}(?:Z|[+-][\d:]{5})"
SIDES = {
    False: ("There are no departures near the origin", "the origin"),
    True: ("There are no arrivals near the destination", "the destination"),
}


class Question:
    def __init__(self, dice, stops, now):
        self.ends = [self._draw_place(dice, stops) for _ in range(2)]
        self.max_walk_m = dice.choice((60, 200, 400, 1000))
        self.arrive_by = dice.random() < 0.5
        self.time = now + timedelta(hours=dice.choice((-2, 0, 1, 6, 12, 24)))
        self.instant = int(self.time.timestamp())

    @staticmethod
    def _draw_place(dice, stops):
        lat, lon = dice.choice(stops)
        return round(lat + dice.uniform(-0.003, 0.003), 6), round(lon + dice.uniform(-0.003, 0.003), 6)

    def find_offset_s(self, departure, arrival):
        return self.instant - arrival if self.arrive_by else departure - self.instant

    def list_calls(self):
        origin, destination = (f"{lat},{lon}" for lat, lon in self.ends)
        kind, field = ("arrive", "arrivalTime") if self.arrive_by else ("depart", "departureTime")
        when, limits = {"type": kind, "time": self.time.isoformat()}, {"maxWalkingDistance": self.max_walk_m}
        trip = {"origin": origin, "destination": destination, "limit": 3, "when": when, "constraints": limits}
        route = {"origin": {"rawText": origin}, "destination": {"rawText": destination}, field: self.time.isoformat()}
        return ("plan_trip", trip), ("planRoute", route), ("planJourney", {"from": origin, "to": destination})


def list_near(timetable, place, max_walk_m):
    """Return the stops (rows) within a walk of a place."""
    positions = zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), strict=True)
    near = [row for row, position in enumerate(positions) if walk_m(place, position) <= max_walk_m]
    return [row for row in near if timetable.stop_kind[row] == 0]


def list_times(timetable, stops, instant, *, arrivals):
    """Return when riders can leave stops (or reach them) within DAYS of an instant, by a scan of all trips."""
    in_seat = timetable.in_seat_to if arrivals else timetable.in_seat_from
    joined = set(timetable.trip_departure_trip[in_seat].tolist())
    wanted, other = (NO_ALIGHTING, NO_BOARDING) if arrivals else (NO_BOARDING, NO_ALIGHTING)
    first, flags = timetable.trip_first_stop_time, timetable.stop_time_flags
    seconds = timetable.stop_time_arrival_s if arrivals else timetable.stop_time_departure_s
    shifts = {}
    for number, trip in enumerate(timetable.trip_departure_trip.tolist()):
        shifts.setdefault(trip, []).append(int(timetable.trip_departure_shift_s[number]))
    found = []
    for call in np.flatnonzero(np.isin(timetable.stop_time_stop, stops)).tolist():
        trip = int(np.searchsorted(first, call, "right")) - 1
        others = range(int(first[trip]), call) if arrivals else range(call + 1, int(first[trip + 1]))
        is_ride = any(not flags[each] & other for each in others) or (trip in joined and len(others) > 0)
        if not is_ride or flags[call] & wanted:
            continue
        service = int(timetable.trip_service[trip])
        zone = timetable.feeds[int(timetable.service_feed[service])].zone
        for day in around(to_date(instant, zone), DAYS, DAYS + 1):
            if timetable.service_every_day[service] or runs_on(timetable, service, day):
                start = int(datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)).timestamp()) - 12 * 3600
                found += [start + shift + int(seconds[call]) for shift in shifts[trip]]
    return found


class Scan:
    """The nearest times at the stops around each end, after the instant of a question or before it."""

    def __init__(self, timetable, question):
        self.timetable = timetable
        self.near = [list_near(timetable, place, question.max_walk_m) for place in question.ends]
        self.nearest = {}
        for is_destination in (False, True):
            times = list_times(timetable, self.near[is_destination], question.instant, arrivals=is_destination)
            if question.arrive_by:
                self.nearest[is_destination] = max((time for time in times if time <= question.instant), default=None)
            else:
                self.nearest[is_destination] = min((time for time in times if time >= question.instant), default=None)

    def find_unserved(self, question):
        """Return the end without service: first the origin or, for an arrival, the destination."""
        sides = (question.arrive_by, not question.arrive_by)
        return next((side for side in sides if self.near[side] and self.nearest[side] is None), None)


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
    waits_s = [read(after["departureTime"]) - read(before["arrivalTime"]) for before, after in changes]
    is_long, warned = max(waits_s, default=0) > HOUR_S, "The longest wait between rides" in join_warnings(body)
    if not {"metadata", "error"} & body.keys() and changes and "staySeated" not in body["meta"] and warned != is_long:
        yield f"waits of {waits_s} s"


def list_complaints_of_cause(question, scan, sentences):
    for side, (_, name) in SIDES.items():
        if bool(re.search(rf"{UNREACHED}[^;,.]* {name}", sentences)) != (not scan.near[side]):
            yield f"{len(scan.near[side])} stops near {name}"
    if re.search(f"{UNREACHED}|No service on", sentences):
        return
    unserved = scan.find_unserved(question)
    for side, (nothing, _) in SIDES.items():
        if (nothing in sentences) != (side is unserved):
            yield f"unserved is {unserved}"
    if "maxWalkingDistance" in sentences or not re.search(
        f"With|walk|{'|'.join(each for each, _ in SIDES.values())}", sentences
    ):
        yield "no cause"
    if "would not help" in sentences and not question.arrive_by and not len(scan.timetable.in_seat_from):
        ends = [find_endpoint(scan.timetable, *place, [], WIDEST_M) for place in question.ends]
        days = [to_date(question.instant, scan.timetable.feeds[0].zone) + timedelta(days=each) for each in range(-1, 7)]
        trips = list_trip_instances(scan.timetable, days)
        best = earliest_arrivals(scan.timetable, trips, *ends, question.instant, MOST_RIDES, WIDEST_M)[-1]
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
        nearest, (nothing, _) = scan.nearest[side], SIDES[side]
        if nearest is None or abs(nearest - question.instant) > HOUR_S:
            named = re.search(rf"{nothing} (?:before|after) ({TIME}|[\d-]+)", warned)
            if named is None or (len(named[1]) > 10 and read(named[1]) != nearest):
                yield f"{nothing} until {nearest}"
            return
    if "have no connection within the limits" not in warned:
        yield "something leaves and something arrives"


def read(time):
    return int(datetime.fromisoformat(time).timestamp())


def to_date(instant, zone):
    return datetime.fromtimestamp(instant, ZoneInfo(zone)).date()


def check(network, stops, now, seed, folder, monkeypatch, questions=QUESTIONS):
    dice, timetable = random.Random(seed), network.timetable
    journeys = JourneyOptions(per_second=10_000)
    tools = list_tools(FakeNetworks(network), VariableStore(folder / "variables.sqlite"), journeys=journeys)
    answers = {tool.name: tool.answer for tool in tools}
    monkeypatch.setattr(order, "_LONDON_ZONE", network.profile.zone)

    for _ in range(questions):
        question = Question(dice, stops, now)
        # The other tools have fixed limits, within which all of a small city lies.
        limited = partial(JourneyParameters, max_walk_m=question.max_walk_m)
        monkeypatch.setattr(plan_route, "JourneyParameters", limited)
        monkeypatch.setattr(plan_journey, "MAX_WALK_M", question.max_walk_m)
        monkeypatch.setattr(order, "_CHARING_CROSS", Coordinate(*question.ends[0]))
        for tool, arguments in question.list_calls():
            if tool == "planJourney":
                question.arrive_by = False
            monkeypatch.setenv("FINGERPOST_NOW", (question.time if tool == "planJourney" else now).isoformat())
            body = asyncio.run(answers[tool](arguments, user="ann")).body
            complaints = list(list_complaints(question, Scan(timetable, question), READ[tool](body)))
            assert [*complaints, *list_complaints_of_waits(body)] == [], (tool, arguments, question.time, body)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cause_is_that_of_a_scan(seed, tmp_path, monkeypatch):
    world = draw_world(seed, with_streets=False)
    network = open_world(world, tmp_path).network
    check(network, world.stops, world.now, seed, tmp_path, monkeypatch)


# The feeds of the shared data that have fixed routes.
FEEDS = """
broken/hsl_2022_broken_subset helsinki/hsl_centre_2022-02-22 kingston/kingston_2026-01 nyc/bus_bk nyc/bus_busco
nyc/bus_bx nyc/bus_m nyc/bus_qns nyc/bus_si nyc/lirr nyc/mnr nyc/subway small/caltrain small/cairns_2014
small/google_example small/sao_paulo_subset small/wmata_rail_2026 tampere/tampere_nysse_2021-22
""".split()  # noqa: SIM905


@pytest.mark.skipif(not SOAK, reason="takes minutes a feed; make soak")
@pytest.mark.parametrize("path", FEEDS)
def test_the_cause_in_a_real_city_is_that_of_a_scan(path, tmp_path, monkeypatch):
    """In the night before the last day, so that some questions are about days without service."""
    source = FeedSource(get_shared(f"gtfs/{path}.gtfs.zip"), "CITY")
    timetable = import_feeds("CITY", [source]).timetable
    network = EmbeddedNetwork(NetworkRecord(name="CITY", source="gtfs"), timetable)
    stops = list(zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), strict=True))
    now = datetime.combine(network.profile.last_day, time(), UTC) - timedelta(hours=2)
    check(network, stops, now, path, tmp_path, monkeypatch, questions=30)
