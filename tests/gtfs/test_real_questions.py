"""Random questions to cuts of real feeds: what the engine finds is what the slow oracle finds."""

import os
import random
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.engine.timetable.service_days import services_on
from tests.gtfs.importing import REAL_FEEDS
from tests.raptor.asking import end_at, hold_arrivals, query_of
from tests.raptor.linked_networks import Links, Rule, Seat
from tests.raptor.linked_oracle import LinkedOracle
from tests.raptor.oracle import around, list_trip_instances
from tests.shared_data import get_shared

QUESTIONS = 200 if os.environ.get("FINGERPOST_SOAK") else 8
RUNS = 250
RIDES = 3
WALK_M = 1500
FEEDS = [(name, day) for name, day in REAL_FEEDS if "bus" not in name]


def cut(timetable, day, dice):
    """Keep some of the trip departures of one day that leave in the morning, and what these go on as."""
    active = services_on(timetable, day)
    trip = timetable.trip_departure_trip
    leaves_s = timetable.stop_time_departure_s[timetable.trip_first_stop_time[trip]] + timetable.trip_departure_shift_s
    chosen = np.flatnonzero(
        (active[timetable.trip_service[trip]] == 1) & (leaves_s >= 6 * 3600) & (leaves_s < 11 * 3600)
    )
    kept = np.array(dice.sample(chosen.tolist(), min(RUNS, len(chosen))))
    begin, end = timetable.in_seat_from, timetable.in_seat_to
    kept = np.union1d(kept, end[np.isin(begin, kept)])
    is_whole = np.isin(begin, kept) & np.isin(end, kept)
    return replace(
        timetable,
        trip_departure_trip=trip[kept],
        trip_departure_shift_s=timetable.trip_departure_shift_s[kept],
        trip_departure_headway_s=timetable.trip_departure_headway_s[kept],
        in_seat_from=np.searchsorted(kept, begin[is_whole]).astype(np.int32),
        in_seat_to=np.searchsorted(kept, end[is_whole]).astype(np.int32),
        in_seat_days_later=timetable.in_seat_days_later[is_whole],
        in_seat_service=timetable.in_seat_service[is_whole],
    )


def links_of(table):
    """Return what the cut's trips are linked by, as the oracle is told of it."""
    trips = set(table.trip_departure_trip.tolist())
    rules = [
        Rule(*(None if row < 0 else row for row in names), type=3 if seconds < 0 else 2, min_s=seconds)
        for *names, seconds in np.column_stack(
            [
                table.specific_transfer_from_stop, table.specific_transfer_to_stop,
                table.specific_transfer_from_route, table.specific_transfer_to_route,
                table.specific_transfer_from_trip, table.specific_transfer_to_trip, table.specific_transfer_s,
            ]
        ).tolist()
        if {*names[4:]} - {-1} <= trips
    ]  # fmt: skip
    columns = (table.in_seat_from, table.in_seat_to, table.in_seat_days_later, table.in_seat_service)
    seats = [
        Seat(one, other, later, None if service < 0 else service)
        for one, other, later, service in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return Links(tuple(rules), tuple(seats))


@pytest.mark.parametrize(("name", "day"), FEEDS, ids=[name for name, _ in FEEDS])
def test_arrivals_equal_those_of_the_oracle(name, day):
    path = get_shared(f"gtfs/{name}.gtfs.zip")
    dice = random.Random(name)
    table = cut(import_feeds("real", [FeedSource(path)]).timetable, day, dice)
    instances = list_trip_instances(table, around(day, 1, 3))
    served = sorted({call.stop for instance in instances for call in instance.stop_times})
    oracle = LinkedOracle(table, links_of(table), instances)
    search_timetables, zone = SearchTimetables(table), ZoneInfo(table.feeds[0].zone)
    found = 0
    for _ in range(QUESTIONS):
        ends = [end_at(table, stop, WALK_M) for stop in dice.sample(served, 2)]
        midnight = datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
        instant = int(midnight) + dice.randint(6 * 3600, 10 * 3600)
        journeys = find_journeys(table, search_timetables, query_of(*ends, instant, RIDES, WALK_M))
        found += hold_arrivals(journeys, oracle.earliest_arrivals(*ends, instant, RIDES, WALK_M), instant, ends)
    assert found > 0
