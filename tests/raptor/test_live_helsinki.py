"""Random cancellations and delays on the real Helsinki feed: the engine, nigiri with the same bytes, and the oracle.

Both engines read the same GTFS-Realtime message. Delays are whole minutes, nigiri's own grain.
The oracle is asked about the trips as edited by hand.
"""

import os
import random
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor

from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.endpoints import Endpoint
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.service_days import services_on
from tests.raptor.levelled import DAY, FEED, MAX_TRANSFERS, MIDNIGHT, ask_engine, ask_rival, level, load_rival
from tests.raptor.oracle import NEVER, StopTime, earliest_arrivals, list_trip_instances
from tests.shared_data import get_shared

# In soak 10,000 changes in all.
ROUNDS = 10 if os.environ.get("FINGERPOST_SOAK") else 2
CHANGES, QUESTIONS, ORACLE_QUESTIONS = 1000, 100, 2
# The feed holds one day; past this nigiri's and our horizon may differ.
LAST_ARRIVAL_S = 32 * 3600


@pytest.fixture(scope="module")
def levelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("levelled") / "hsl.zip"
    timetable = level(get_shared(FEED), path)
    return path, timetable, RealtimeIndex(timetable)


def draw_message(timetable, seed):
    """A message of CHANGES trips, a third of them cancelled, the others late by some minutes at all calls."""
    dice = random.Random(seed)
    message = FeedMessage()
    message.header.gtfs_realtime_version, message.header.timestamp = "2.0", MIDNIGHT + 4 * 3600
    # Trips by frequency are named by start times, in which nigiri differs.
    once = np.bincount(timetable.trip_departure_trip, minlength=len(timetable.trip_local_id)) == 1
    running = np.flatnonzero(once & (services_on(timetable, DAY)[timetable.trip_service] != 0)).tolist()
    for trip in dice.sample(running, CHANGES):
        update = message.entity.add(id=str(trip)).trip_update
        update.trip.trip_id = timetable.trip_local_id[trip]
        update.trip.start_date = f"{DAY:%Y%m%d}"
        if dice.random() < 1 / 3:
            update.trip.schedule_relationship = TripDescriptor.CANCELED
            continue
        delay_s = 60 * dice.choice([1, 2, 3, 5, 8, 15, 30])
        for event in range(int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1])):
            call = update.stop_time_update.add()
            call.stop_sequence = int(timetable.stop_time_sequence[event])
            call.stop_id = timetable.stop_local_id[int(timetable.stop_time_stop[event])]
            call.arrival.delay = call.departure.delay = delay_s
    return message


def read_live(levelled, message):
    """Our search timetable of the day with the message applied to all of its trips."""
    _, timetable, index = levelled
    now = message.header.timestamp
    overlay = read_realtime(timetable, index, [FeedBytes(message.SerializeToString(), now)], now)
    assert len(overlay.rides) == CHANGES
    return build_search_timetable(timetable, DAY, mirrored=False, step_free=False, overlay=overlay)


def draw_questions(search_timetable, seed, count):
    dice = random.Random(seed)
    served = np.unique(search_timetable.patterns.position_stop).tolist()
    return [(*dice.sample(served, 2), dice.randrange(5 * 3600, 23 * 3600, 60)) for _ in range(count)]


def until(rows):
    return [row for row in rows if row[1] <= LAST_ARRIVAL_S]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_pareto_sets_are_nigiris_with_the_same_message(levelled, seed):
    """Arrivals and changes of all best journeys are the same, question by question."""
    nigiri = pytest.importorskip("pynigiri", reason="pynigiri has no wheel for this platform")
    path, timetable, _ = levelled
    message = draw_message(timetable, seed)
    search_timetable = read_live(levelled, message)
    rival = load_rival(path)
    live = nigiri.create_rt_timetable(rival, datetime(DAY.year, DAY.month, DAY.day))
    nigiri.gtfsrt_update_from_bytes(rival, live, nigiri.SourceIdx(0), "gtfs", message.SerializeToString())
    ids = list(timetable.stop_local_id)
    questions = draw_questions(search_timetable, seed, QUESTIONS)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}

    ours = [until(ask_engine(timetable, search_timetable, *question)) for question in questions]
    theirs = [until(ask_rival(rival, locations, *question, live=live)) for question in questions]

    planned = [until(ask_rival(rival, locations, *question)) for question in questions]

    assert ours == theirs
    assert sum(now != before for now, before in zip(theirs, planned, strict=True)) >= QUESTIONS // 10


def edited(instances, timetable, message):
    """The trips as they really run, one stop after the other."""
    told = {entity.trip_update.trip.trip_id: entity.trip_update for entity in message.entity}
    for instance in instances:
        update = told.get(timetable.trip_local_id[int(timetable.trip_departure_trip[instance.trip_departure])])
        if update is None:
            yield instance
        elif update.trip.schedule_relationship != TripDescriptor.CANCELED:
            late_s = update.stop_time_update[0].departure.delay
            stop_times = (
                StopTime(call.stop, call.arrival + late_s, call.departure + late_s, call.flags)
                for call in instance.stop_times
            )
            yield replace(instance, stop_times=tuple(stop_times))


def test_earliest_arrivals_are_the_oracles_on_the_edited_timetable(levelled):
    """The earliest arrival for every number of changes, worked out by looking at every trip."""
    _, timetable, _ = levelled
    message = draw_message(timetable, 99)
    search_timetable = read_live(levelled, message)
    running = list(edited(list_trip_instances(timetable, [DAY]), timetable, message))
    origins = np.repeat(np.arange(timetable.stop_count), np.diff(timetable.foot_first))
    for origin, destination, leave_s in draw_questions(search_timetable, 7, ORACLE_QUESTIONS):
        ours = ask_engine(timetable, search_timetable, origin, destination, leave_s)
        into = np.flatnonzero(timetable.foot_to == destination)
        nothing = np.zeros(1, np.int32)
        start = Endpoint(lat=0.0, lon=0.0, stop=np.array([origin], np.int32), seconds=nothing, metres=nothing)
        goal = Endpoint(
            lat=0.0,
            lon=0.0,
            stop=np.concatenate([[destination], origins[into]]).astype(np.int32),
            seconds=np.concatenate([nothing, timetable.foot_s[into]]),
            metres=np.concatenate([nothing, timetable.foot_m[into]]),
        )
        best = earliest_arrivals(timetable, running, start, goal, MIDNIGHT + leave_s, MAX_TRANSFERS + 1, 10**6)
        known = [
            min((at for changes, at in ours if changes < rides), default=NEVER) for rides in range(1, len(best) + 1)
        ]
        assert known == [arrival - MIDNIGHT for arrival in best]
