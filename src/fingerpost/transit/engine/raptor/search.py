"""Find the best journeys that leave an origin after an instant, or reach a destination before it.

The departure window begins at the instant and widens until it contains enough journeys. If some journeys exceed the
walking limit, McRAPTOR adds the journeys within the limit that are dominated by journeys beyond it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fingerpost.transit.engine.raptor.arrays import KernelQuery, get_thread_buffers
from fingerpost.transit.engine.raptor.journeys import FoundJourney, Journey, list_found, read_journey
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.kernel.search import run_search
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable, SearchTimetables
from fingerpost.transit.engine.timetable.columns import join_rows, take_rows
from fingerpost.transit.engine.timetable.timetable import STOP, Int32, Timetable
from fingerpost.transit.engine.timetable.walks import StopWalks, StraightLine, Walks
from fingerpost.transit.rules.times import to_local_date

# The departure (or arrival) window is widened in these steps until it contains enough journeys.
WINDOWS_S = (1800, 2 * 3600, 8 * 3600)
# The maximum window, for journeys that leave after the windows above.
LAST_WINDOW_S = 24 * 3600
# An incomplete search is repeated with this many more days, because a wait may be longer than a day.
FURTHER_DAYS = 6
# The best walk-limited arrival is sought within these delays after the best possible arrival. A search for arrivals
# before a given time is exact, and faster if that time is earlier.
_LATER_S = (1800, int(UNREACHED))
# The maximum number of searches for walk-limited journeys per query.
MAX_WALK_LIMITED_SEARCHES = 8


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An origin or destination, and the walks to or from the stops around it."""

    lat: float
    lon: float
    walks: StopWalks

    @cached_property
    def walk_by_stop(self) -> dict[int, tuple[int, int]]:
        """The metres and seconds of each walk, keyed by stop."""
        return self.walks.by_stop()

    @property
    def min_walk_m(self) -> int:
        """The length of the shortest walk in metres, or 0 if there are no stops."""
        return int(self.walks.metres.min()) if len(self.walks.metres) else 0

    def within(self, limit_m: float) -> "Endpoint":
        return replace(self, walks=take_rows(self.walks, self.walks.metres <= limit_m))


