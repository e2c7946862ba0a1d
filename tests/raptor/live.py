"""Random closures of stops, beside the random disruptions of trips; and the resulting trips."""

import random
from dataclasses import replace

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.timetable.overlay import NO_OVERLAY, Alert
from tests.raptor.networks import DAY, MIDNIGHT
from tests.raptor.oracle import NEVER
from tests.raptor.trouble import draw_trouble, edited

APPLIED = {"trip-updated", "trip-cancelled", "trip-deleted", "trip-replaced", "trip-added"}
# The trip runs as planned, or not at all if it is a new one.
UNPLACED = {"trip-replaced-by-nothing-known", "added-trip-without-two-known-calls"}


def disrupt(seed, timetable, instances):
    """Return an overlay, and the instances as they run by it."""
    dice = random.Random(seed)
    near = [instance for instance in instances if abs((instance.day - DAY).days) <= 1]
    alerts = _random_closures(dice, timetable, instances)
    overlay, running = NO_OVERLAY, instances
    # An operator may publish alerts and no trip updates.
    if dice.random() < 0.7:
        message = draw_trouble(dice, timetable, near, len(near) * 3 // 5, MIDNIGHT)
        overlay = read_realtime(RealtimeIndex(timetable), [FeedBytes(message.SerializeToString(), MIDNIGHT)], MIDNIGHT)
        assert set(overlay.counts) <= APPLIED | UNPLACED, seed
        # Departures by headway have one trip id.
        added = {(ride.trip_id, *ride.departure.tolist()): -1 - row for row, ride in enumerate(overlay.added)}
        running = [
            replace(ride, trip_departure=added.get(name, ride.trip_departure))
            for ride in edited(timetable, instances, message)
            for name in [(ride.trip_departure, *(call.departure for call in ride.stop_times))]
        ]
    overlay = replace(overlay, alerts=alerts)
    return overlay, [replace(ride, stop_times=tuple(_close(timetable, ride, overlay))) for ride in running]


def _random_closures(dice, timetable, instances):
    """Stops without service, to all or to some, for hours or for good; now and then an alert that closes nothing."""
    alerts = []
    for number in range(dice.choice([0, 0, 1, 3])):
        stop, instance = dice.randrange(timetable.stop_count), dice.choice(instances)
        trip = int(timetable.trip_departure_trip[instance.trip_departure])
        whom = dice.choice(
            [
                ("stop", stop),
                ("route", int(timetable.trip_route[trip]), stop),
                ("trip", trip, stop),
                ("ride", (instance.trip_departure, instance.day.toordinal()), stop),
                ("route", int(timetable.trip_route[trip])),
            ]
        )
        begin = MIDNIGHT + dice.randint(-7200, 86400)
        alerts.append(
            Alert(
                id=str(number),
                effect=dice.choice(["NO_SERVICE", "NO_SERVICE", "NO_SERVICE", "DETOUR", "ACCESSIBILITY_ISSUE"]),
                periods=dice.choice([(), ((begin, begin + dice.choice([60, 3600, 1 << 40])),)]),
                selectors=frozenset({whom}),
            )
        )
    return tuple(alerts)


def _close(timetable, instance, overlay):
    trip, key = -1, (instance.trip_departure, instance.day.toordinal())
    if instance.trip_departure >= 0:
        trip = int(timetable.trip_departure_trip[instance.trip_departure])
        route = int(timetable.trip_route[trip])
    else:
        route = overlay.added[-1 - instance.trip_departure].route
    for call in instance.stop_times:
        stop = call.stop
        selectors = {("stop", stop), ("route", route, stop), ("trip", trip, stop), ("ride", key, stop)}
        periods = [
            period
            for alert in overlay.alerts
            if alert.effect == "NO_SERVICE" and selectors & alert.selectors
            for period in alert.periods or [(0, NEVER)]
        ]
        no_boarding, no_alighting = (
            any(begin <= instant <= end for begin, end in periods) for instant in (call.departure, call.arrival)
        )
        yield replace(call, flags=call.flags | no_boarding | 2 * no_alighting)
