"""The earliest arrival with trips as they run: in each round, scan every trip that a stop offers, stop by stop.

Arrivals are kept with the metres walked to get there, so a limit on walking is exact. Walks take a second and a metre
longer than promised, so that no rounding decides: whatever is found here really can be caught.
"""

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

from tests.raptor.oracle import NEVER, add_label
from tests.riders.feed_tables import NO_ALIGHTING, NO_BOARDING
from tests.riders.walks import DETOUR, walk_m, walk_s

HAIR = 1


@dataclass(frozen=True, slots=True)
class Question:
    """From a place to a place, (lat, lon) each, from an instant on; ``until`` is when looking ends."""

    origin: tuple[float, float]
    destination: tuple[float, float]
    instant: int
    max_rides: int
    max_walk_m: int
    until: int


class Router:
    """Searches running trips. ``is_reverse`` reverses time: the origin is the destination, arrivals are departures."""

    def __init__(self, tables, running, is_reverse=False):
        self.tables, self.is_reverse = tables, is_reverse
        self.trips = [_mirrored(each.calls) if is_reverse else each.calls for each in running if each.calls]
        self.leaving = defaultdict(list)
        for number, calls in enumerate(self.trips):
            for at, (stop, _, departure, flags) in enumerate(calls[:-1]):
                if not flags & NO_BOARDING:
                    self.leaving[stop].append((departure, number, at))
        for those in self.leaving.values():
            those.sort()

    def near(self, place, max_walk_m):
        grid = self.tables.grid
        walks = {stop: walk_m(place, grid.places[stop]) + HAIR for stop in grid.around(place, max_walk_m / DETOUR)}
        return {stop: (walk_s(metres) + HAIR, metres) for stop, metres in walks.items() if metres <= max_walk_m}

    def earliest_arrival(self, question):
        best, limit_m = question.until, question.max_walk_m
        direct_m = walk_m(question.origin, question.destination) + HAIR
        if direct_m <= limit_m:
            best = min(best, question.instant + walk_s(direct_m) + HAIR)
        egress = self.near(question.destination, limit_m)
        ready, fresh, ridden = defaultdict(list), set(), defaultdict(list)
        for stop, (taken, metres) in self.near(question.origin, limit_m).items():
            ready[stop], fresh = [(question.instant + taken, metres)], fresh | {stop}
        for _ in range(question.max_rides):
            reached = self._ride(ready, fresh, ridden, best)
            for stop, labels in reached.items():
                for time, walked in labels:
                    if stop in egress and walked + egress[stop][1] <= limit_m:
                        best = min(best, time + egress[stop][0])
            fresh = set()
            for stop, labels in reached.items():
                for other, taken, metres in self._changes(stop):
                    for time, walked in labels:
                        if time + taken < best and walked + metres <= limit_m and add_label(
                            ready[other], time + taken, walked + metres
                        ):  # fmt: skip
                            fresh.add(other)
        return best if best < question.until else NEVER

    def _changes(self, stop):
        for other in self.tables.linked(stop):
            taken, metres = self.tables.link(other, stop) if self.is_reverse else self.tables.link(stop, other)
            if taken is not None:
                yield other, taken + HAIR * (other != stop), metres + HAIR * (other != stop)

    def _ride(self, ready, fresh, ridden, best):
        boarded = defaultdict(dict)
        for stop in fresh:
            labels, leaving = ready[stop], self.leaving[stop]
            first = min(time for time, _ in labels)
            for departure, trip, at in leaving[bisect_left(leaving, (first,)) :]:
                if departure >= best:
                    break
                boarded[trip][at] = min(walked for time, walked in labels if time <= departure)
        reached = defaultdict(list)
        for trip, its in boarded.items():
            news = [(at, walked) for at, walked in its.items()
                    if not any(before <= at and less <= walked for before, less in ridden[trip])]  # fmt: skip
            if not news:
                continue
            ridden[trip] += news
            news, aboard = dict(news), NEVER
            first = min(news)
            for at, (stop, arrival, _, flags) in enumerate(self.trips[trip][first:], first):
                if arrival >= best:
                    break
                if aboard < NEVER and not flags & NO_ALIGHTING:
                    add_label(reached[stop], arrival, aboard)
                aboard = min(aboard, news.get(at, NEVER))
        return reached


def _mirrored(calls):
    return tuple((stop, -departure, -arrival, (flags & 1) * 2 + (flags & 2) // 2)
                 for stop, arrival, departure, flags in reversed(calls))  # fmt: skip
