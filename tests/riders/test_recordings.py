"""Kingston's recordings, one after another: boards match the tables and messages, and no trip is wrong."""

import random
from collections import Counter

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage

from tests.riders.feed_tables import KINGSTON, NO_BOARDING
from tests.riders.judging import Judge, instant, span
from tests.riders.real_time import SHUT, apply
from tests.riders.search import NEVER, Question, Router
from tests.riders.test_real_feeds import AHEAD_S, SOAK
from tests.riders.town import Town, iso
from tests.shared_data import get_shared, read_table

WINDOW_S = 1800
BOARDS, TRIPS = 4, 14 if SOAK else 2
RIDES, WALK_M = 5, 1500


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    feeds, day = KINGSTON
    return Town("KINGSTON", feeds, day, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def lines():
    rows = read_table(get_shared(KINGSTON[0][0][1]), "routes.txt")
    return {row["route_id"]: row["route_short_name"] or row["route_long_name"] for row in rows}


def read_messages():
    for path in sorted(get_shared("gtfs/kingston/realtime").glob("*.pb")):
        message = FeedMessage()
        message.ParseFromString(path.read_bytes())
        yield path.name, message


def expected_board(running, line_of, stop, now):
    """Return (line, planned, expected or None, is cancelled) of all departures of a stop in the window."""
    rows = []
    for each in running:
        for at, (number, _, planned, flags) in enumerate(each.planned.calls[:-1]):
            if number == stop and not flags & NO_BOARDING:
                is_off = not each.calls or each.calls[at][3] == SHUT
                expected = planned if is_off else each.calls[at][2]
                if now <= expected <= now + WINDOW_S:
                    told = expected if not is_off and each.known[at] else None
                    rows.append((line_of[each.planned.trip_id], planned, told, is_off))
    return sorted(rows, key=str)


def shown_board(body):
    rows = (
        (
            row["line"],
            instant(row["scheduledTime"]),
            instant(row["realtimeTime"]) if "realtimeTime" in row else None,
            row["status"] == "cancelled",
        )
        for row in body["departures"]
    )
    return sorted(rows, key=str)


def test_boards_and_trips_follow_the_recordings_in_turn(town, lines, monkeypatch):
    """B5, B8, B14: boards equal those of the tables, itineraries hold, and the earliest catchable trip is first."""
    tables, dice, seen = town.tables, random.Random(4), Counter()
    today = f"{town.day:%Y%m%d}"
    counts = Counter(stop for trip in tables.trips if trip.day == today for stop, *_ in trip.calls)
    busiest = [stop for stop, _ in counts.most_common(200)]
    routes = {row["trip_id"]: row["route_id"] for row in read_table(get_shared(KINGSTON[0][0][1]), "trips.txt")}
    for number, (name, message) in enumerate(read_messages()):
        now = message.header.timestamp
        monkeypatch.setenv("FINGERPOST_NOW", iso(now))
        town.publish({"KINGSTON": message}, now)
        running = apply(tables, {"KINGSTON": message})
        told = {entity.trip_update.trip.trip_id: entity.trip_update.trip.route_id for entity in message.entity}
        line_of = {trip: lines[route] for trip, route in (told | routes).items() if route in lines}
        for stop in busiest[:2] + dice.sample(busiest[2:], BOARDS - 2):
            stop_id = "KINGSTON:" + tables.local[stop][1]
            body = town.call("get_departures", {"stop": {"type": "id", "value": stop_id}, "limit": 50})
            assert shown_board(body) == expected_board(running, line_of, stop, now), (name, stop_id)
            assert body["meta"]["realtimeAgeSeconds"] >= 0
        if number % 3 and not SOAK:
            continue
        soon = [each for each in running if each.calls and each.calls[-1][1] >= now
                and each.calls[0][2] <= now + AHEAD_S]  # fmt: skip
        judge, router = Judge(tables, running), Router(tables, soon)
        for _ in range(TRIPS):
            origin, destination = (tables.place[stop] for stop in dice.sample(busiest, 2))
            question = Question(origin, destination, now, RIDES, WALK_M, now + AHEAD_S)
            best = router.earliest_arrival(question)
            for more in ({}, {"includeDisruptionAlt": False}):
                body = town.ask(question, limit=3, **more)
                if "error" in body:
                    assert best == NEVER, (name, question)
                    continue
                assert judge.complaints(body, now) == [], (name, question)
                assert span(body["itineraries"][0]["legs"][-1])[1] <= best, (name, question)
                seen["late"] += sum("DisruptionNote" in each for each in body["itineraries"][:1])
                seen["rides"] += sum("tripId" in leg for each in body["itineraries"] for leg in each["legs"])
    assert (seen["rides"] > 100, seen["late"] > 0) == (True, True), seen
