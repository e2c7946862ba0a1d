"""A journey that starts after waiting for days is found on the day on which it leaves.

What is searched is cut into slices of days; no wait may fall into the cut between two of them.
"""

import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from fingerpost.transit.engine.raptor.search import Endpoint, find_endpoint, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.draft import RouteRow, ServiceRow, StopRow, TimetableDraft
from fingerpost.transit.engine.timetable.timetable import Feed
from fingerpost.transit.engine.timetable.walks import StopWalks
from tests.raptor.asking import latest_departures, query_of
from tests.raptor.networks import add_trip, to_ordinals
from tests.raptor.oracle import NEVER, around, earliest_arrivals, list_trip_instances

ZONE = ZoneInfo("Europe/Helsinki")
TUESDAY = date(2026, 5, 5)
HOUR = 3600
MAX_RIDES = 4


def _at(day, hour):
    return int(datetime(day.year, day.month, day.day, tzinfo=ZONE).timestamp()) + int(hour * HOUR)


def _village(*buses):
    """A timetable of buses ``(from, to, hour, days)``: each takes an hour, and no stop can be walked to."""
    draft = TimetableDraft(feeds=[Feed(name="R", zone="Europe/Helsinki")])
    names = sorted({name for origin, destination, _, _ in buses for name in (origin, destination)})
    draft.stops = [StopRow(0, name, name, 60 + row, 25) for row, name in enumerate(names)]
    draft.routes = [RouteRow(0, "L", "L", "", 3)]
    for row, (origin, destination, hour, days) in enumerate(buses):
        draft.services.append(ServiceRow(0, to_ordinals(days)))
        times = ((origin, int(hour * HOUR)), (destination, int((hour + 1) * HOUR)))
        add_trip(draft, [(names.index(stop), time, time, 0) for stop, time in times], service=row)
    return assemble(draft)


def _query(timetable, origin, destination, instant, *, arrive_by=False, not_before=None):
    ends = []
    for name in (origin, destination):
        row = list(timetable.stop_name).index(name)
        ends.append(find_endpoint(timetable, float(timetable.stop_lat[row]), 25.0, [row], 500))
    return query_of(*ends, instant, MAX_RIDES, 500, arrive_by=arrive_by, not_before=not_before)


def _search(timetable, *asked, **wishes):
    found = find_journeys(timetable, SearchTimetables(timetable), _query(timetable, *asked, **wishes))
    return sorted((journey.departure, journey.arrival) for journey in found)


def _days(first, count):
    return [first + timedelta(days=further) for further in range(count)]


EVERY_DAY = _days(TUESDAY - timedelta(days=10), 30)


def test_after_days_without_service_all_buses_of_a_morning_are_found():
    saturday = TUESDAY + timedelta(days=4)
    timetable = _village(*(("Home", "City", hour, [saturday]) for hour in (8, 9, 10)))
    found = _search(timetable, "Home", "City", _at(TUESDAY, 20))
    assert found == [(_at(saturday, hour), _at(saturday, hour + 1)) for hour in (8, 9, 10)]


def test_trips_that_departed_before_now_are_not_searched():
    """On Thursday at noon nobody can be in the City by 13:00, though on Wednesday one could."""
    timetable = _village(("Home", "City", 9, EVERY_DAY))
    thursday = TUESDAY + timedelta(days=2)
    noon = _at(thursday, 12)
    assert not _search(timetable, "Home", "City", noon + HOUR, arrive_by=True, not_before=noon)


def test_late_journeys_are_left_out_if_one_within_the_walking_limit_leaves_soon():
    """Home to City at 08:12 dominates Mill to Town, but needs too long walks; the next bus leaves at 18:30."""
    timetable = _village(
        ("Home", "City", 8.2, EVERY_DAY), ("Mill", "Town", 8.2, EVERY_DAY), ("Mill", "Town", 18.5, EVERY_DAY)
    )
    names = list(timetable.stop_name)
    seconds, metres = np.array([60, 600], np.int32), np.array([400, 100], np.int32)
    ends = [
        Endpoint(lat=60.0, lon=lon, walks=StopWalks(np.array(list(map(names.index, pair)), np.int32), metres, seconds))
        for lon, pair in ((25.0, ("Home", "Mill")), (26.0, ("City", "Town")))
    ]
    query = query_of(*ends, _at(TUESDAY, 8), MAX_RIDES, 500)
    found = find_journeys(timetable, SearchTimetables(timetable), query)
    assert [journey.departure for journey in found] == [_at(TUESDAY, 8.2) - 600]


def test_a_direct_bus_in_the_evening_is_found_beside_changes_in_the_morning():
    timetable = _village(
        ("Home", "Town", 8.2, EVERY_DAY), ("Town", "City", 9.3, EVERY_DAY),
        ("Home", "Town", 9, EVERY_DAY), ("Town", "City", 10.1, EVERY_DAY),
        ("Home", "City", 20, EVERY_DAY),
    )  # fmt: skip
    query = replace(_query(timetable, "Home", "City", _at(TUESDAY, 8)), window_s=1800)
    found = find_journeys(timetable, SearchTimetables(timetable), query)
    assert sorted(journey.departure for journey in found) == [_at(TUESDAY, hour) for hour in (8.2, 9, 20)]


def _sparse_village(seed):
    dice = random.Random(seed)
    names = ["Home", "Town", "Mill", "Port", "City"]
    days = EVERY_DAY[4:24]
    buses = []
    for _ in range(dice.randint(3, 9)):
        origin, destination = dice.sample(names, 2)
        weekdays = dice.sample(range(7), dice.choice([1, 1, 2, 5, 7]))
        runs = [day for day in days if day.weekday() in weekdays] or [days[0]]
        buses.append((origin, destination, dice.choice([0.1, 7, 12, 17, 21, 23.5, 25]), runs))
    buses += [("Home", "Town", 17, [days[-1]]), ("Mill", "City", 8, [days[0]])]
    return _village(*buses), _at(TUESDAY, dice.choice([0, 6, 13, 20, 23]))


@pytest.mark.parametrize("chunk", range(4))
def test_the_first_arrival_within_a_week_equals_the_oracles(chunk):
    for seed in range(chunk * 50, chunk * 50 + 50):
        timetable, instant = _sparse_village(seed)
        query = _query(timetable, "Home", "City", instant)
        instances = list_trip_instances(timetable, around(TUESDAY, 2, 9))
        best = earliest_arrivals(
            timetable, instances, query.origin, query.destination, instant, MAX_RIDES, query.max_walk_m
        )[-1]
        if NEVER > best > _at(TUESDAY, 8 * 24):
            # So far the search does not look.
            continue
        found = find_journeys(timetable, SearchTimetables(timetable), query)
        assert min((journey.arrival for journey in found), default=NEVER) == best, seed


@pytest.mark.parametrize("chunk", range(4))
def test_the_last_departure_towards_an_arrival_equals_the_oracles(chunk):
    for seed in range(chunk * 25, chunk * 25 + 25):
        timetable, instant = _sparse_village(seed)
        query = _query(timetable, "Home", "City", instant, arrive_by=True)
        instances = list_trip_instances(timetable, around(TUESDAY, 9, 2))
        find_arrivals = partial(earliest_arrivals, timetable, instances)
        best = latest_departures(find_arrivals, instances, query, instant - _at(TUESDAY, -6 * 24))[-1]
        departures = [each.departure for each in find_journeys(timetable, SearchTimetables(timetable), query)]
        reached = [departure for departure in departures if departure >= _at(TUESDAY, -6 * 24)]
        assert max(reached, default=-NEVER) == best, seed
