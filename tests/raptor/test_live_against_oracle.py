"""With real time: the engine and the oracle agree on random cancellations, delays, skips and added rides.

The oracle is asked about the timetable as edited by hand, vehicle by vehicle.
"""

import os
import random
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from fingerpost.transit.raptor.search import Wish, find_journeys
from fingerpost.transit.raptor.search_timetable.cache import Slices
from fingerpost.transit.timetable.overlay import AddedRide, Overlay, RideUpdate
from tests.raptor.networks import DAY
from tests.raptor.oracle import NEVER, Call, Vehicle, around, earliest_arrivals, list_vehicles
from tests.raptor.test_search_against_oracle import MIDNIGHT, _question

CHUNKS = range(10)
PER_CHUNK = 1000 if os.environ.get("FINGERPOST_SOAK") else 100
LATE_S = 6 * 3600


def _random_overlay(dice, timetable, vehicles):
    rides, added = {}, []
    for vehicle in vehicles:
        if abs((vehicle.day - DAY).days) > 1 or dice.random() < 0.4:
            continue
        count = len(vehicle.calls)
        delays = np.cumsum([dice.choice([0, 0, 60, 300, -120, 900]) for _ in range(count)]).astype(np.int32)
        rides[vehicle.run, vehicle.day.toordinal()] = RideUpdate(
            is_cancelled=dice.random() < 0.25,
            arrival_delay_s=delays,
            departure_delay_s=delays + np.array([dice.choice([0, 0, 30]) for _ in range(count)], np.int32),
            is_known=np.ones(count, np.bool_),
            is_skipped=np.array([dice.random() < 0.15 for _ in range(count)]),
            updated=MIDNIGHT,
        )
    for index in range(dice.randint(0, 2)):
        stops = dice.sample(range(timetable.stop_count), dice.randint(2, 4))
        times = MIDNIGHT + np.cumsum([dice.randint(0, 86400), *(dice.randint(60, 900) for _ in stops[1:])])
        added.append(
            AddedRide(
                trip_id=f"X{index}",
                service_day=DAY,
                route=0,
                trip=-1,
                headsign="",
                stop=np.array(stops, np.int32),
                arrival=times.astype(np.int64),
                departure=times.astype(np.int64),
                flags=np.zeros(len(stops), np.uint8),
                is_skipped=np.zeros(len(stops), np.bool_),
                updated=MIDNIGHT,
            )
        )
    return Overlay(rides=rides, added=tuple(added))


def _edited(vehicles, overlay):
    """The vehicles as they really run, one call after the other."""
    running = []
    for vehicle in vehicles:
        update = overlay.rides.get((vehicle.run, vehicle.day.toordinal()))
        if update is None:
            running.append(vehicle)
        elif not update.is_cancelled:
            calls, clock = [], -NEVER
            for index, call in enumerate(vehicle.calls):
                arrival = call.arrival + int(update.arrival_delay_s[index])
                departure = call.departure + int(update.departure_delay_s[index])
                arrival = max(arrival, clock) if index else arrival
                departure = clock = max(departure, arrival)
                calls.append(Call(call.stop, arrival, departure, 3 if update.is_skipped[index] else call.flags))
            running.append(replace(vehicle, calls=tuple(calls)))
    for index, ride in enumerate(overlay.added):
        rows = zip(ride.stop.tolist(), ride.arrival.tolist(), ride.departure.tolist(), strict=True)
        running.append(Vehicle(-1 - index, ride.service_day, tuple(Call(s, a, d, 0) for s, a, d in rows)))
    return running


def _is_ridden(journey, vehicles):
    """Every ride of a journey is what some running vehicle does."""
    by_ride = {(vehicle.run, vehicle.day): vehicle.calls for vehicle in vehicles}
    return all(
        any(
            first.departure == ride.departure
            and last.arrival == ride.arrival
            and not first.flags & 1
            and not last.flags & 2
            for at, first in enumerate(by_ride.get((ride.run, ride.service_day), ()))
            for last in by_ride[ride.run, ride.service_day][at + 1 :]
        )
        for ride in journey.rides
    )


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_ride_is_wrong_and_no_better_one_is_missed(chunk):
    """Issue 4: nobody boards what is cancelled or skipped, and added or delayed rides that are better are found."""
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        timetable, origin, destination, instant, rides, limit, _ = _question(seed)
        promised = list_vehicles(timetable, around(DAY, 2, 4))
        overlay = _random_overlay(random.Random(seed), timetable, promised)
        running = _edited(promised, overlay)
        wish = Wish(
            origin=origin, destination=destination, instant=instant, arrive_by=False,
            max_rides=rides, max_walk_m=limit, step_free=False, wanted=3,
        )  # fmt: skip

        journeys = find_journeys(timetable, Slices(timetable, overlay), wish)
        best = earliest_arrivals(timetable, running, origin, destination, instant, rides, limit)

        direct = [journey.arrival for journey in journeys if not journey.rides]
        assert all(_is_ridden(journey, running) for journey in journeys)
        for count, arrival in enumerate(best, 1):
            if arrival - instant > 86400:
                continue
            known = [journey.arrival for journey in journeys if len(journey.rides) <= count]
            expected = min(arrival, direct[0]) if direct else arrival
            assert min(known, default=NEVER) == expected, (seed, count)


def test_an_overlay_of_another_day_changes_nothing():
    """A ride is a run on one service day: what is said of it tomorrow does not touch today."""
    timetable, origin, destination, instant, rides, limit, _ = _question(3)
    vehicles = list_vehicles(timetable, [DAY])
    far = date.fromordinal(DAY.toordinal()) + timedelta(days=30)
    overlay = Overlay(
        rides={
            (vehicle.run, far.toordinal()): RideUpdate(
                is_cancelled=True,
                arrival_delay_s=np.zeros(len(vehicle.calls), np.int32),
                departure_delay_s=np.zeros(len(vehicle.calls), np.int32),
                is_known=np.ones(len(vehicle.calls), np.bool_),
                is_skipped=np.zeros(len(vehicle.calls), np.bool_),
                updated=MIDNIGHT,
            )
            for vehicle in vehicles
        }
    )
    wish = Wish(
        origin=origin, destination=destination, instant=instant, arrive_by=False,
        max_rides=rides, max_walk_m=limit, step_free=False, wanted=3,
    )  # fmt: skip

    assert find_journeys(timetable, Slices(timetable, overlay), wish) == find_journeys(
        timetable, Slices(timetable), wish
    )
