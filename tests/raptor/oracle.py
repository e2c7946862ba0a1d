"""The slow, obvious router: it scans every trip in every round, in plain Python.

It shares nothing with the engine but the timetable's columns, and keeps all ways that are not beaten in both
time and walking, so it is exact for every limit.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

NEVER = float("inf")


@dataclass(frozen=True)
class StopTime:
    stop: int
    arrival: int
    departure: int
    flags: int


@dataclass(frozen=True)
class TripInstance:
    trip_departure: int
    day: date
    stop_times: tuple[StopTime, ...]


def list_trip_instances(timetable, days, step_free=False):
    instances = []
    is_closed = ((timetable.stop_wheelchair == 2) & step_free).tolist()
    for day in days:
        for trip_departure in range(len(timetable.trip_departure_trip)):
            trip = int(timetable.trip_departure_trip[trip_departure])
            service = int(timetable.trip_service[trip])
            if not timetable.service_every_day[service] and not runs_on(timetable, service, day):
                continue
            if step_free and timetable.trip_wheelchair[trip] == 2:
                continue
            zone = ZoneInfo(timetable.feeds[int(timetable.service_feed[service])].zone)
            start = int(datetime(day.year, day.month, day.day, 12, tzinfo=zone).timestamp()) - 12 * 3600
            start += int(timetable.trip_departure_shift_s[trip_departure])
            first, end = timetable.trip_first_stop_time[trip : trip + 2].tolist()
            columns = (
                timetable.stop_time_stop,
                timetable.stop_time_arrival_s,
                timetable.stop_time_departure_s,
                timetable.stop_time_flags,
            )
            rows = zip(*(column[first:end].tolist() for column in columns), strict=True)
            stop_times = [
                StopTime(stop, start + arrival_s, start + departure_s, 3 if is_closed[stop] else flags & 3)
                for stop, arrival_s, departure_s, flags in rows
            ]
            instances.append(TripInstance(trip_departure, day, tuple(stop_times)))
    return instances


def runs_on(timetable, service, day):
    offset = (day - timetable.calendar_start).days
    return 0 <= offset < timetable.service_runs_on.shape[1] and bool(timetable.service_runs_on[service, offset])


def around(day, before=3, after=4):
    return [day + timedelta(days=offset) for offset in range(-before, after)]


def list_footpaths(timetable, stop):
    """Return the stop, seconds and metres of each footpath from a stop."""
    rows = slice(*timetable.footpaths.first[stop : stop + 2].tolist())
    columns = (timetable.footpaths.to, timetable.footpaths.seconds, timetable.footpaths.metres)
    return list(zip(*(column[rows].tolist() for column in columns), strict=True))


def add_label(labels, time, walked):
    """Add a label and drop those that it dominates; return False if one of them is at least as good."""
    if any(t <= time and w <= walked for t, w in labels):
        return False
    labels[:] = [(t, w) for t, w in labels if not (time <= t and walked <= w)] + [(time, walked)]
    return True


def start_walking(origin, instant, max_walk_m):
    """The times and metres at which one is ready at the stops around the origin."""
    walks = origin.walk_by_stop.items()
    return {stop: [(instant + seconds, metres)] for stop, (metres, seconds) in walks if metres <= max_walk_m}


def earliest_arrivals(timetable, instances, origin, destination, instant, max_rides, max_walk_m):
    """For 1..max_rides rides at most: the earliest arrival with at most ``max_walk_m`` walked, or NEVER."""
    ready, egress = start_walking(origin, instant, max_walk_m), destination.walk_by_stop
    best, best_by_rides = NEVER, []
    for _ in range(max_rides):
        reached = {}
        for instance in instances:
            aboard = NEVER
            for call in instance.stop_times:
                if aboard < NEVER and not call.flags & 2:
                    add_label(reached.setdefault(call.stop, []), call.arrival, aboard)
                if not call.flags & 1:
                    here = [w for t, w in ready.get(call.stop, ()) if t <= call.departure]
                    aboard = min([aboard, *here])
        for stop, labels in reached.items():
            for time, walked in labels:
                if stop in egress and walked + egress[stop][0] <= max_walk_m:
                    best = min(best, time + egress[stop][1])
                if timetable.change_s[stop] >= 0:
                    add_label(ready.setdefault(stop, []), time + int(timetable.change_s[stop]), walked)
                for to_stop, seconds, metres in list_footpaths(timetable, stop):
                    if walked + metres <= max_walk_m:
                        add_label(ready.setdefault(to_stop, []), time + seconds, walked + metres)
        best_by_rides.append(best)
    return best_by_rides


def leaves(instances, origin, since, until):
    instants = {
        call.departure - origin.walk_by_stop[call.stop][1]
        for instance in instances
        for call in instance.stop_times
        if call.stop in origin.walk_by_stop and not call.flags & 1
    }
    return sorted(instant for instant in instants if since <= instant <= until)


def pareto(triples):
    """Of (departure, arrival, rides) keep those that no other leaves later, arrives earlier and rides less than."""
    kept = set(triples)
    return sorted(
        (d, a, r)
        for d, a, r in kept
        if not any((d2, a2, r2) != (d, a, r) and d2 >= d and a2 <= a and r2 <= r for d2, a2, r2 in kept)
    )
