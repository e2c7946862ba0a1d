"""Compare the departure boards of stops with the raw tables of their feeds."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from fingerpost.transit.check.raw_feed import parse_time_s
from fingerpost.transit.engine.timetable.service_days import find_midnight
from fingerpost.transit.port import DepartureQuery

# The number of earlier service days whose trips may still be running.
MAX_TRIP_DAYS = 3
NOON_S = 12 * 3600


@cache
def read_shifts(feed):
    """Return the departures of each trip in frequencies.txt, as offsets to be added to the times of its calls."""
    shifts = defaultdict(list)
    for row in feed.read_rows("frequencies.txt"):
        if row["trip_id"] in feed.trips:
            first_s = feed.trips[row["trip_id"]].calls[0].departure_s
            every = range(parse_time_s(row["start_time"]), parse_time_s(row["end_time"]), int(row["headway_secs"]))
            shifts[row["trip_id"]] += [start_s - first_s for start_s in every]
    return dict(shifts)


@cache
def read_forbidden(feed):
    """Return the (trip id, sequence) of the calls where riders cannot board, and of those where they cannot alight."""
    rows = [row for row in feed.read_rows("stop_times.txt") if row["stop_sequence"].isdigit()]
    return tuple(
        {(row["trip_id"], int(row["stop_sequence"])) for row in rows if row[kind] == "1"}
        for kind in ("pickup_type", "drop_off_type")
    )


def list_starts(feed, trip, day):
    """Return the Unix time of stop time 00:00:00 for each departure of a trip on a service day."""
    if day not in feed.service_days[trip.service]:
        return []
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(feed.zone))
    return [int(noon.timestamp()) - NOON_S + shift_s for shift_s in read_shifts(feed).get(trip.trip_id, [0])]


async def compare_boards(trial, day, stops):
    """Return the departures that a board lacks or invents on a day; ``stops`` are pairs of a raw feed and a stop id."""
    differences = []
    zone = trial.network.profile.zone
    begin, end = find_midnight(day, zone), find_midnight(day + timedelta(days=1), zone) - 1
    for (feed, stop), (certain, possible) in _list_expected(stops, day).items():
        row = trial.stop_rows.get((feed.name, stop))
        if row is None:
            continue
        stop_id = trial.timetable.stop_printed_id[row]
        query = DepartureQuery(
            stop_ids=[stop_id], instant=begin, window_s=end - begin, wanted=1_000_000, by_schedule=True
        )
        board = await trial.network.list_departures(query)
        actual = Counter((row.trip_id.partition(":")[2], row.scheduled) for row in board.departures)
        expected = Counter({key: count for key, count in certain.items() if begin <= key[1] <= end})
        differences += [(stop_id, "lacks", *key) for key in expected - actual]
        differences += [
            (stop_id, "invents", trip, instant)
            for trip, instant in actual - expected
            if trip in feed.trips and possible.isdisjoint(((trip, instant), (trip, 0)))
        ]
    return differences


def _list_expected(stops, day):
    """Return, for each stop, the departures that its board must show around a day, and those that it may show.

    A departure is a trip and an instant, which is 0 if it must be interpolated.
    """
    expected = {stop: (Counter(), set()) for stop in stops}
    days = [day + timedelta(days=number) for number in range(-MAX_TRIP_DAYS, 2)]
    for feed in dict.fromkeys(feed for feed, _ in stops):
        no_boarding, no_alighting = read_forbidden(feed)
        for trip in feed.trips.values():
            keys = [(trip.trip_id, call.sequence) for call in trip.calls]
            last = max((position for position, key in enumerate(keys) if key not in no_alighting), default=0)
            calls = [(position, call) for position, call in enumerate(trip.calls) if (feed, call.stop) in expected]
            starts = [start for each in days for start in list_starts(feed, trip, each)] if calls else []
            for position, call in calls:
                certain, possible = expected[feed, call.stop]
                if call.departure_s is None:
                    possible.add((trip.trip_id, 0))
                    continue
                departures = [(trip.trip_id, start + call.departure_s) for start in starts]
                if keys[position] not in no_boarding and position < last:
                    certain.update(departures)
                else:
                    possible.update(departures)
    return expected
