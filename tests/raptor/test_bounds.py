"""Looking ahead never promises too little hope: nobody reaches the goal before the bound says."""

import random

import numpy as np
import pytest

from fingerpost.transit.raptor.arrays import Question, new_workspace
from fingerpost.transit.raptor.endpoints import End
from fingerpost.transit.raptor.kernel.compiling import UNREACHED
from fingerpost.transit.raptor.kernel.lower_bounds import look_ahead
from fingerpost.transit.raptor.search_timetable.build import build_slice
from tests.raptor.networks import DAY, random_timetable
from tests.raptor.oracle import around, earliest_arrivals, list_vehicles

MAX_RIDES = 4
CHUNKS, PER_CHUNK, TRIES = range(4), 50, 12
WINDOW_S = 1800


def _at(stop):
    nothing = np.zeros(1, np.int32)
    return End(lat=0.0, lon=0.0, stop=np.array([stop], np.int32), seconds=nothing, metres=nothing)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_nobody_arrives_before_the_bound_or_the_horizon(chunk):
    """From any stop, any time from the question's on, whichever reach is guessed; and the rides are never fewer.

    The same holds where bounds are kept for a longer window.
    """
    sharp = 0
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        dice = random.Random(seed)
        timetable = random_timetable(seed)
        piece = build_slice(timetable, DAY, mirrored=False, step_free=False)
        vehicles = list_vehicles(timetable, around(DAY, 2, 4))
        goal = _at(dice.randrange(timetable.stop_count))
        start = _at(dice.randrange(timetable.stop_count))
        earliest_s = dice.choice([vehicle.calls[0].departure for vehicle in vehicles if vehicle.day == DAY]
                                 or [piece.start]) - piece.start - dice.randrange(3600)  # fmt: skip
        earliest_s = max(0, earliest_s)
        ask = Question(
            start.stop, start.seconds, start.metres, goal.stop, goal.seconds, goal.metres,
            earliest_s, earliest_s + WINDOW_S, int(UNREACHED) - 1, int(UNREACHED), MAX_RIDES, 10**6,
        )  # fmt: skip
        work = new_workspace(timetable.stop_count, piece.chain_count, piece.longest_chain, MAX_RIDES)
        look_ahead(piece.chains, ask, work, dice.choice([0, 900, 3600, 4 * 3600]), False)
        if dice.random() < 0.5:
            # A later beginning and a longer window of the same question.
            earliest_s += dice.randrange(1800)
            ask = ask._replace(earliest_s=earliest_s, window_end_s=earliest_s + dice.choice([1, 4]) * WINDOW_S)
            look_ahead(piece.chains, ask, work, 0, True)
        horizon_s = int(work.horizon_s[0])
        for _ in range(TRIES):
            stop, leave_s = dice.randrange(timetable.stop_count), earliest_s + dice.randrange(3 * 3600)
            best = earliest_arrivals(
                timetable, vehicles, _at(stop), goal, piece.start + leave_s, MAX_RIDES, 10**6
            )  # fmt: skip
            for rides, arrival in enumerate(best, 1):
                if arrival - piece.start < min(horizon_s, 40 * 3600):
                    least_s = leave_s + int(work.bound_s[stop])
                    assert least_s <= arrival - piece.start, (seed, stop, leave_s)
                    assert rides >= work.rides_from[stop] or stop == goal.stop[0], (seed, stop)
                    sharp += least_s > leave_s
    assert sharp > 100
