"""When alerts hold that say two periods, and where alerts hold that name a direction."""

import pytest
from google.transit.gtfs_realtime_pb2 import EntitySelector, FeedEntity

from fingerpost.testing.feeds import timetable_from_drawing
from tests.realtime.messages import at, read

LINE = "line A | Alpha 08:10 | Beta 08:20\nline A | Beta 09:10 | Alpha 09:20"


def told_of(selector):
    entity = FeedEntity(id="works")
    entity.alert.informed_entity.add().CopyFrom(selector)
    return entity


@pytest.mark.parametrize(("clock", "is_in_force"), [("07:59:59", False), ("08:00", True), ("09:30", False)])
def test_an_alert_holds_while_riders_feel_it(clock, is_in_force):
    """It is shown from 06:00 to 10:00 (active_period), and the works last from 08:00 to 09:00 (impact_period)."""
    entity = told_of(EntitySelector(route_id="A"))
    entity.alert.active_period.add(start=at("06:00"), end=at("10:00"))
    entity.alert.impact_period.add(start=at("08:00"), end=at("09:00"))
    (alert,) = read(timetable_from_drawing(LINE), entity).alerts

    assert alert.is_in_force(at(clock)) is is_in_force


def test_an_alert_of_a_direction_touches_trips_that_state_none():
    """The feed does not say which way its trips go: all of the route may be meant."""
    (alert,) = read(timetable_from_drawing(LINE), told_of(EntitySelector(route_id="A", direction_id=1))).alerts

    assert (set(alert.trips), set(alert.routes)) == ({0, 1}, set())
