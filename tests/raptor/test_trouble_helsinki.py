"""All kinds of disruption messages on the real Helsinki feed, compared with the oracle."""

import os
import random

import numpy as np
import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.timetable import STOP
from tests.raptor.asking import end_at, hold_arrivals, query_of
from tests.raptor.levelled import DAY, FEED, MIDNIGHT
from tests.raptor.oracle import NEVER, earliest_arrivals, list_trip_instances
from tests.raptor.test_trouble_against_oracle import APPLIED, UNPLACED
from tests.raptor.trouble import draw_trouble, edited, is_ridden
from tests.shared_data import get_shared

# In soak 10,000 changes in all.
ROUNDS = 10 if os.environ.get("FINGERPOST_SOAK") else 1
CHANGES, QUESTIONS, ORACLE_QUESTIONS = 1000, 60, 2
MAX_RIDES, MAX_WALK_M = 4, 1000
# The feed holds one day; past this the oracle has nothing to ride, and neither has the engine.
LATEST_START_S = 22 * 3600


@pytest.fixture(scope="module")
def helsinki():
    timetable = import_feeds("HSL", [FeedSource(get_shared(FEED))]).timetable
    return timetable, RealtimeIndex(timetable), list_trip_instances(timetable, [DAY])


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_no_ride_is_wrong_and_no_better_one_is_missed(helsinki, seed):
    timetable, index, promised = helsinki
    dice = random.Random(seed)
    now = MIDNIGHT + 4 * 3600
    message = draw_trouble(dice, timetable, promised, CHANGES, now)
    overlay = read_realtime(timetable, index, [FeedBytes(message.SerializeToString(), now)], now)
    running = edited(timetable, promised, message)
    search_timetables, planned = SearchTimetables(timetable, overlay), SearchTimetables(timetable)
    served = np.flatnonzero(timetable.stop_kind == STOP).tolist()
    changed = 0
    for number in range(QUESTIONS):
        ends = [end_at(timetable, stop, 400) for stop in dice.sample(served, 2)]
        instant = MIDNIGHT + dice.randrange(5 * 3600, LATEST_START_S)
        query = query_of(*ends, instant, MAX_RIDES, MAX_WALK_M)
        journeys = find_journeys(timetable, search_timetables, query)
        changed += journeys != find_journeys(timetable, planned, query)

        assert all(is_ridden(timetable, overlay, journey, running) for journey in journeys)
        if number < ORACLE_QUESTIONS:
            best = earliest_arrivals(timetable, running, *ends, instant, MAX_RIDES, MAX_WALK_M)
            hold_arrivals(journeys, best, instant, number, within_s=NEVER)
    assert len(message.entity) == CHANGES
    assert set(overlay.counts) <= APPLIED | UNPLACED
    assert changed >= QUESTIONS // 2
