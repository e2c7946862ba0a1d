"""The engine and the slow oracle agree on thousands of random small networks."""

import os
import random
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from fingerpost.transit.engine.raptor.arrays import KernelQuery
from fingerpost.transit.engine.raptor.endpoints import find_endpoint
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.search import find_journeys, run_kernel
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables, build_search_timetable
from tests.raptor.asking import end_at, hold_arrivals, hold_departures, latest_departures, query_of
from tests.raptor.networks import DAY, LAT, LON, random_timetable
from tests.raptor.oracle import around, earliest_arrivals, list_trip_instances, profile

MIDNIGHT = int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=ZoneInfo("Europe/Helsinki")).timestamp())
CHUNKS = range(50 if os.environ.get("FINGERPOST_SOAK") else 8)
PER_CHUNK = 100


def _question(seed):
    dice = random.Random(seed * 7 + 1)
    timetable = random_timetable(seed)

    def end(limit):
        if dice.random() < 0.3:
            return end_at(timetable, dice.randrange(timetable.stop_count), limit)
        return find_endpoint(timetable, LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06), [], limit)

    limit = dice.choice([200, 600, 1500, 3000])
    instant = MIDNIGHT + dice.randint(0, 86399)
    return timetable, end(limit), end(limit), instant, dice.choice([1, 2, 3, 5]), limit, dice.random() < 0.3


def _check(timetable, journey, origin, destination, limit):
    """A journey holds together: every ride is in the timetable, every change is in time, the walk is the sum."""
    walk_to = {int(s): (int(t), int(m)) for s, t, m in zip(origin.stop, origin.seconds, origin.metres, strict=True)}
    walk_from = {
        int(s): (int(t), int(m))
        for s, t, m in zip(destination.stop, destination.seconds, destination.metres, strict=True)
    }
    at = None
    for ride in journey.rides:
        board, alight = (
            int(timetable.stop_time_stop[event]) for event in (ride.board_stop_time, ride.alight_stop_time)
        )
        assert ride.board_stop_time < ride.alight_stop_time
        assert not timetable.stop_time_flags[ride.board_stop_time] & 1
        assert not timetable.stop_time_flags[ride.alight_stop_time] & 2
        noon = datetime(ride.service_day.year, ride.service_day.month, ride.service_day.day, 12)
        start = int(noon.replace(tzinfo=ZoneInfo("Europe/Helsinki")).timestamp()) - 43200
        start += int(timetable.trip_departure_shift_s[ride.trip_departure])
        assert ride.departure == start + timetable.stop_time_departure_s[ride.board_stop_time]
        assert ride.arrival == start + timetable.stop_time_arrival_s[ride.alight_stop_time]
        if at is None:
            seconds, metres = walk_to[board]
            assert (journey.departure + seconds, metres) == (ride.departure, ride.foot_m)
        else:
            stop, arrival = at
            ways = [
                (int(timetable.foot_s[path]), int(timetable.foot_m[path]))
                for path in range(timetable.foot_first[stop], timetable.foot_first[stop + 1])
                if timetable.foot_to[path] == board
            ]
            if stop == board and timetable.change_s[stop] >= 0:
                ways.append((int(timetable.change_s[stop]), 0))
            assert any(arrival + s <= ride.departure and m == ride.foot_m for s, m in ways)
        at = alight, ride.arrival
    stop, arrival = at
    assert (arrival + walk_from[stop][0], walk_from[stop][1]) == (journey.arrival, journey.egress_m)
    assert journey.walk_m <= limit


@pytest.mark.parametrize("chunk", CHUNKS)
def test_window_search_finds_exactly_the_best_departures_arrivals_and_rides(chunk):
    """All journeys best in (leave, arrive, rides) within an hour, and no other, forwards."""
    for seed in range(chunk * PER_CHUNK, chunk * PER_CHUNK + PER_CHUNK // 2):
        timetable, origin, destination, instant, rides, _, step_free = _question(seed)
        search_timetable = build_search_timetable(timetable, DAY, mirrored=False, step_free=step_free)
        begin = search_timetable.to_search_s(instant)
        query = KernelQuery(
            origin.stop, origin.seconds, origin.metres, destination.stop, destination.seconds, destination.metres,
            begin, begin + 3600, int(UNREACHED) - 1, int(UNREACHED), rides, 10**6,
        )  # fmt: skip
        found = [
            (journey.departure, journey.arrival, len(journey.rides))
            for journey in run_kernel(timetable, search_timetable, query)
        ]
        instances = list_trip_instances(timetable, around(DAY, 2, 4), step_free)
        best = profile(timetable, instances, origin, destination, instant, instant + 86400 * 3, rides, 10**6)
        after = [row for row in best if row[0] >= instant + 3600]
        expected = [row for row in best if row[0] < instant + 3600]

        assert sorted(row for row in found if row[0] < instant + 3600) == expected
        # From the window's end on, what matters is the earliest arrival for each number of rides.
        for row in found:
            if row[0] >= instant + 3600:
                assert row[1] == min(a for _, a, r in after if r <= row[2])


@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_earliest_arrival_within_the_walking_limit_is_never_lost(chunk):
    """B6: for each number of rides, the earliest arrival whose walking sums to at most the limit is found."""
    for seed in range(chunk * PER_CHUNK, chunk * PER_CHUNK + PER_CHUNK):
        timetable, origin, destination, instant, rides, limit, step_free = _question(seed)
        query = query_of(origin, destination, instant, rides, limit, step_free=step_free)
        journeys = find_journeys(timetable, SearchTimetables(timetable), query)
        instances = list_trip_instances(timetable, around(DAY, 2, 4), step_free)
        promised = earliest_arrivals(timetable, instances, origin, destination, instant, rides, limit)

        hold_arrivals(journeys, promised, instant, seed)
        for journey in journeys:
            if journey.rides:
                _check(timetable, journey, origin, destination, limit)
            assert journey.departure >= instant


@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_latest_departure_for_an_arrival_is_never_lost(chunk):
    """Arrive-by: for each number of rides, the latest departure that arrives in time within the walking limit."""
    for seed in range(chunk * PER_CHUNK, chunk * PER_CHUNK + PER_CHUNK // 4):
        timetable, origin, destination, instant, rides, limit, step_free = _question(seed)
        query = query_of(origin, destination, instant, rides, limit, step_free=step_free, arrive_by=True)
        journeys = find_journeys(timetable, SearchTimetables(timetable), query)
        instances = list_trip_instances(timetable, around(DAY, 2, 4), step_free)

        hold_departures(journeys, latest_departures(timetable, instances, query), seed)
        for journey in journeys:
            if journey.rides:
                _check(timetable, journey, origin, destination, limit)
            assert journey.arrival <= instant
