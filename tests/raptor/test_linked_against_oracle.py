"""The engine and the slow oracle agree on random networks, including in-seat transfers and transfer rules.

Trips divide, come together and go on after midnight; the rules are of every kind and rank. A quarter of the networks
have neither.
"""

import os
import random
from dataclasses import replace
from functools import partial

import pytest

from fingerpost.transit import kernel_mode
from fingerpost.transit.engine.raptor import search
from fingerpost.transit.engine.raptor.arrays import KernelQuery
from fingerpost.transit.engine.raptor.journeys import read_journey
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.kernel import search as kernel_search
from fingerpost.transit.engine.raptor.search import WINDOWS_S, find_endpoint, find_journeys, run_kernel
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables, build_search_timetable
from fingerpost.transit.engine.timetable.overlay import NO_OVERLAY
from tests.raptor.asking import end_at, hold_arrivals, hold_departures, latest_departures, query_of
from tests.raptor.linked_networks import random_linked
from tests.raptor.linked_oracle import LinkedOracle
from tests.raptor.live import disrupt
from tests.raptor.networks import DAY, LAT, LON, MIDNIGHT
from tests.raptor.oracle import NEVER, around, leaves, list_trip_instances, pareto

CHUNKS = range(5)
# A trip of much later is not offered beside one that leaves soon; the widest window for which none is left out.
SOON_S = WINDOWS_S[-1]
SCALE = 20 if os.environ.get("FINGERPOST_SOAK") else 1


def _question(seed):
    """A network, its links, two ends and what is asked; of four networks one has both links, two have one, one none.

    Most questions are about trips that are linked, from a stop of the one to a stop of the other, just in time.
    """
    timetable, links = random_linked(seed, with_rules=seed % 4 < 2, with_seats=seed % 2 == 0)
    dice = random.Random(seed * 7 + 1)
    limit = dice.choice([100, 600, 1500, 3000])
    first = timetable.trip_first_stop_time
    stops, instant = [None, None], MIDNIGHT + dice.randint(0, 86399)
    if dice.random() < 0.6:
        stops, instant = links.ends, MIDNIGHT + links.leave_s - dice.randint(0, 300)
    elif links.seats and dice.random() < 0.8:
        seat = dice.choice(links.seats)
        one, other = timetable.trip_departure_trip[[seat.from_departure, seat.to_departure]].tolist()
        board = dice.randrange(int(first[one]), int(first[one + 1]) - 1)
        alight = dice.randrange(int(first[other]) + 1, int(first[other + 1]))
        stops = [int(timetable.stop_time_stop[event]) for event in (board, alight)]
        instant = MIDNIGHT + int(timetable.stop_time_departure_s[board]) - dice.randint(0, 300)

    def end(stop):
        if stop is None and dice.random() < 0.5:
            stop = dice.randrange(timetable.stop_count)
        if stop is None:
            return find_endpoint(timetable, LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06), [], limit)
        return end_at(timetable, stop, limit)

    rides = dice.choice([1, 2, 3, 5] if links.seats else [2, 2, 3])
    return timetable, links, end(stops[0]), end(stops[1]), instant, rides, limit, dice.random() < 0.3


def _check(journey, oracle, origin, destination, limit):
    """Every ride is what some trip does; every change is in time by the rules, and every seat is kept by one."""
    by_ride = {(v.trip_departure, v.day): index for index, v in enumerate(oracle.instances)}
    timetable, before = oracle.timetable, None
    for ride in journey.rides:
        index = by_ride[ride.trip_departure, ride.service_day]
        trip, route, stop_times = oracle.trips[index], oracle.routes[index], oracle.instances[index].stop_times
        begin = int(timetable.trip_first_stop_time[trip]) if trip is not None else 0
        on, off = ride.board_stop_time - begin, ride.alight_stop_time - begin
        assert 0 <= on < off < len(stop_times)
        assert (ride.departure, ride.arrival) == (stop_times[on].departure, stop_times[off].arrival)
        if ride.stays_seated:
            assert on == 0
            assert before[1] == len(oracle.instances[before[0]].stop_times) - 1
            assert index in oracle.next[before[0]]
            assert ride.foot_m == 0
        else:
            assert not stop_times[on].flags & 1
            if before is None:
                metres, seconds = origin.walk_by_stop[stop_times[on].stop]
                assert (journey.departure + seconds, metres) == (ride.departure, ride.foot_m)
            else:
                assert not before[2].flags & 2
                at = (before[2].stop, oracle.trips[before[0]], oracle.routes[before[0]])
                seconds, metres = oracle.way(*at, stop_times[on].stop, trip, route)
                assert before[2].arrival + seconds <= ride.departure
                assert metres == ride.foot_m
        before = index, off, stop_times[off]
    assert not before[2].flags & 2
    metres, seconds = destination.walk_by_stop[before[2].stop]
    assert (before[2].arrival + seconds, metres) == (journey.arrival, journey.egress_m)
    assert journey.walk_m <= limit


