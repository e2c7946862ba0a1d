"""The demo's simulator: a function of network, scenario and instant, encoded as real GTFS-Realtime."""

import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.embedded.realtime_updater import simulate_overlay
from fingerpost.transit.engine.demo.catalogue import build_demo, list_demo_names
from fingerpost.transit.engine.demo.simulator import Scenario, simulate
from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex
from fingerpost.transit.engine.gtfs.realtime.outcomes import APPLIED
from tests.realtime.messages import at, draw

LINES = timetable_from_drawing(
    """
    line A | Alpha 07:59 | Beta 08:30
    line A | Alpha 09:59 | Beta 10:30
    line A | Alpha 10:00 | Beta 10:30
    line B | Alpha 08:14 | Gamma 08:30
    line B | Alpha 08:15 | Gamma 08:31
    line B | Alpha 09:14 | Gamma 09:30
    line B | Alpha 09:15 | Gamma 09:31
    """
)
INDEX = RealtimeIndex(LINES)
NOW = at("08:40")


def played(**scenario):
    return simulate_overlay(LINES, INDEX, NOW, Scenario(**scenario))


def test_a_closed_line_does_not_run_for_two_hours_from_the_full_hour():
    """08:40: what leaves before 10:00 and is still under way is cancelled, 10:00 runs; an alert says why."""
    told = simulate_overlay(LINES, INDEX, at("08:20"), Scenario(closed_route="A"))
    assert [draw(LINES, told, trip) for trip in ("A-1", "A-2", "A-3")] == ["cancelled", "cancelled", "nothing"]
    assert [(alert.id, alert.effect, set(alert.routes)) for alert in told.alerts] == [("closed-A", "NO_SERVICE", {0})]
    assert [alert.periods for alert in told.alerts] == [((at("08:00"), at("10:00")),)]


def test_cancelled_are_the_departures_around_the_quarter():
    """08:40 lies in the quarter of 08:30: from 08:15 up to 09:15; what has arrived is not told of any more."""
    told = simulate_overlay(LINES, INDEX, at("08:30"), Scenario(cancelled_route="B", with_delays=False))
    drawn = [draw(LINES, told, f"B-{number}") for number in (1, 2, 3, 4)]
    assert drawn == ["nothing", "cancelled", "cancelled", "nothing"]
    assert [alert.headers["en"] for alert in told.alerts] == ["Trips of line B are cancelled"]


def test_a_broken_lift_closes_its_stop_to_wheelchairs():
    told = played(broken_lift_stop="BETA", with_delays=False)
    assert ([each.stops for each in told.list_closing(step_free=True)], dict(told.rides)) == ([frozenset({1})], {})
    assert told.list_closing(step_free=False) == ()
    assert dict(told.alerts[0].headers) == {
        "fi": "Hissi epäkunnossa: Beta", "en": "Lift out of order: Beta", "sv": "Hissen ur funktion: Beta"
    }  # fmt: skip


def test_an_unknown_line_or_stop_is_not_an_error():
    told = played(closed_route="Z", cancelled_route="Y", broken_lift_stop="X", with_delays=False)
    assert (told.is_empty, told.alerts, dict(told.counts)) == (True, (), {})


@pytest.mark.parametrize("name", list_demo_names())
def test_every_simulated_message_is_parsed(name):
    timetable = build_demo(name)
    told = simulate_overlay(timetable, RealtimeIndex(timetable), NOW)
    assert set(told.counts) == {"trip-updated", "trip-cancelled", "alert-given"}
    assert APPLIED.issuperset(told.counts)
    assert told.counts["alert-given"] == 3
    assert any(int(ride.arrival_delay_s.max()) > 300 for ride in told.rides.values() if not ride.is_cancelled)


def test_the_same_instant_gives_the_same_bytes():
    assert simulate(build_demo("DEMO-LONDON"), NOW) == simulate(build_demo("DEMO-LONDON"), NOW)


def test_delays_last_while_a_trip_is_under_way():
    timetable = build_demo("DEMO-HELSINKI")
    index = RealtimeIndex(timetable)
    before, after = (simulate_overlay(timetable, index, NOW + shift_s) for shift_s in (0, 60))
    both = [key for key in before.rides if key in after.rides]
    moved = [
        key
        for key in both
        if before.rides[key].is_cancelled == after.rides[key].is_cancelled
        and before.rides[key].arrival_delay_s[-1] != after.rides[key].arrival_delay_s[-1]
    ]
    assert (len(both) > 100, moved) == (True, [])
