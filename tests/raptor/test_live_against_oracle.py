"""With real time: the engine and the oracle agree on random cancellations, delays, skips and added rides.

The oracle is asked about the timetable as edited by hand, trip by trip.
"""

import os
import random
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.overlay import AddedRide, Alert, Overlay, RideUpdate
from tests.raptor.asking import hold_arrivals, query_of, random_question
from tests.raptor.networks import DAY, MIDNIGHT
from tests.raptor.oracle import NEVER, StopTime, TripInstance, around, earliest_arrivals, list_trip_instances

CHUNKS = range(10)
PER_CHUNK = 1000 if os.environ.get("FINGERPOST_SOAK") else 100
LATE_S = 6 * 3600


def _random_overlay(dice, timetable, instances):
    rides, added = {}, []
    for instance in instances:
        if abs((instance.day - DAY).days) > 1 or dice.random() < 0.4:
            continue
        count = len(instance.stop_times)
        delays = np.cumsum([dice.choice([0, 0, 60, 300, -120, 900]) for _ in range(count)]).astype(np.int32)
        rides[instance.trip_departure, instance.day.toordinal()] = RideUpdate(
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
    alerts = _random_closures(dice, timetable, instances)
    # An operator may publish alerts and no trip updates.
    return Overlay(alerts=alerts) if dice.random() < 0.3 else Overlay(rides=rides, added=tuple(added), alerts=alerts)


def _random_closures(dice, timetable, instances):
    """Stops without service, to all or to some, for hours or for good; now and then an alert that closes nothing."""
    alerts = []
    for number in range(dice.choice([0, 0, 1, 3])):
        stop, instance = dice.randrange(timetable.stop_count), dice.choice(instances)
        trip = int(timetable.trip_departure_trip[instance.trip_departure])
        whom = dice.choice(
            [
                {"stops": frozenset({stop})},
                {"route_stops": frozenset({(int(timetable.trip_route[trip]), stop)})},
                {"trip_stops": frozenset({(trip, stop)})},
                {"ride_stops": frozenset({((instance.trip_departure, instance.day.toordinal()), stop)})},
                {"routes": frozenset({int(timetable.trip_route[trip])})},
            ]
        )
        begin = MIDNIGHT + dice.randint(-7200, 86400)
        alerts.append(
            Alert(
                id=str(number),
                effect=dice.choice(["NO_SERVICE", "NO_SERVICE", "NO_SERVICE", "DETOUR", "ACCESSIBILITY_ISSUE"]),
                periods=dice.choice([(), ((begin, begin + dice.choice([60, 3600, 1 << 40])),)]),
                **whom,
            )
        )
    return tuple(alerts)


def _edited(timetable, instances, overlay):
    """The trips as they really run, one stop after the other; alerts are asked call by call."""
    running = _running(instances, overlay)
    for at, instance in enumerate(running):
        trip = route = -1
        if instance.trip_departure >= 0:
            trip = int(timetable.trip_departure_trip[instance.trip_departure])
            route = int(timetable.trip_route[trip])
        else:
            route = overlay.added[-1 - instance.trip_departure].route
        key = (instance.trip_departure, instance.day.toordinal())

        def is_shut(call, instant, route=route, trip=trip, key=key):
            return any(
                alert.effect == "NO_SERVICE"
                and (not alert.periods or any(begin <= instant <= end for begin, end in alert.periods))
                and (
                    call.stop in alert.stops
                    or (route, call.stop) in alert.route_stops
                    or (trip, call.stop) in alert.trip_stops
                    or (key, call.stop) in alert.ride_stops
                )
                for alert in overlay.alerts
            )

        shut = (
            replace(call, flags=call.flags | is_shut(call, call.departure) | 2 * is_shut(call, call.arrival))
            for call in instance.stop_times
        )
        running[at] = replace(instance, stop_times=tuple(shut))
    return running


def _running(instances, overlay):
    running = []
    for instance in instances:
        update = overlay.rides.get((instance.trip_departure, instance.day.toordinal()))
        if update is None:
            running.append(instance)
        elif not update.is_cancelled:
            stop_times, clock = [], -NEVER
            for index, call in enumerate(instance.stop_times):
                arrival = call.arrival + int(update.arrival_delay_s[index])
                departure = call.departure + int(update.departure_delay_s[index])
                arrival = max(arrival, clock) if index else arrival
                departure = clock = max(departure, arrival)
                stop_times.append(
                    StopTime(call.stop, arrival, departure, 3 if update.is_skipped[index] else call.flags)
                )
            running.append(replace(instance, stop_times=tuple(stop_times)))
    for index, ride in enumerate(overlay.added):
        rows = zip(ride.stop.tolist(), ride.arrival.tolist(), ride.departure.tolist(), strict=True)
        running.append(TripInstance(-1 - index, ride.service_day, tuple(StopTime(s, a, d, 0) for s, a, d in rows)))
    return running


def _is_ridden(journey, instances):
    """Every ride of a journey is what some running trip does."""
    by_ride = {(instance.trip_departure, instance.day): instance.stop_times for instance in instances}
    return all(
        any(
            first.departure == ride.departure
            and last.arrival == ride.arrival
            and not first.flags & 1
            and not last.flags & 2
            for at, first in enumerate(by_ride.get((ride.trip_departure, ride.service_day), ()))
            for last in by_ride[ride.trip_departure, ride.service_day][at + 1 :]
        )
        for ride in journey.rides
    )


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_ride_is_wrong_and_no_better_one_is_missed(chunk):
    """Nobody boards what is cancelled or skipped, or where a stop is closed, and what runs better is found."""
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        timetable, origin, destination, instant, rides, limit = random_question(seed)
        promised = list_trip_instances(timetable, around(DAY, 2, 4))
        overlay = _random_overlay(random.Random(seed), timetable, promised)
        running = _edited(timetable, promised, overlay)
        query = query_of(origin, destination, instant, rides, limit)

        journeys = find_journeys(timetable, SearchTimetables(timetable, overlay), query)
        best = earliest_arrivals(timetable, running, origin, destination, instant, rides, limit)

        assert all(_is_ridden(journey, running) for journey in journeys)
        hold_arrivals(journeys, best, instant, seed)


def test_an_overlay_of_another_day_changes_nothing():
    """A ride is a run on one service day: what is said of it tomorrow does not touch today."""
    timetable, origin, destination, instant, rides, limit = random_question(3)
    instances = list_trip_instances(timetable, [DAY])
    far = date.fromordinal(DAY.toordinal()) + timedelta(days=30)
    overlay = Overlay(
        rides={
            (instance.trip_departure, far.toordinal()): RideUpdate(
                is_cancelled=True,
                arrival_delay_s=np.zeros(len(instance.stop_times), np.int32),
                departure_delay_s=np.zeros(len(instance.stop_times), np.int32),
                is_known=np.ones(len(instance.stop_times), np.bool_),
                is_skipped=np.zeros(len(instance.stop_times), np.bool_),
                updated=MIDNIGHT,
            )
            for instance in instances
        }
    )
    query = query_of(origin, destination, instant, rides, limit)

    assert find_journeys(timetable, SearchTimetables(timetable, overlay), query) == find_journeys(
        timetable, SearchTimetables(timetable), query
    )
