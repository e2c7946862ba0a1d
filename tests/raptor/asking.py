"""Queries to the engine, and a comparison of its answers with an oracle."""

import random

from fingerpost.transit.engine.raptor.search import SearchQuery, find_endpoint
from tests.raptor.networks import LAT, LON, MIDNIGHT, random_timetable
from tests.raptor.oracle import NEVER, earliest_arrivals, leaves

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


def hold_departures(journeys, latest, seed):
    direct = max((journey.departure for journey in journeys if not journey.rides), default=-NEVER)
    for count, departure in enumerate(latest, 1):
        expected = max(departure, direct)
        known = max((journey.departure for journey in journeys if journey.boardings <= count), default=-NEVER)
        assert known == expected or expected == -NEVER, (seed, count)


def latest_departures(timetable, instances, query):
    ends, rides = (query.origin, query.destination), query.max_rides
    latest = [-NEVER] * rides
    for leave in leaves(instances, query.origin, query.instant - DAY_S, query.instant):
        arrivals = earliest_arrivals(timetable, instances, *ends, leave, rides, query.max_walk_m)
        both = zip(latest, arrivals, strict=True)
        latest = [max(known, leave) if arrival <= query.instant else known for known, arrival in both]
    return latest
