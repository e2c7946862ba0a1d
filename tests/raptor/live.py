"""Random overlays (cancellations, delays, skips, added rides, closed stops), and the resulting trips."""

from dataclasses import replace

import numpy as np

from fingerpost.transit.engine.timetable.overlay import AddedRide, Alert, Overlay, RideUpdate
from tests.raptor.networks import DAY, MIDNIGHT
from tests.raptor.oracle import NEVER, StopTime, TripInstance


def random_overlay(dice, timetable, instances):
    rides, added = {}, []
    for instance in instances:
        if abs((instance.day - DAY).days) > 1 or dice.random() < 0.4:
            continue
        count = len(instance.stop_times)
        delays = np.cumsum([dice.choice([0, 0, 60, 300, -120, 900]) for _ in range(count)])
        planned = np.array([(call.arrival, call.departure) for call in instance.stop_times])
        shifts = np.column_stack([delays, delays + [dice.choice([0, 0, 30]) for _ in range(count)]])
        # Expected times never decrease along a ride.
        expected = np.maximum.accumulate((planned + shifts).ravel()).reshape(-1, 2)
        arrival_delay_s, departure_delay_s = (expected - planned).astype(np.int32).T.copy()
        rides[instance.trip_departure, instance.day.toordinal()] = RideUpdate(
            is_cancelled=dice.random() < 0.25,
            arrival_delay_s=arrival_delay_s,
            departure_delay_s=departure_delay_s,
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


def edit(timetable, instances, overlay):
    return [replace(ride, stop_times=tuple(_close(timetable, ride, overlay))) for ride in _run(instances, overlay)]


def _close(timetable, instance, overlay):
    trip, key = -1, (instance.trip_departure, instance.day.toordinal())
    if instance.trip_departure >= 0:
        trip = int(timetable.trip_departure_trip[instance.trip_departure])
        route = int(timetable.trip_route[trip])
    else:
        route = overlay.added[-1 - instance.trip_departure].route
    for call in instance.stop_times:
        selectors = {call.stop, ("route", route, call.stop), ("trip", trip, call.stop), ("ride", key, call.stop)}
        periods = [
            period
            for alert in overlay.alerts
            if alert.effect == "NO_SERVICE" and not selectors.isdisjoint(_list_closed(alert))
            for period in alert.periods or [(0, NEVER)]
        ]
        no_boarding, no_alighting = (
            any(begin <= instant <= end for begin, end in periods) for instant in (call.departure, call.arrival)
        )
        yield replace(call, flags=call.flags | no_boarding | 2 * no_alighting)


def _list_closed(alert):
    pairs = {"route": alert.route_stops, "trip": alert.trip_stops, "ride": alert.ride_stops}
    return {*alert.stops, *((kind, *pair) for kind, stops in pairs.items() for pair in stops)}


def _run(instances, overlay):
    running = []
    for instance in instances:
        update = overlay.rides.get((instance.trip_departure, instance.day.toordinal()))
        if update is None:
            running.append(instance)
        elif not update.is_cancelled:
            stop_times = [
                StopTime(
                    call.stop,
                    call.arrival + int(update.arrival_delay_s[index]),
                    call.departure + int(update.departure_delay_s[index]),
                    3 if update.is_skipped[index] else call.flags,
                )
                for index, call in enumerate(instance.stop_times)
            ]
            running.append(replace(instance, stop_times=tuple(stop_times)))
    for index, ride in enumerate(overlay.added):
        rows = zip(ride.stop.tolist(), ride.arrival.tolist(), ride.departure.tolist(), strict=True)
        running.append(TripInstance(-1 - index, ride.service_day, tuple(StopTime(s, a, d, 0) for s, a, d in rows)))
    return running
