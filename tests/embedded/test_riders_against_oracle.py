"""Random realtime data on random networks, through plan_trip: riders are never sent on impossible trips.

The oracle reads the answers, the edited trips, and the timetable's footpaths. It calls no code that it checks.
"""

import os
import random
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.raptor.search import find_endpoint
from fingerpost.transit.model.itinerary import Itinerary
from tests.contracts.conftest import asker
from tests.raptor.networks import DAY, LAT, LON, MIDNIGHT, random_timetable
from tests.raptor.oracle import NEVER, around, earliest_arrivals, leaves, list_footpaths, list_trip_instances
from tests.raptor.trouble import draw_trouble, edited
from tests.riders.judging import BREAKS, LATE_AFTER_S, instant, span
from tests.riders.walks import CHANGE_S, STRAIGHT_S, walk_m, walk_s

CHUNKS = range(2)
# Two chunks, so 200 questions, and 10,000 in soak.
PER_CHUNK = 5000 if os.environ.get("FINGERPOST_SOAK") else 100
# Trips scheduled in the same slot count as one (B7).
SLOT_S = 120


def is_called_unusable(itinerary):
    return any(words in itinerary.get("DisruptionNote", "") for words in BREAKS)


class RiderOracle:
    def __init__(self, timetable, running):
        self.timetable = timetable
        self.rows = {printed: row for row, printed in enumerate(timetable.stop_printed_id)}
        self.boardings, self.alightings = {}, {}
        for number, trip in enumerate(running):
            for at, call in enumerate(trip.stop_times):
                if not call.flags & 1:
                    self.boardings.setdefault((call.stop, call.departure), []).append((number, at))
                if not call.flags & 2:
                    self.alightings.setdefault((call.stop, call.arrival), []).append((number, at))

    def complaints(self, answer, wanted=None):
        """Return the faults of an answer's itineraries, in words.

        Itineraries that arrive after the ``wanted`` arrival must follow those in time.
        """
        found = []
        seats = {each["fingerprint"]: each["legs"] for each in answer["meta"].get("staySeated", ())}
        verdicts = [self.can_be_travelled(each, seats.get(each["fingerprint"], ())) for each in answer["itineraries"]]
        for number, (itinerary, can) in enumerate(zip(answer["itineraries"], verdicts, strict=True)):
            spans = [span(leg) for leg in itinerary["legs"]]
            if any(begin > end for begin, end in spans) or itinerary["totalDuration"] < 0:
                found.append(f"{number}: a duration is negative")
            if any(before[1] > after[0] for before, after in pairwise(spans)):
                found.append(f"{number}: legs overlap")
            if itinerary["totalDuration"] != spans[-1][1] - spans[0][0]:
                found.append(f"{number}: the total is not from start to end")
            if can == is_called_unusable(itinerary):
                found.append(f"{number}: {'can' if can else 'cannot'} be travelled, and the note says otherwise")
        in_time = [wanted is None or span(each["legs"][-1])[1] <= wanted for each in answer["itineraries"]]
        uses = [can + (can and soon) for can, soon in zip(verdicts, in_time, strict=True)]
        if uses != sorted(uses, reverse=True):
            found.append(f"an impossible or late itinerary precedes a possible one: {uses}")
        warned = "no-usable-itinerary" in [each["code"] for each in answer.get("warnings", ())]
        if warned == (2 in uses):
            found.append(f"no-usable-itinerary is {'' if warned else 'not '}reported: {uses}")
        return found

    def can_be_travelled(self, itinerary, seated=()):
        """Whether vehicles run every ride at the times shown, and every transfer is possible.

        Riders stay seated for the legs ``seated``, which need no time to transfer.
        """
        rides = [(at, leg) for at, leg in enumerate(itinerary["legs"]) if leg["mode"] != "WALK"]
        return all(self._is_made(leg) for _, leg in rides) and all(
            span(before)[1] + (0 if at in seated else self._change_s(before["to"]["id"], after["from"]["id"]))
            <= span(after)[0]
            for (_, before), (at, after) in pairwise(rides)
        )

    def _is_made(self, leg):
        begin, end = span(leg)
        boarded = self.boardings.get((self.rows[leg["from"]["id"]], begin), ())
        left = self.alightings.get((self.rows[leg["to"]["id"]], end), ())
        return any(one == other and at < then for one, at in boarded for other, then in left)

    def _change_s(self, begin, end):
        table, begin, end = self.timetable, self.rows[begin], self.rows[end]
        if begin == end:
            return int(table.change_s[begin])
        linked = [seconds for to_stop, seconds, _ in list_footpaths(table, begin) if to_stop == end]
        # Realtime data may move a ride to a stop without a footpath, to which riders walk in a straight line.
        places = [(float(table.stop_lat[stop]), float(table.stop_lon[stop])) for stop in (begin, end)]
        return linked[0] if linked else walk_s(walk_m(*places)) + CHANGE_S + STRAIGHT_S


