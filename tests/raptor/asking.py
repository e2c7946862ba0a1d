"""Queries to the engine, and a comparison of its answers with an oracle."""

import random
from bisect import bisect_left
from functools import partial

from fingerpost.transit.engine.raptor.search import SearchQuery, find_endpoint
from tests.raptor.networks import LAT, LON, MIDNIGHT, random_timetable
from tests.raptor.oracle import NEVER, leaves

DAY_S = 86_400


def end_at(timetable, stop, limit_m):
    return find_endpoint(timetable, float(timetable.stop_lat[stop]), float(timetable.stop_lon[stop]), [stop], limit_m)


def query_of(origin, destination, instant, rides, limit_m, **wishes):
    usual = {"arrive_by": False, "step_free": False, "wanted": 3}
    return SearchQuery(
        origin=origin, destination=destination, instant=instant, max_rides=rides, max_walk_m=limit_m, **usual | wishes
    )


def random_question(seed):
    dice = random.Random(seed * 7 + 1)
    timetable = random_timetable(seed)
    limit = dice.choice([200, 600, 1500, 3000])
    instant = MIDNIGHT + dice.randint(0, 86399)
    ends = [
        end_at(timetable, dice.randrange(timetable.stop_count), limit)
        if dice.random() < 0.3
        else find_endpoint(timetable, LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06), [], limit)
        for _ in "ab"
    ]
    return timetable, *ends, instant, dice.choice([1, 2, 3, 5]), limit


def hold_arrivals(journeys, promised, instant, seed, within_s=DAY_S):
    """Assert that the earliest arrival for each number of rides is the promised one; return how many were held."""
    direct = min((journey.arrival for journey in journeys if not journey.rides), default=NEVER)
    held = 0
    for count, arrival in enumerate(promised, 1):
        if arrival - instant <= within_s:
            known = min((journey.arrival for journey in journeys if journey.boardings <= count), default=NEVER)
            assert known == min(arrival, direct), (seed, count)
            held += 1
    return held


def hold_departures(journeys, latest, seed, since=0):
    """Assert that the latest departure for each number of rides is the oracle's, unless that is before ``since``."""
    direct = max((journey.departure for journey in journeys if not journey.rides), default=-NEVER)
    for count, departure in enumerate(latest, 1):
        expected = max(departure, direct)
        known = max((journey.departure for journey in journeys if journey.boardings <= count), default=-NEVER)
        assert known == expected or expected < since, (seed, count)


def latest_departures(earliest_arrivals, instances, query, since_s=DAY_S):
    """For 1..max_rides rides at most: the latest departure in time, by an oracle's ``earliest_arrivals``."""
    starts = leaves(instances, query.origin, query.instant - since_s, query.instant)

    def is_late(leave, count):
        arrivals = earliest_arrivals(query.origin, query.destination, leave, count, query.max_walk_m)
        return arrivals[-1] > query.instant

    counts = range(1, query.max_rides + 1)
    rows = [bisect_left(starts, True, key=partial(is_late, count=count)) for count in counts]
    return [starts[row - 1] if row else -NEVER for row in rows]
