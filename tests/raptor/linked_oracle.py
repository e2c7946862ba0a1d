"""The slow router for cases in which the previous trip matters: in-seat transfers, and rules for trips and routes.

As in ``oracle``, every trip is looked at in every round. What is kept of an arrival is the stop, the trip that
one came with, the time and the walk, so each change can be held against the rules as ``transfers.txt`` has them.
"""

from functools import cache

from fingerpost.transit.engine.timetable.overlay import NO_OVERLAY
from tests.raptor.linked_networks import Links
from tests.raptor.oracle import NEVER, add_label, list_footpaths, start_walking
from tests.riders.walks import walk_m, walk_s

RANKS = {(2, 0): 5, (1, 1): 4, (1, 0): 3, (0, 2): 2, (0, 1): 1}


class LinkedOracle:
    """Answers about one timetable, its links and trips as they run.

    ``overlay`` only tells which rides pass their first or last call without a stop.
    """

    def __init__(self, timetable, links: Links, instances, overlay=NO_OVERLAY):
        self.timetable, self.links, self.instances = timetable, links, instances
        self.trips = [
            int(timetable.trip_departure_trip[v.trip_departure]) if v.trip_departure >= 0 else None for v in instances
        ]
        self.routes = [
            int(timetable.trip_route[trip]) if trip is not None else overlay.added[-1 - v.trip_departure].route
            for trip, v in zip(self.trips, instances, strict=True)
        ]
        self.order = sorted(range(len(instances)), key=lambda index: instances[index].stop_times[0].departure)
        self.next = self._list_next(overlay)
        self.near = self._list_near()
        # Elsewhere it is all the same which trip one came with.
        self.ruled = {rule.from_stop for rule in links.rules}

    def _list_near(self):
        table = self.timetable
        near = {stop: {stop} for stop in range(table.stop_count)}
        for stop in near:
            for to_stop, _, _ in list_footpaths(table, stop):
                near[to_stop].add(stop)
        for rule in self.links.rules:
            near[rule.to_stop].add(rule.from_stop)
        return near

    def _list_next(self, overlay):
        by_ride = {(v.trip_departure, v.day): index for index, v in enumerate(self.instances)}
        following = {}
        for index, instance in enumerate(self.instances):
            for seat in self.links.seats:
                if seat.from_departure != instance.trip_departure:
                    continue
                day = instance.day.fromordinal(instance.day.toordinal() + seat.days_later)
                other = by_ride.get((seat.to_departure, day))
                if other is None:
                    continue
                first, then = instance.stop_times, self.instances[other].stop_times
                if first[-1].arrival > then[0].departure or first[0].departure >= then[0].departure:
                    continue
                if _skips(overlay, instance, -1) or _skips(overlay, self.instances[other], 0):
                    continue
                following.setdefault(index, []).append(other)
        return following

    @cache  # noqa: B019  (an oracle lives as long as its test)
    def way(self, stop, trip, route, other_stop, other_trip, other_route):
        """Seconds and metres from alighting of the one to being ready to board the other, None where one cannot."""
        best, best_rank = None, 0
        for rule in self.links.rules:
            if (rule.from_stop, rule.to_stop) != (stop, other_stop):
                continue
            if rule.from_trip not in (None, trip) or rule.to_trip not in (None, other_trip):
                continue
            if rule.from_route not in (None, route) or rule.to_route not in (None, other_route):
                continue
            rank = RANKS[
                sum(name is not None for name in (rule.from_trip, rule.to_trip)),
                sum(name is not None for name in (rule.from_route, rule.to_route)),
            ]
            if rank >= best_rank:
                best, best_rank = rule, rank
        table = self.timetable
        if best is not None:
            ends = ((float(table.stop_lat[each]), float(table.stop_lon[each])) for each in (stop, other_stop))
            metres = walk_m(*ends)
            walk = walk_s(metres)
            return {
                0: (walk + 120, metres), 1: (walk, metres), 2: (best.min_s, metres), 3: None,
            }[best.type]  # fmt: skip
        if stop == other_stop:
            return None if table.change_s[stop] < 0 else (int(table.change_s[stop]), 0)
        footpaths = {to_stop: (seconds, metres) for to_stop, seconds, metres in list_footpaths(table, stop)}
        return footpaths.get(other_stop)

    def earliest_arrivals(self, origin, destination, instant, max_rides, max_walk_m):
        """For 1..max_rides trips boarded at most: the earliest arrival within the walking limit, or NEVER."""
        start, egress = start_walking(origin, instant, max_walk_m), destination.walk_by_stop
        known, best, best_by_rides = {}, NEVER, []
        for _ in range(max_rides):
            reached = {}
            seated = {}
            for index in self.order:
                aboard = self._ride(index, seated.get(index, NEVER), start, known, reached, max_walk_m)
                for other in self.next.get(index, ()):
                    seated[other] = min(aboard, seated.get(other, NEVER))
            for place, labels in reached.items():
                for time, walked in labels:
                    add_label(known.setdefault(place[0], {}).setdefault(place[1:], []), time, walked)
                    if place[0] in egress and walked + egress[place[0]][0] <= max_walk_m:
                        best = min(best, time + egress[place[0]][1])
            best_by_rides.append(best)
        return best_by_rides

    def _ride(self, index, seated, start, known, reached, max_walk_m):
        trip, route, stop_times = self.trips[index], self.routes[index], self.instances[index].stop_times
        boarded = NEVER
        for at, call in enumerate(stop_times):
            aboard = min(boarded, seated) if at else boarded
            if aboard < NEVER and not call.flags & 2:
                came_with = (trip, route) if call.stop in self.ruled else (None, None)
                add_label(reached.setdefault((call.stop, *came_with), []), call.arrival, aboard)
            if not call.flags & 1 and at < len(stop_times) - 1:
                boarded = min(boarded, self._board(call, trip, route, start, known, max_walk_m))
        return min(boarded, seated)

    def _board(self, call, trip, route, start, known, max_walk_m):
        least = min((w for t, w in start.get(call.stop, ()) if t <= call.departure), default=NEVER)
        for stop in self.near[call.stop] & known.keys():
            for came_with, labels in known[stop].items():
                way = self.way(stop, *came_with, call.stop, trip, route)
                if way is not None:
                    for time, walked in labels:
                        if time + way[0] <= call.departure and walked + way[1] <= max_walk_m:
                            least = min(least, walked + way[1])
        return least


def _skips(overlay, instance, at):
    update = overlay.rides.get((instance.trip_departure, instance.day.toordinal()))
    return update is not None and bool(update.is_skipped[at])