@pytest.mark.parametrize("chunk", CHUNKS)
def test_window_search_finds_exactly_the_best(chunk):
    for seed in range(chunk * 60 * SCALE, (chunk + 1) * 60 * SCALE):
        timetable, links, origin, destination, instant, rides, _, step_free = _question(seed)
        search_timetable = build_search_timetable(timetable, DAY, is_reverse=False, step_free=step_free)
        begin = search_timetable.to_search_s(instant)
        until, never = begin + 3600, int(UNREACHED)
        walks = (search_timetable.search_stops.expand(end.walks) for end in (origin, destination))
        query = KernelQuery(*walks, begin, until, never - 1, never, rides, 10**6)
        journeys = [read_journey(timetable, search_timetable, row) for row in run_kernel(search_timetable, query)]
        oracle = LinkedOracle(timetable, links, list_trip_instances(timetable, around(DAY, 2, 4), step_free))
        triples = []
        for leave in [*leaves(oracle.instances, origin, instant, instant + 3599), instant + 3600]:
            arrivals = oracle.earliest_arrivals(origin, destination, leave, rides, 10**6)
            triples += [(leave, arrival, count) for count, arrival in enumerate(arrivals, 1) if arrival < NEVER]
        best = pareto(triples)

        for journey in journeys:
            _check(journey, oracle, origin, destination, 10**6)
        # A search timetable ends two days after its day begins.
        found = [(journey.departure, journey.arrival, journey.boardings) for journey in journeys]
        rows = [
            [row for row in each if row[0] < instant + 3600 and row[1] < MIDNIGHT + 2 * 86400] for each in (found, best)
        ]
        assert sorted(rows[0]) == rows[1], seed


def _search(seed, *, is_live, arrive_by):
    """Search a random network, which realtime data may have changed; return the search, its journeys and the oracle."""
    timetable, links, origin, destination, instant, rides, limit, step_free = _question(seed)
    # Where nothing runs on a day, or realtime data leaves nothing of it, the answer is of another.
    days = around(DAY, 8, 10) if is_live else around(DAY, 2, 6)
    planned = list_trip_instances(timetable, days, step_free and not is_live)
    overlay, running = disrupt(seed, timetable, planned) if is_live else (NO_OVERLAY, planned)
    wishes = {"arrive_by": arrive_by, "step_free": step_free and not is_live}
    query = query_of(origin, destination, instant + 3600 * arrive_by, rides, limit, **wishes)
    find = partial(find_journeys, timetable, SearchTimetables(timetable, overlay))
    journeys = find(query)
    oracle = LinkedOracle(timetable, links, running, overlay)
    for journey in journeys:
        if journey.rides:
            _check(journey, oracle, origin, destination, limit)
    return query, find, journeys, oracle


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_search_for_near_arrivals_first_finds_the_same_journeys(chunk, monkeypatch):
    for seed in range(chunk * 40 * SCALE, (chunk + 1) * 40 * SCALE):
        found = []
        for later_s in (60, 1200), (60,), ():
            monkeypatch.setattr(search, "_LATER_S", (*later_s, int(UNREACHED)))
            _, _, journeys, _ = _search(seed, is_live=False, arrive_by=seed % 2 == 0)
            found.append(sorted((journey.departure, journey.arrival, journey.boardings) for journey in journeys))
        assert found[0] == found[1] == found[2], seed


@pytest.mark.parametrize("chunk", CHUNKS)
def test_searches_that_reuse_lower_bounds_find_the_same_journeys(chunk, monkeypatch):
    def run_afresh(*query, **_is_same_target):
        return run_kernel(*query)

    for seed in range(chunk * 40 * SCALE, (chunk + 1) * 40 * SCALE):
        found = []
        for run in (run_kernel, run_afresh):
            monkeypatch.setattr(search, "run_kernel", run)
            found.append(set(_search(seed, is_live=False, arrive_by=seed % 2 == 0)[2]))
        assert found[0] == found[1], seed


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_window_search_for_short_journeys_first_finds_the_same_journeys(chunk, monkeypatch):
    # Only plain Python can run the kernel with another limit for short journeys; the last one finds all at once.
    run_plain = partial(kernel_mode._call_plain, kernel_search.run_search.function)
    bound = kernel_search.compute_lower_bounds
    monkeypatch.setattr(search, "run_search", lambda *args: run_plain(args))
    for seed in range(chunk * 40 * SCALE, (chunk + 1) * 40 * SCALE):
        found = []
        for reach_s in 0, 3600, int(UNREACHED):
            monkeypatch.setattr(
                kernel_search, "compute_lower_bounds", lambda *args, reach_s=reach_s: (bound(*args), reach_s)[1]
            )
            _, _, journeys, _ = _search(seed, is_live=False, arrive_by=seed % 2 == 0)
            found.append(sorted((journey.departure, journey.arrival, journey.boardings) for journey in journeys))
        assert found[0] == found[1] == found[2], seed


def _rank(journey):
    return journey.arrival, -journey.departure


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_earliest_arrival_within_the_walking_limit_is_found(chunk, is_live):
    """Realtime data may cancel, delay, replace and add trips, skip stops, break in-seat transfers and close stops."""
    checked = 0
    for seed in range(chunk * 200 * SCALE, (chunk + 1) * 200 * SCALE):
        query, find, journeys, oracle = _search(seed, is_live=is_live, arrive_by=False)
        assert all(journey.departure >= query.instant for journey in journeys)
        limits = query.origin, query.destination, query.instant, query.max_rides, query.max_walk_m
        checked += hold_arrivals(journeys, oracle.earliest_arrivals(*limits), query.instant, seed, SOON_S)
        only = find(replace(query, wanted=0))
        assert min(map(_rank, journeys), default=None) == min(map(_rank, only), default=None), seed
    assert checked > 40 * SCALE


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_latest_departure_for_an_arrival_is_never_lost(chunk, is_live):
    for seed in range(chunk * 25 * SCALE, (chunk + 1) * 25 * SCALE):
        query, _, journeys, oracle = _search(seed, is_live=is_live, arrive_by=True)
        assert all(journey.arrival <= query.instant for journey in journeys)
        latest = latest_departures(oracle.earliest_arrivals, oracle.instances, query)
        hold_departures(journeys, latest, seed, query.instant - SOON_S)
