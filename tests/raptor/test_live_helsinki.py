"""The engine compared with nigiri on the real Helsinki feed, with equal footpaths (``levelled.py``).

Both read the same GTFS-Realtime message, too. Delays are whole minutes, nigiri's own grain.
"""

import os
import random

import numpy as np
import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.service_days import find_service_day_start, find_services
from tests.raptor.levelled import DAY, FEED, ask_engine, ask_rival, level
from tests.raptor.rival import apply_live, load_rival
from tests.shared_data import get_shared

# In soak 10,000 changes in all.
ROUNDS = 10 if os.environ.get("FINGERPOST_SOAK") else 2
CHANGES, QUESTIONS = 1000, 150
# The feed holds one day; past this nigiri's and our horizon may differ.
LAST_ARRIVAL_S = 32 * 3600


@pytest.fixture(scope="module")
def levelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("levelled") / "hsl.zip"
    timetable = level(get_shared(FEED), path)
    return path, timetable


def draw_message(timetable, seed, day=DAY, changes=CHANGES):
    dice = random.Random(seed)
    message = FeedMessage()
    start = find_service_day_start(day, timetable.feeds[0].zone)
    message.header.gtfs_realtime_version, message.header.timestamp = "2.0", start + 4 * 3600
    # Trips by frequency are named by start times, in which nigiri differs.
    once = np.bincount(timetable.trip_departure_trip, minlength=len(timetable.trip_local_id)) == 1
    running = np.flatnonzero(once & (find_services(timetable, day)[timetable.trip_service] != 0)).tolist()
    for trip in dice.sample(running, changes):
        update = message.entity.add(id=str(trip)).trip_update
        update.trip.trip_id = timetable.trip_local_id[trip]
        update.trip.start_date = f"{day:%Y%m%d}"
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


def read_live(timetable, message, day=DAY):
    now = message.header.timestamp
    overlay = read_realtime(RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), now)], now)
    assert len(overlay.rides) == len(message.entity)
    return build_search_timetable(timetable, day, is_reverse=False, step_free=False, overlay=overlay)


def draw_questions(search_timetable, seed, count):
    dice = random.Random(seed)
    served = np.unique(search_timetable.patterns.position_stop).tolist()
    return [(*dice.sample(served, 2), dice.randrange(5 * 3600, 23 * 3600, 60)) for _ in range(count)]


def until(rows):
    return [row for row in rows if row[1] <= LAST_ARRIVAL_S]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_pareto_sets_are_nigiris_by_the_timetable_and_with_the_same_message(levelled, seed):
    pytest.importorskip("pynigiri", reason="pynigiri has no wheel for this platform")
    path, timetable = levelled
    message = draw_message(timetable, seed)
    search_timetable = read_live(timetable, message)
    rival = load_rival(path)
    live = apply_live(rival, DAY, message)
    ids = list(timetable.stop_local_id)
    questions = draw_questions(search_timetable, seed, QUESTIONS)
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}

    ours, planned = (
        [until(ask_engine(timetable, searched, *question)) for question in questions]
        for searched in (search_timetable, build_search_timetable(timetable, DAY, is_reverse=False, step_free=False))
    )

    assert ours == [until(ask_rival(rival, locations, *question, live=live)) for question in questions]
    assert planned == [until(ask_rival(rival, locations, *question)) for question in questions]
    assert sum(map(bool, planned)) >= QUESTIONS * 4 // 5
    assert sum(now != before for now, before in zip(ours, planned, strict=True)) >= QUESTIONS // 10