def find_endpoint(
    timetable: Timetable,
    lat: float,
    lon: float,
    place_stops: Sequence[int],
    max_walk_m: float,
    *,
    walks: Walks | None = None,
    is_destination: bool = False,
) -> Endpoint:
    """Return an endpoint with every boardable stop within a walk of ``max_walk_m``; ``place_stops`` need no walk.

    If ``is_destination``, the walks lead from the stops to the endpoint.
    """
    walks = walks or StraightLine(timetable.stop_lat, timetable.stop_lon)
    reached = walks.reach(lat, lon, timetable.stop_kind == STOP, max_walk_m, from_stops=is_destination)
    if place_stops:
        place_rows = np.array(sorted(set(place_stops)), np.int32)
        no_walk = np.zeros(len(place_rows), np.int32)
        others = take_rows(reached, ~np.isin(reached.stop, place_rows))
        reached = join_rows(StopWalks(place_rows, no_walk, no_walk), others)
    return Endpoint(lat=lat, lon=lon, walks=reached)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A journey query. ``instant`` is the earliest departure, or the latest arrival if ``arrive_by``.

    ``not_before`` is the earliest departure in an arrive-by query. If ``wanted`` is 0, only the journeys with the
    earliest arrival (or latest departure) are guaranteed. ``window_s`` is the departure window, which widens only if it
    contains no journey; if None, the window widens until there are enough journeys. If ``may_build`` is false, a
    missing search timetable raises NotBuilt.
    """

    origin: Endpoint
    destination: Endpoint
    instant: int
    arrive_by: bool
    max_rides: int
    max_walk_m: int
    step_free: bool
    wanted: int
    not_before: int | None = None
    window_s: int | None = None
    walks: Walks | None = None
    may_build: bool = True


def find_journeys(timetable: Timetable, search_timetables: SearchTimetables, query: SearchQuery) -> list[Journey]:
    """Return the best journeys by time and transfers, unordered; there may be more or fewer than ``wanted``.

    No journey exceeds the walking limit. If there is a direct walk, slower journeys may be missing.
    """
    direct = _find_direct_walk(timetable, query)
    journeys = [direct] if direct else []
    if not len(query.origin.walks.stop) or not len(query.destination.walks.stop):
        return journeys
    day = to_local_date(query.instant, timetable.feeds[0].zone)
    for further_days in (0, FURTHER_DAYS):
        search_timetable = search_timetables.get_search_timetable(
            day, is_reverse=query.arrive_by, step_free=query.step_free, further_days=further_days,
            may_build=query.may_build,
        )  # fmt: skip
        search = _Search(search_timetable, query, direct)
        found = search.search()
        if direct or search.is_complete(found):
            break
    return [*(read_journey(timetable, search_timetable, row) for row in found), *journeys]


def _find_direct_walk(timetable: Timetable, query: SearchQuery) -> Journey | None:
    walks = query.walks or StraightLine(timetable.stop_lat, timetable.stop_lon)
    start, end = ((endpoint.lat, endpoint.lon) for endpoint in (query.origin, query.destination))
    walk = walks.find_walk(start, end, query.max_walk_m)
    if walk is None:
        return None
    metres, seconds = walk
    departure = query.instant - seconds if query.arrive_by else query.instant
    if query.not_before is not None and departure < query.not_before:
        return None
    return Journey(departure=departure, arrival=departure + seconds, rides=(), egress_m=metres)


class _Search(NamedTuple):
    search_timetable: SearchTimetable
    query: SearchQuery
    direct: Journey | None

    def search(self) -> list[FoundJourney]:
        """Search from the instant; if nothing leaves within the last window, search from the first later departure."""
        earliest_s = self.search_timetable.to_search_s(self.query.instant)
        while True:
            found = self._search_from(earliest_s)
            first_s = min((row.leave_s for row in found), default=earliest_s)
            if first_s <= earliest_s + LAST_WINDOW_S:
                return found
            earliest_s = first_s

    def is_complete(self, found: list[FoundJourney]) -> bool:
        """Whether the journeys cannot be improved by a search timetable that covers more days."""
        return min((row.arrive_s for row in found), default=self._find_latest_s()) <= self.search_timetable.reach_s

    def _find_latest_s(self) -> int:
        """Return the latest time at which the search may reach its target, in search timetable seconds."""
        # Only an arrive-by search, which runs backwards, has an earliest departure.
        earliest = self.query.not_before if self.query.arrive_by else None
        return int(UNREACHED) - 1 if earliest is None else self.search_timetable.to_search_s(earliest)

    def _search_from(self, earliest_s: int) -> list[FoundJourney]:
        query, direct = self.query, self.direct
        access, egress = (query.destination, query.origin) if query.arrive_by else (query.origin, query.destination)
        direct_s = direct.arrival - direct.departure if direct else int(UNREACHED)
        expand = self.search_timetable.search_stops.expand
        kernel_query = KernelQuery(
            expand(access.walks), expand(egress.walks), earliest_s, earliest_s, self._find_latest_s(), direct_s,
            query.max_rides, query.max_walk_m,
        )  # fmt: skip
        found: list[FoundJourney] = []
        within_limit: list[FoundJourney] = []
        walk_limited: list[FoundJourney] | None = None
        exceeds_walk_limit = is_same_target = False
        windows_s = [window_s for window_s in (*WINDOWS_S, LAST_WINDOW_S) if window_s > (query.window_s or 0)]
        if query.window_s is not None:
            windows_s.insert(0, query.window_s)
        if not query.wanted:
            if (best_s := self._find_best_arrival(kernel_query)) == UNREACHED:
                return []
            kernel_query = kernel_query._replace(latest_s=best_s)
            is_same_target = True
            windows_s = [min(best_s - earliest_s, LAST_WINDOW_S)]
        for window_s in windows_s:
            begin_s = kernel_query.window_end_s
            kernel_query = kernel_query._replace(window_begin_s=begin_s, window_end_s=earliest_s + window_s)
            # Journeys from earlier windows stay optimal, because each search also covers departures after its window.
            known = [row for row in found if row.leave_s < begin_s]
            found = run_kernel(self.search_timetable, kernel_query, is_same_target=is_same_target) + known
            is_same_target = True
            within_limit = [row for row in found if row.walk_m <= query.max_walk_m]
            if len(within_limit) < len(found) and not exceeds_walk_limit:
                exceeds_walk_limit = True
                if not within_limit:
                    any_arrival_s = np.full(query.max_rides + 1, UNREACHED, np.int32)
                    fastest_s = _find_best_arrivals(found, earliest_s, query.max_rides)
                    walk_limited = self._find_walk_limited(kernel_query, any_arrival_s, fastest_s)
                    if not walk_limited:
                        # Journeys may begin with a wait, so if none is found here, none exists later that day.
                        return []
            waits_s = [row.leave_s - earliest_s for row in within_limit]
            if window_s >= WINDOWS_S[-1]:
                # Journeys on the next day are irrelevant if a walk-limited journey leaves soon.
                waits_s += [row.leave_s - earliest_s for row in walk_limited or ()]
            if query.window_s is not None and any(wait_s <= query.window_s for wait_s in waits_s):
                break
            soon_count = sum(wait_s <= WINDOWS_S[-1] for wait_s in waits_s)
            if soon_count > query.wanted or (soon_count and window_s == WINDOWS_S[-1]) or not found:
                break
        selected = _drop_late_departures(within_limit, earliest_s)
        if exceeds_walk_limit:
            selected = self._add_walk_limited_journeys(kernel_query, selected, found, walk_limited)
            selected = _drop_late_departures(selected, earliest_s)
        return selected

    def _find_best_arrival(self, kernel_query: KernelQuery) -> int:
        """Return the earliest arrival within the walking limit, or UNREACHED."""
        found = run_kernel(self.search_timetable, kernel_query)
        best_s = min((row.arrive_s for row in found if row.walk_m <= self.query.max_walk_m), default=int(UNREACHED))
        fastest_s = min((row.arrive_s for row in found), default=best_s)
        for later_s in _LATER_S:
            before_s = min(best_s, fastest_s + later_s)
            if before_s > fastest_s:
                wanted_s = np.full(self.query.max_rides + 1, before_s, np.int32)
                limited = run_kernel(self.search_timetable, kernel_query, wanted_s, is_same_target=True)
                if limited or before_s == best_s:
                    return min((row.arrive_s for row in limited), default=best_s)
        return best_s

    def _find_walk_limited(self, kernel_query: KernelQuery, wanted_s: Int32, fastest_s: Int32) -> list[FoundJourney]:
        """Return the best journeys within the walking limit before ``wanted_s``; none arrives before ``fastest_s``."""
        journeys: list[FoundJourney] = []
        for later_s in _LATER_S:
            before_s = np.minimum(wanted_s, fastest_s.astype(np.int64) + later_s).astype(np.int32)
            journeys += run_kernel(self.search_timetable, kernel_query, before_s, is_same_target=True)
            wanted_s = np.minimum(wanted_s, _find_best_arrivals(journeys, kernel_query.earliest_s, len(wanted_s) - 1))
            if (before_s >= wanted_s).all():
                break
        return sorted(journeys, key=lambda row: len(row.legs))

    def _add_walk_limited_journeys(
        self,
        kernel_query: KernelQuery,
        selected: list[FoundJourney],
        found: list[FoundJourney],
        walk_limited: list[FoundJourney] | None,
    ) -> list[FoundJourney]:
        """Add the best journeys within the walking limit that are dominated by journeys with more walking.

        ``found`` are the best journeys with unlimited walking; ``walk_limited`` are the best journeys within the limit
        from the instant on, if known.
        """
        journeys = _select_best(selected)
        leave_s, max_rides = kernel_query.earliest_s, self.query.max_rides
        limited_s = np.full(max_rides + 1, -UNREACHED, np.int32)
        for _ in range(MAX_WALK_LIMITED_SEARCHES):
            best_s = _find_best_arrivals(journeys, leave_s, max_rides)
            # A walk-limited journey cannot arrive before the best journey with unlimited walking, or before the best
            # walk-limited journey that leaves earlier.
            fastest_s = np.maximum(_find_best_arrivals(found, leave_s, max_rides), limited_s)
            can_improve = fastest_s < best_s
            if not can_improve.any():
                walk_limited = []
            elif journeys or walk_limited is None:
                # For each number of rides, use the latest arrival that this or a larger number of rides can improve.
                wanted_s = np.maximum.accumulate(np.where(can_improve, best_s, -UNREACHED)[::-1])[::-1].astype(np.int32)
                limited_query = kernel_query._replace(earliest_s=leave_s)
                walk_limited = self._find_walk_limited(limited_query, wanted_s, fastest_s)
            limited_s = np.minimum(best_s, _find_best_arrivals(walk_limited, leave_s, max_rides))
            journeys = _select_best([*journeys, *walk_limited])
            later_s = [row.leave_s for row in journeys if row.leave_s >= leave_s]
            if not later_s:
                break
            leave_s = 1 + min(later_s)
            if leave_s > kernel_query.window_end_s or (len(journeys) > self.query.wanted and not walk_limited):
                break
        return journeys


def _drop_late_departures(journeys: list[FoundJourney], earliest_s: int) -> list[FoundJourney]:
    """Drop journeys leaving after the widest regular window, unless they save a transfer or none leave earlier."""
    early = [row for row in journeys if row.leave_s <= earliest_s + WINDOWS_S[-1]]
    if not early:
        return journeys
    fewest = min(len(row.legs) for row in early)
    return early + [row for row in journeys if len(row.legs) < fewest]


def _find_best_arrivals(journeys: list[FoundJourney], since_s: int, max_rides: int) -> Int32:
    """Return the earliest arrival per maximum number of rides, among journeys that leave at ``since_s`` or later."""
    best_s = np.full(max_rides + 1, UNREACHED, np.int32)
    for row in journeys:
        if row.leave_s >= since_s:
            best_s[len(row.legs)] = min(best_s[len(row.legs)], row.arrive_s)
    return np.minimum.accumulate(best_s)


def _select_best(journeys: list[FoundJourney]) -> list[FoundJourney]:
    """Return the distinct journeys that no other journey dominates in time, rides and walking."""
    distinct = list({(row.leave_s, *map(tuple, row.legs)): row for row in journeys}.values())
    if len(distinct) < 2:
        return distinct
    costs = np.array([(-row.leave_s, row.arrive_s, len(row.legs), row.walk_m) for row in distinct])
    is_no_worse = np.all(costs[:, None] <= costs, axis=2)
    is_dominated = np.any(is_no_worse & ~is_no_worse.T, axis=0)
    return [distinct[row] for row in np.flatnonzero(~is_dominated).tolist()]


_ANY_ARRIVAL = np.zeros(0, np.int32)


def run_kernel(
    search_timetable: SearchTimetable,
    kernel_query: KernelQuery,
    best_s: Int32 = _ANY_ARRIVAL,
    *,
    is_same_target: bool = False,
) -> list[FoundJourney]:
    """Run range RAPTOR if ``best_s`` is empty, otherwise McRAPTOR for arrivals earlier than ``best_s``.

    The walks of ``kernel_query`` must include all copies of their stops (``SearchStops.expand``).
    ``is_same_target`` means that this thread's previous search had the same target; it is passed to
    ``compute_lower_bounds``.
    """
    buffers = get_thread_buffers(search_timetable, int(kernel_query.max_rides))
    while True:
        count = run_search(
            search_timetable.patterns, kernel_query, best_s, buffers.work, buffers.labels, buffers.found, is_same_target
        )
        if count >= 0:
            return list_found(buffers.found, count)
        buffers.grow()
        # The new buffers contain no lower bounds yet.
        is_same_target = False
