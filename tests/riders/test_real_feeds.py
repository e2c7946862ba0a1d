"""Random realtime data on real feeds, through plan_trip: no impossible trips, and the best trip comes first.

The oracle (``feed_tables``, ``real_time``, ``search``, ``judging``) reads the feeds' tables, the messages and the
printed answers, and shares no code with what it judges. 200 questions; 10,000 in ``make soak``.
"""

import os
import random
from collections import Counter

import pytest

from tests.riders.feed_tables import HELSINKI, KINGSTON, NEW_YORK, midnight
from tests.riders.judging import Judge, instant, span
from tests.riders.real_time import MIXED, OUTAGE, apply, draw
from tests.riders.search import NEVER, Question, Router
from tests.riders.town import Town, iso

SOAK = bool(os.environ.get("FINGERPOST_SOAK"))
# How many questions; New York's subway and its Long Island railway, in soak all nine feeds.
QUESTIONS = {"HELSINKI": 100, "KINGSTON": 80, "NEW-YORK": 20}
IN_SOAK = {"HELSINKI": 5000, "KINGSTON": 4000, "NEW-YORK": 1000}
CITIES = {"HELSINKI": HELSINKI, "KINGSTON": KINGSTON, "NEW-YORK": NEW_YORK if SOAK else (NEW_YORK[0][:2], NEW_YORK[1])}
# One drawn message serves so many questions.
A_MESSAGE = 100 if SOAK else 20
# For how many hours ahead trips are told of, which share of them, and what.
TROUBLE = ((12, 1.0, OUTAGE), (2, 0.8, MIXED), (2, 0.1, MIXED), (2, 0.4, MIXED), (2, 1.0, MIXED))
AHEAD_S = 3 * 3600


class Rider:
    def __init__(self, town, seed):
        self.town, self.dice = town, random.Random(seed)
        tables, zero = town.tables, midnight(town.day, town.tables.zone)
        self.now = zero + self.dice.randrange(6 * 3600, 20 * 3600)
        hours, share, kinds = TROUBLE[seed // A_MESSAGE % len(TROUBLE)]
        near = [trip for trip in tables.trips
                if trip.calls[0][2] < self.now + hours * 3600 and trip.calls[-1][1] > self.now - 1800]  # fmt: skip
        messages = draw(self.dice, tables, near, self.now, share, kinds)
        town.publish(messages, self.now)
        running = apply(tables, messages)
        soon = [each for each in running if each.calls and each.calls[-1][1] >= self.now
                and each.calls[0][2] <= self.now + AHEAD_S]  # fmt: skip
        self.judge, self.forwards, self.soon = Judge(tables, running), Router(tables, soon), soon
        self.stops = [stop for trip in near for stop, *_ in trip.calls]

    def place(self):
        lat, lon = self.town.tables.place[self.dice.choice(self.stops)]
        return round(lat + self.dice.uniform(-0.002, 0.002), 6), round(lon + self.dice.uniform(-0.003, 0.003), 6)

    def question(self):
        rides, walk_m = self.dice.choice((1, 2, 3, 5)), self.dice.choice((500, 1000, 1500, 3000))
        return Question(self.place(), self.place(), self.now, rides, walk_m, self.now + AHEAD_S)

    def latest_departure(self, question, wanted):
        """Return the last instant from now on at which leaving is in time, -NEVER where there is none."""
        turned = Question(question.destination, question.origin, -wanted, question.max_rides, question.max_walk_m,
                          1 - self.now)  # fmt: skip
        return -Router(self.town.tables, self.soon, is_reverse=True).earliest_arrival(turned)


@pytest.fixture(scope="module", params=sorted(CITIES))
def town(request, tmp_path_factory):
    feeds, day = CITIES[request.param]
    return request.param, Town(request.param, feeds, day, tmp_path_factory.mktemp("home"))


def riders(town, share, monkeypatch):
    """Yield (rider, how many questions), each at a clock of their own."""
    name, network = town
    count = int((IN_SOAK if SOAK else QUESTIONS)[name] * share)
    for seed in range(0, count, A_MESSAGE):
        rider = Rider(network, seed)
        monkeypatch.setenv("FINGERPOST_NOW", iso(rider.now))
        yield rider, min(A_MESSAGE, count - seed)


def test_riders_are_not_misdirected(town, monkeypatch):
    """B5, B8, B12, B14: legs join, what breaks is named and last, and the earliest way that can be caught is first."""
    seen = Counter()
    for rider, count in riders(town, 0.8, monkeypatch):
        for number in range(count):
            question = rider.question()
            more = {"limit": rider.dice.choice((1, 2, 3)), "includeDisruptionAlt": number % 2 == 0}
            body = rider.town.ask(question, **more)
            where = (rider.now, question, more)
            best = rider.forwards.earliest_arrival(question)
            if "error" in body:
                assert (body["error"]["code"], best) == ("no-itinerary-found", NEVER), (where, body)
                seen["none"] += 1
                continue
            assert rider.judge.complaints(body, rider.now) == [], where
            assert len(body["itineraries"]) <= more["limit"], where
            assert span(body["itineraries"][0]["legs"][-1])[1] <= best, where
            if number % 5 == 0:
                assert rider.town.ask(question, **more | {"limit": 1})["itineraries"] == body["itineraries"][:1], where
            seen.update("broken" if " is cancelled" in note or "missed" in note else "late" if note else "fine"
                        for note in (each.get("DisruptionNote", "") for each in body["itineraries"]))  # fmt: skip
    # What is broken stands last, and falls off where as many as may be shown can be used: almost everywhere here.
    # The villages of tests/embedded/test_riders_against_oracle.py have few trips, and show it.
    assert min(seen["late"], seen["fine"]) > 0, seen


def test_departed_rides_are_not_offered(town, monkeypatch):
    """B12, B5: a wanted arrival is met by the latest departure that can still be caught, none before now."""
    met = 0
    for rider, count in riders(town, 0.2, monkeypatch):
        for _ in range(count):
            question = rider.question()
            wanted = rider.now + rider.dice.choice((900, 2400, 5400))
            body = rider.town.ask(question, limit=3, when={"type": "arrive", "time": iso(wanted)})
            where = (rider.now, question, wanted)
            latest = rider.latest_departure(question, wanted)
            if "error" in body:
                assert latest == -NEVER, (where, body)
                continue
            assert rider.judge.complaints(body, rider.now, wanted) == [], where
            if latest != -NEVER:
                first = body["itineraries"][0]["legs"]
                assert (instant(first[0]["departureTime"]) >= latest, span(first[-1])[1] <= wanted) == (True, True), (
                    where
                )
                met += 1
    assert met > 0