class Rider:
    def __init__(self, seed, folder):
        dice = random.Random(seed * 11 + 5)
        self.timetable = random_timetable(seed)
        promised = list_trip_instances(self.timetable, around(DAY, 8, 10))
        near = [trip for trip in promised if abs((trip.day - DAY).days) <= 1]
        message = draw_trouble(random.Random(seed), self.timetable, near, len(near) * 2 // 3, MIDNIGHT)
        overlay = read_realtime(
            RealtimeIndex(self.timetable), [FeedBytes(message.SerializeToString(), MIDNIGHT)], MIDNIGHT
        )
        self.running = edited(self.timetable, promised, message)
        self.oracle = RiderOracle(self.timetable, self.running)
        network = EmbeddedNetwork(NetworkRecord(name="R", source="gtfs"), self.timetable)
        network.publish(overlay, DAY)
        self._ask = asker(folder, network)
        self.ends = [(LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06)) for _ in range(2)]
        # Shortly before a departure, so that late and cancelled trips are those that the rider would have taken.
        today = [call.departure for trip in promised if trip.day == DAY for call in trip.stop_times[:-1]]
        self.now = dice.choice(today or [MIDNIGHT + 43200]) - dice.choice([0, 300, 900, 1800])
        self.rides, self.walk_m = dice.choice([1, 2, 3, 5]), dice.choice([600, 1500, 3000])
        self.wanted = self.now + dice.choice([600, 3600, 4 * 3600])

    def ask(self, **more):
        ends = [{"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in self.ends]
        constraints = {
            "optimize": "shortest_time", "maxWalkingDistance": self.walk_m, "maxTransfers": self.rides - 1,
        }  # fmt: skip
        arguments = {"origin": ends[0], "destination": ends[1], "constraints": constraints, "limit": 3, **more}
        return self._ask("plan_trip", arguments).body

    def arrive(self):
        return {"type": "arrive", "time": datetime.fromtimestamp(self.wanted, UTC).isoformat()}

    def endpoints(self):
        return [find_endpoint(self.timetable, lat, lon, [], self.walk_m) for lat, lon in self.ends]

    def earliest_arrival(self, since):
        ends = self.endpoints()
        return earliest_arrivals(self.timetable, self.running, *ends, since, self.rides, self.walk_m)[-1]

    def latest_departure(self, wanted=None):
        wanted = self.wanted if wanted is None else wanted
        instants = leaves(self.running, self.endpoints()[0], self.now, wanted)
        return next((leave for leave in reversed(instants) if self.earliest_arrival(leave) <= wanted), -NEVER)

    def counts_as_one(self, body, legs, best):
        """Whether rule B7 prefers this itinerary to the first to arrive: shorter, and in the same slot."""
        leaves_at, first = instant(legs[0]["departureTime"]), self.latest_departure(best)
        duration_s = instant(legs[-1]["arrivalTime"]) - leaves_at
        is_shorter = duration_s < best - first and abs(leaves_at - first) < SLOT_S + LATE_AFTER_S
        return "deduplicatedFrom" in body["meta"] and is_shorter


@pytest.fixture
def riders(tmp_path, monkeypatch):
    def draw(chunk):
        for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
            rider = Rider(seed, tmp_path)
            monkeypatch.setenv("FINGERPOST_NOW", datetime.fromtimestamp(rider.now, UTC).isoformat())
            yield seed, rider

    return draw


def assert_beginnings(rider, longest, seed, **more):
    """Assert B14: a shorter answer is the beginning of the longest, with the same count of duplicates."""
    for limit in (1, 2):
        answer = rider.ask(limit=limit, **more)
        assert answer["itineraries"] == longest["itineraries"][:limit], (seed, limit)
        assert answer["meta"].get("deduplicatedFrom") == longest["meta"].get("deduplicatedFrom"), (seed, limit)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_untravellable_rides_are_not_offered(riders, chunk):
    """B5, B8, B14: legs do not overlap, impossible trips are last and marked, and the best trip is first."""
    seen = Counter()
    for seed, rider in riders(chunk):
        best = rider.earliest_arrival(rider.now)
        body = rider.ask()
        if "error" in body:
            assert best - rider.now > 86400, (seed, body)
            continue
        alone = rider.ask(includeDisruptionAlt=False)
        for answer in (body, alone):
            assert rider.oracle.complaints(answer) == [], seed
        if best - rider.now <= 86400:
            first = body["itineraries"][0]["legs"]
            arrives = instant(first[-1]["arrivalTime"])
            assert arrives <= best or rider.counts_as_one(body, first, best), seed
        assert_beginnings(rider, body, seed)
        seen.update("unusable" if is_called_unusable(each) else "usable" for each in body["itineraries"])
    assert min(seen["unusable"], seen["usable"]) > 0


def test_trips_are_ranked_by_what_their_legs_say(riders, monkeypatch):
    found, plan = [], EmbeddedNetwork._plan
    monkeypatch.setattr(
        EmbeddedNetwork, "_plan", lambda *query, **more: found.append(plan(*query, **more)) or found[-1]
    )
    for _, rider in riders(0):
        rider.ask()
    planned = [trip for answer in found for trip in answer.itineraries if trip.is_planned]

    assert len(planned) > 40
    for name in ("departure", "is_unusable", "arrival", "transfers", "walk_m", "walk_s", "outline"):
        assert [getattr(each, name) for each in planned] == [getattr(Itinerary(each.legs), name) for each in planned]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_past_arrival_time_is_not_answered_with_departed_trips(riders, chunk):
    """B12, B5: no trip begins before now, the latest departure is first, and errors name the earliest arrival."""
    hidden = 0
    for seed, rider in riders(chunk):
        last = rider.latest_departure()
        body = rider.ask(when=rider.arrive())
        if "error" in body:
            assert last == -NEVER, (seed, body)
            hint = body["error"]["hint"]
            if "earliest arrival" in hint and rider.earliest_arrival(rider.now) - rider.now <= 86400:
                assert instant(hint.split()[6].rstrip(",")) <= rider.earliest_arrival(rider.now), seed
            continue
        assert_beginnings(rider, body, seed, when=rider.arrive())
        starts = [instant(each["legs"][0]["departureTime"]) for each in body["itineraries"]]
        assert min(starts) >= rider.now, seed
        assert rider.oracle.complaints(body, rider.wanted) == [], seed
        if last != -NEVER:
            # A late trip that leaves after all others may count as a duplicate of one on time (B7).
            is_hidden = starts[0] < last and "deduplicatedFrom" in body["meta"]
            hidden += is_hidden
            assert starts[0] >= last or is_hidden, seed
            assert instant(body["itineraries"][0]["legs"][-1]["arrivalTime"]) <= rider.wanted, seed
    assert hidden <= PER_CHUNK // 1000
