"""Lower bounds are valid: no journey reaches the destination earlier."""

import random

import numpy as np
import pytest

from fingerpost.transit.engine.raptor.arrays import KernelQuery, new_workspace
from fingerpost.transit.engine.raptor.endpoints import Endpoint
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.kernel.lower_bounds import compute_lower_bounds
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from tests.raptor.networks import DAY, random_timetable
from tests.raptor.oracle import around, earliest_arrivals, list_trip_instances

MAX_RIDES = 4
CHUNKS, PER_CHUNK, TRIES = range(4), 50, 12
WINDOW_S = 1800


def _at(stop):
    nothing = np.zeros(1, np.int32)
    return Endpoint(lat=0.0, lon=0.0, stop=np.array([stop], np.int32), seconds=nothing, metres=nothing)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_arrival_is_before_the_bound_or_the_horizon(chunk):
    """From any stop, any time from the question's on, whichever reach is guessed; and the rides are never fewer.

    The same holds where bounds are kept for a longer window.
    """
    sharp = 0
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        dice = random.Random(seed)
        timetable = random_timetable(seed)
        search_timetable = build_search_timetable(timetable, DAY, is_reverse=False, step_free=False)
        instances = list_trip_instances(timetable, around(DAY, 2, 4))
        goal = _at(dice.randrange(timetable.stop_count))
        start = _at(dice.randrange(timetable.stop_count))
        starts = [each.stop_times[0].departure for each in instances if each.day == DAY] or [search_timetable.start]
        earliest_s = max(0, dice.choice(starts) - search_timetable.start - dice.randrange(3600))
        query = KernelQuery(
            start.stop, start.seconds, start.metres, goal.stop, goal.seconds, goal.metres,
            earliest_s, earliest_s + WINDOW_S, int(UNREACHED) - 1, int(UNREACHED), MAX_RIDES, 10**6,
        )  # fmt: skip
        work = new_workspace(
            timetable.stop_count, search_timetable.pattern_count, search_timetable.longest_pattern, MAX_RIDES
        )
        compute_lower_bounds(search_timetable.patterns, query, work, False)
        if dice.random() < 0.5:
            # A later beginning and a longer window of the same question.
            earliest_s += dice.randrange(1800)
            query = query._replace(earliest_s=earliest_s, window_end_s=earliest_s + dice.choice([1, 4]) * WINDOW_S)
            compute_lower_bounds(search_timetable.patterns, query, work, True)
        horizon_s = int(work.horizon_s[0])
        for _ in range(TRIES):
            stop, leave_s = dice.randrange(timetable.stop_count), earliest_s + dice.randrange(3 * 3600)
            best = earliest_arrivals(
                timetable, instances, _at(stop), goal, search_timetable.start + leave_s, MAX_RIDES, 10**6
            )  # fmt: skip
            for rides, arrival in enumerate(best, 1):
                if arrival - search_timetable.start < min(horizon_s, 40 * 3600):
                    least_s = leave_s + int(work.bound_s[stop])
                    assert least_s <= arrival - search_timetable.start, (seed, stop, leave_s)
                    assert rides >= work.rides_from[stop] or stop == goal.stop[0], (seed, stop)
                    sharp += least_s > leave_s
    assert sharp > 100
