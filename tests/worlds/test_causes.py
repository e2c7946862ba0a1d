"""Errors and warnings about long waits name the cause that a scan of the feed finds; in soak, also on real feeds."""

import os
import random
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.raptor.search import find_endpoint
from tests.contracts.conftest import asker
from tests.raptor.oracle import NEVER, around, earliest_arrivals, list_trip_instances, runs_on
from tests.riders.walks import walk_m
from tests.shared_data import get_shared
from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

SOAK = bool(os.environ.get("FINGERPOST_SOAK"))
SEEDS = range(200 if SOAK else 20)
QUESTIONS = 12
HOUR_S = 3600
DAYS = 8
NO_BOARDING, NO_ALIGHTING = 1, 2
# The limits of the contract.
WIDEST_M, MOST_RIDES = 3000, 9
TIME = r"\d{4}-\d\d-\d\dT[\d:]{8}[+-][\d:]{5}"
SIDES = {
    False: ("There are no departures near the origin", "the origin"),
    True: ("There are no arrivals near the destination", "the destination"),
}


class Question:
    def __init__(self, dice, stops, now):
        self.ends = [self._draw_place(dice, stops) for _ in range(2)]
        self.max_walk_m = dice.choice((60, 200, 400, 1000))
        self.arrive_by = dice.random() < 0.5
        self.instant = int(now.timestamp()) + dice.choice((-2, 0, 1, 6, 12, 24)) * HOUR_S

    @staticmethod
    def _draw_place(dice, stops):
        lat, lon = dice.choice(stops)
        return round(lat + dice.uniform(-0.003, 0.003), 6), round(lon + dice.uniform(-0.003, 0.003), 6)

    def to_arguments(self):
        ends = [{"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in self.ends]
        time = datetime.fromtimestamp(self.instant, UTC).isoformat()
        return {
            "origin": ends[0], "destination": ends[1], "limit": 3,
            "when": {"type": "arrive" if self.arrive_by else "depart", "time": time},
            "constraints": {"maxWalkingDistance": self.max_walk_m},
        }  # fmt: skip


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


def list_complaints_of_error(question, scan, body):
    error = body["error"]
    hint = error.get("hint", "")
    if "covers" in error["message"] or hint.startswith("The earliest possible arrival"):
        return
    for side, (_, name) in SIDES.items():
        is_named = bool(re.search(rf"No stop is within .*?of {name}", hint))
        if is_named != (not scan.near[side]):
            yield f"{len(scan.near[side])} stops near {name}: {hint}"
    if "No stop is within" in hint or hint.startswith("No service on"):
        return
    unserved = scan.find_unserved(question)
    for side, (nothing, _) in SIDES.items():
        if hint.startswith(nothing) != (side is unserved):
            yield f"unserved is {unserved}: {hint}"
    if not hint or "maxWalkingDistance" in hint:
        yield f"no cause: {hint}"
    if "do not help" in hint and not question.arrive_by and not len(scan.timetable.in_seat_from):
        ends = [find_endpoint(scan.timetable, *place, [], WIDEST_M) for place in question.ends]
        days = [to_date(question.instant, scan.timetable.feeds[0].zone) + timedelta(days=each) for each in range(-1, 7)]
        trips = list_trip_instances(scan.timetable, days)
        best = earliest_arrivals(scan.timetable, trips, *ends, question.instant, MOST_RIDES, WIDEST_M)[-1]
        if best < NEVER:
            yield f"arrives at {best}: {hint}"


def list_complaints_of_wait(question, scan, body):
    warned = " ".join(warning["message"] for warning in body.get("warnings", ()))
    legs = [itinerary["legs"] for itinerary in body["itineraries"]]
    offsets = [question.instant - read(each[-1]["arrivalTime"]) if question.arrive_by
               else read(each[0]["departureTime"]) - question.instant for each in legs]  # fmt: skip
    changes = [pair for each in legs for pair in pairwise(each)]
    waits_s = [read(after["departureTime"]) - read(before["arrivalTime"]) for before, after in changes]
    longest_s = max(waits_s, default=0)
    if "staySeated" not in body["meta"] and ("The longest wait between rides" in warned) != (longest_s > HOUR_S):
        yield f"a wait of {longest_s} s: {warned}"
    offset = re.search(rf"the (first|last) one (departs|arrives) at ({TIME})", warned)
    if len(legs) < 3 and (offset is not None) != (min(offsets) > HOUR_S):
        yield f"offsets of {offsets}: {warned}"
    if offset is None:
        return
    for side in (question.arrive_by, not question.arrive_by):
        nearest, (nothing, _) = scan.nearest[side], SIDES[side]
        if nearest is None or abs(nearest - question.instant) > HOUR_S:
            named = re.search(rf"{nothing} (?:before|after) ({TIME}|[\d-]+)", warned)
            if named is None or (len(named[1]) > 10 and read(named[1]) != nearest):
                yield f"{nothing} until {nearest}: {warned}"
            return
    if "have no connection within the limits" not in warned:
        yield f"something leaves and something arrives: {warned}"


def read(time):
    return int(datetime.fromisoformat(time).timestamp())


def to_date(instant, zone):
    return datetime.fromtimestamp(instant, ZoneInfo(zone)).date()


def check(timetable, call, stops, now, seed, questions=QUESTIONS):
    dice = random.Random(seed)
    for _ in range(questions):
        question = Question(dice, stops, now)
        body = call("plan_trip", question.to_arguments())
        list_complaints = list_complaints_of_error if "error" in body else list_complaints_of_wait
        assert list(list_complaints(question, Scan(timetable, question), body)) == [], (question.to_arguments(), body)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cause_is_that_of_a_scan(seed, tmp_path, monkeypatch):
    world = draw_world(seed, with_streets=False)
    opened = open_world(world, tmp_path)
    monkeypatch.setenv("FINGERPOST_NOW", world.now.isoformat())
    check(opened.network.timetable, opened.call, world.stops, world.now, seed)


# A feed of the shared data, and an instant near its last day.
FEEDS = {
    "small/caltrain.gtfs.zip": "2019-10-04T05:00:00+00:00",
    "small/wmata_rail_2026.gtfs.zip": "2026-06-01T14:00:00+00:00",
    "small/cairns_2014.gtfs.zip": "2014-11-28T00:00:00+00:00",
    "kingston/kingston_2026-01.gtfs.zip": "2026-05-02T22:00:00+00:00",
    "tampere/tampere_nysse_2021-22.gtfs.zip": "2022-02-22T02:00:00+00:00",
    "helsinki/hsl_centre_2022-02-22.gtfs.zip": "2022-02-22T18:00:00+00:00",
    "nyc/lirr.gtfs.zip": "2026-09-30T02:00:00+00:00",
}


@pytest.mark.skipif(not SOAK, reason="takes minutes a feed; make soak")
@pytest.mark.parametrize("path", FEEDS)
def test_the_cause_in_a_real_city_is_that_of_a_scan(path, tmp_path, monkeypatch):
    timetable = import_feeds("CITY", [FeedSource(get_shared(f"gtfs/{path}"), "CITY")]).timetable
    network = EmbeddedNetwork(NetworkRecord(name="CITY", source="gtfs"), timetable)
    ask = asker(tmp_path, network)
    monkeypatch.setenv("FINGERPOST_NOW", FEEDS[path])
    stops = list(zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), strict=True))
    now = datetime.fromisoformat(FEEDS[path])
    check(timetable, lambda tool, arguments: ask(tool, arguments).body, stops, now, path, questions=60)
