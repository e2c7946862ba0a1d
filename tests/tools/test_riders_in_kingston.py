"""Kingston's recordings played through plan_trip: nobody is sent on what cannot be travelled, the earliest is first.

The trips as they run are worked out here from the feed's tables and the messages (``expect``, decision 0310).
"""

import asyncio
import os
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor

from fingerpost.apps.wiring import list_tools
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.testing.fakes import FakeNetworks
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.endpoints import find_endpoint
from tests.embedded.rider_oracle import RiderOracle, instant, is_called_unusable
from tests.raptor.oracle import NEVER, StopTime, earliest_arrivals
from tests.realtime.oracle import Told, expect
from tests.shared_data import get_shared
from tests.tools.test_real_kingston import DAY, FEED, SKIPPED, Texts

# All 30 recordings, or every third; trips of each.
EVERY, TRIPS = (1, 14) if os.environ.get("FINGERPOST_SOAK") else (3, 2)
MAX_TRANSFERS, MAX_WALK_M = 4, 1500
AHEAD_S = 3 * 3600
NOTHING = Told()


@dataclass(frozen=True)
class Running:
    """A trip as it runs."""

    stop_times: tuple[StopTime, ...]


def told_of(call, planned_arrival, planned_departure):
    """What a message says of one call."""
    if call is None:
        return NOTHING
    if call.schedule_relationship == SKIPPED:
        return Told("skipped")
    delays = [
        event.time - planned if event.time else event.delay if event.HasField("delay") else None
        for event, planned in ((call.arrival, planned_arrival), (call.departure, planned_departure))
    ]
    return Told("times", *delays)


def added_call(rows, told):
    """A call of a trip that the timetable does not have."""
    times = told.arrival.time or told.departure.time, told.departure.time or told.arrival.time
    return StopTime(rows[told.stop_id], *times, 0)


def list_running(texts, message, rows):
    """Return the trips of the day and those that were added, call by call as expected."""
    updates = {entity.trip_update.trip.trip_id: entity.trip_update for entity in message.entity}
    running = []
    for trip, calls in texts.calls.items():
        update = updates.get(trip)
        if update is not None and update.trip.schedule_relationship == TripDescriptor.CANCELED:
            continue
        known = {} if update is None else {call.stop_sequence: call for call in update.stop_time_update}
        planned = [calls[sequence] for sequence in sorted(calls)]
        told = [told_of(known.get(sequence), *calls[sequence][1:3]) for sequence in sorted(calls)]
        times = expect([call[1:3] for call in planned], told, None)
        running.append(Running(tuple(
            StopTime(rows[stop], time.arrival, time.departure, 3 if word.kind == "skipped" else int(no_boarding))
            for (stop, _, _, no_boarding), time, word in zip(planned, times, told, strict=True)
        )))  # fmt: skip
    running += [
        Running(tuple(map(partial(added_call, rows), update.stop_time_update)))
        for update in updates.values()
        if update.trip.schedule_relationship == TripDescriptor.ADDED and len(update.stop_time_update) > 1
    ]
    return running


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """The network, and ``ask(arguments)`` of plan_trip."""
    timetable = import_feeds("KINGSTON", [FeedSource(get_shared(FEED))]).timetable
    network = EmbeddedNetwork(NetworkRecord(name="KINGSTON", source="gtfs"), timetable)
    store = VariableStore(tmp_path_factory.mktemp("home") / "variables.sqlite")
    tool = {each.name: each for each in list_tools(FakeNetworks(network), store)}["plan_trip"]
    return network, lambda arguments: asyncio.run(tool.answer(arguments, user="ann")).body


def test_the_recordings_send_nobody_wrong(town, monkeypatch):
    """B5, B8, B14: every itinerary as its note says, and the earliest catchable trip first."""
    network, ask = town
    timetable = network.timetable
    index = RealtimeIndex(timetable)
    texts, dice, seen = Texts(), random.Random(13), Counter()
    rows = {stop: row for row, stop in enumerate(timetable.stop_local_id)}
    counts = Counter(call[0] for calls in texts.calls.values() for call in calls.values())
    busiest = [stop for stop, _ in counts.most_common(200)]
    for path in sorted(get_shared("gtfs/kingston/realtime").glob("*.pb"))[::EVERY]:
        message = FeedMessage()
        message.ParseFromString(path.read_bytes())
        now = message.header.timestamp
        monkeypatch.setenv("FINGERPOST_NOW", datetime.fromtimestamp(now, UTC).isoformat())
        network.publish(read_realtime(timetable, index, [FeedBytes(path.read_bytes(), now)], now), DAY)
        running = list_running(texts, message, rows)
        oracle = RiderOracle(timetable, running)
        soon = [trip for trip in running
                if trip.stop_times[-1].arrival >= now and trip.stop_times[0].departure <= now + AHEAD_S]  # fmt: skip
        for _ in range(TRIPS):
            places = [
                (float(timetable.stop_lat[rows[stop]]), float(timetable.stop_lon[rows[stop]]))
                for stop in dice.sample(busiest, 2)
            ]
            ends = [{"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in places]
            question = {
                "origin": ends[0], "destination": ends[1], "limit": 3, "constraints": {"optimize": "shortest_time"},
            }  # fmt: skip
            endpoints = [find_endpoint(timetable, lat, lon, [], MAX_WALK_M) for lat, lon in places]
            best = earliest_arrivals(timetable, soon, *endpoints, now, MAX_TRANSFERS + 1, MAX_WALK_M)[-1]
            for answer in (ask(question), ask({**question, "includeDisruptionAlt": False})):
                if "error" in answer:
                    assert best - now > AHEAD_S, (path.name, places)
                    continue
                assert oracle.complaints(answer) == [], (path.name, places)
                if best != NEVER:
                    assert instant(answer["itineraries"][0]["legs"][-1]["arrivalTime"]) <= best, (path.name, places)
                seen.update(is_called_unusable(each) for each in answer["itineraries"])
                seen["late"] += sum("DisruptionNote" in each for each in answer["itineraries"][:1])
    # What cannot be travelled stands last, so that the limit leaves little of it.
    assert min(seen[False], seen["late"]) > 0
