"""The demo's simulator: a function of network and instant, encoded as real GTFS-Realtime."""

import pytest

from fingerpost.transit.engine.demo import NAMES, open_demo
from fingerpost.transit.engine.demo.simulator import simulate
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from tests.realtime.messages import DAY, ZONE, at, read_bytes

HELSINKI = open_demo("DEMO-HELSINKI")
NOW = at("08:40")


def simulated(now, timetable=HELSINKI):
    return read_bytes(timetable, simulate(timetable, now), now=now)


def departures_of(line, told=None):
    """Return when the trips of a line depart today, all of them or those that are cancelled."""
    start = find_service_day_start(DAY, ZONE)
    route = list(HELSINKI.route_local_id).index(line)
    return {
        start + int(HELSINKI.trip_departure_shift_s[row])
        for row, trip in enumerate(HELSINKI.trip_departure_trip.tolist())
        if HELSINKI.trip_route[trip] == route
        and (told is None or ((ride := told.rides.get((row, DAY.toordinal()))) is not None and ride.is_cancelled))
    }


def test_a_closed_line_does_not_run_for_two_hours_from_the_full_hour():
    """08:20: what leaves before 10:00 and is still under way is cancelled; an alert says why."""
    told = simulated(at("08:20"))
    cancelled = departures_of("M1", told)
    assert {time for time in cancelled if time > at("08:20")} == {
        time for time in departures_of("M1") if at("08:20") < time < at("10:00")
    }
    closed = told.alerts[0]
    assert (closed.id, closed.effect, closed.periods) == ("closed-M1", "NO_SERVICE", ((at("08:00"), at("10:00")),))


def test_a_broken_lift_closes_its_stop_to_wheelchairs():
    told = simulated(NOW)
    (broken,) = told.list_closing(step_free=True)
    assert {HELSINKI.stop_local_id[stop] for stop in broken.list_stops()} == {"KAMPPI"}
    assert told.list_closing(step_free=False) == ()
    name = HELSINKI.stop_name[min(broken.list_stops())]
    assert dict(broken.headers) == {
        "fi": f"Hissi epäkunnossa: {name}", "en": f"Lift out of order: {name}", "sv": f"Hissen ur funktion: {name}"
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_simulated_message_is_parsed(name):
    told = simulated(NOW, open_demo(name))
    assert set(told.counts) == {"trip-updated", "trip-cancelled", "alert-given"}
    assert told.counts["alert-given"] == 2
    assert any(int(ride.arrival_delay_s.max()) > 300 for ride in told.rides.values() if not ride.is_cancelled)


def test_the_same_instant_gives_the_same_bytes():
    assert simulate(HELSINKI, NOW) == simulate(open_demo("DEMO-HELSINKI"), NOW)


def test_delays_last_while_a_trip_is_under_way():
    before, after = simulated(NOW), simulated(NOW + 60)
    both = [key for key in before.rides if key in after.rides]
    moved = [
        key
        for key in both
        if before.rides[key].is_cancelled == after.rides[key].is_cancelled
        and before.rides[key].arrival_delay_s[-1] != after.rides[key].arrival_delay_s[-1]
    ]
    assert (len(both) > 100, moved) == (True, [])
