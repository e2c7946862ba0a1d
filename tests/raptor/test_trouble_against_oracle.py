"""All kinds of disruption messages on random networks: parsing and search agree with the oracle.

The oracle is asked about the trips as edited by hand (``trouble.py``).
"""

import os
import random
from collections import Counter
from functools import partial

import pytest
from google.transit.gtfs_realtime_pb2 import TripDescriptor

from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from tests.raptor.asking import hold_arrivals, hold_departures, latest_departures, query_of, random_question
from tests.raptor.networks import DAY, MIDNIGHT
from tests.raptor.oracle import around, earliest_arrivals, list_trip_instances
from tests.raptor.trouble import draw_trouble, edited, is_ridden

CHUNKS = range(10)
PER_CHUNK = 500 if os.environ.get("FINGERPOST_SOAK") else 60
APPLIED = {"trip-updated", "trip-cancelled", "trip-deleted", "trip-replaced", "trip-added"}
# The trip runs as planned, or not at all if it is a new one.
UNPLACED = {"trip-replaced-by-nothing-known", "added-trip-without-two-known-calls"}


def _troubled(seed):
    timetable, *question = random_question(seed)
    promised = list_trip_instances(timetable, around(DAY, 2, 4))
    near = [instance for instance in promised if abs((instance.day - DAY).days) <= 1]
    message = draw_trouble(random.Random(seed), timetable, near, len(near) * 2 // 3, MIDNIGHT)
    overlay = read_realtime(RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), MIDNIGHT)], MIDNIGHT)
    # Where a day offers nothing, the answer is of another.
    weeks = list_trip_instances(timetable, around(DAY, 8, 10))
    return timetable, message, overlay, *(edited(timetable, each, message) for each in (promised, weeks)), question


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_ride_is_wrong_and_no_better_one_is_missed(chunk):
    kinds, changes = Counter(), 0
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        timetable, message, overlay, running, weeks, (origin, destination, instant, rides, limit) = _troubled(seed)
        kinds.update(entity.trip_update.trip.schedule_relationship for entity in message.entity)
        changes += len(message.entity)
        query = query_of(origin, destination, instant, rides, limit)

        journeys = find_journeys(timetable, SearchTimetables(timetable, overlay), query)
        best = earliest_arrivals(timetable, running, origin, destination, instant, rides, limit)

        assert set(overlay.counts) <= APPLIED | UNPLACED, seed
        assert all(is_ridden(timetable, overlay, journey, weeks) for journey in journeys), seed
        hold_arrivals(journeys, best, instant, seed)
    not_drawn = {TripDescriptor.UNSCHEDULED, TripDescriptor.DUPLICATED}
    assert set(kinds) == set(TripDescriptor.ScheduleRelationship.values()) - not_drawn
    # Ten chunks, so 10,000 in all.
    assert changes >= 1000


@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_latest_departure_for_an_arrival_is_never_lost(chunk):
    for seed in range(chunk * PER_CHUNK, chunk * PER_CHUNK + PER_CHUNK // 4):
        timetable, _, overlay, running, weeks, (origin, destination, instant, rides, limit) = _troubled(seed)
        query = query_of(origin, destination, instant, rides, limit, arrive_by=True)

        journeys = find_journeys(timetable, SearchTimetables(timetable, overlay), query)

        assert all(is_ridden(timetable, overlay, journey, weeks) for journey in journeys), seed
        latest = latest_departures(partial(earliest_arrivals, timetable, running), running, query)
        hold_departures(journeys, latest, seed)
