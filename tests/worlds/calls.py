"""The trips that serve given stops, by a scan of every trip on every day; shares no code with the planner."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from tests.riders.walks import walk_m

NO_BOARDING, NO_ALIGHTING = 1, 2
DAYS = 8


def list_near(timetable, place, max_walk_m):
    """Return the stops (rows) within a walk of a place."""
    positions = zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), strict=True)
    near = [row for row, position in enumerate(positions) if walk_m(place, position) <= max_walk_m]
    return [row for row in near if timetable.stop_kind[row] == 0]


def list_times(timetable, stops, instant, *, arrivals):
    """Return when riders can leave stops (or reach them) within DAYS of an instant, in order."""
    in_seat = timetable.in_seat_to if arrivals else timetable.in_seat_from
    joined = set(timetable.trip_departure_trip[in_seat].tolist())
    wanted, other = (NO_ALIGHTING, NO_BOARDING) if arrivals else (NO_BOARDING, NO_ALIGHTING)
    first, flags = timetable.trip_first_stop_time, timetable.stop_time_flags
    calls = []
    for call in np.flatnonzero(np.isin(timetable.stop_time_stop, stops)).tolist():
        trip = int(np.searchsorted(first, call, "right")) - 1
        others = range(int(first[trip]), call) if arrivals else range(call + 1, int(first[trip + 1]))
        is_ride = any(not flags[each] & other for each in others) or (trip in joined and len(others) > 0)
        if is_ride and not flags[call] & wanted:
            calls.append((call, trip))
    seconds = timetable.stop_time_arrival_s if arrivals else timetable.stop_time_departure_s
    departures = {}
    for number, trip in enumerate(timetable.trip_departure_trip.tolist()):
        departures.setdefault(trip, []).append(int(timetable.trip_departure_shift_s[number]))
    found = []
    for call, trip in calls:
        service = int(timetable.trip_service[trip])
        zone = timetable.feeds[int(timetable.service_feed[service])].zone
        for day in list_days(timetable, service, instant, zone):
            start = int(datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)).timestamp()) - 12 * 3600
            found += [start + shift + int(seconds[call]) for shift in departures[trip]]
    return sorted(found)


def list_days(timetable, service, instant, zone):
    day = datetime.fromtimestamp(instant, ZoneInfo(zone)).date()
    for near in (day + timedelta(days=each) for each in range(-DAYS, DAYS + 1)):
        offset = (near - timetable.calendar_start).days
        is_covered = 0 <= offset < timetable.service_runs_on.shape[1]
        if timetable.service_every_day[service] or (is_covered and timetable.service_runs_on[service, offset]):
            yield near
