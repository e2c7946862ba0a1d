"""How delays spread along a ride (GTFS-Realtime reference, TripUpdate and StopTimeUpdate)."""

from datetime import date

import pytest

from tests.feeds import timetable_from_drawing
from tests.realtime.messages import at, call, draw, read, update

SPRING = date(2026, 3, 29)
FOUR_STOPS = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10-08:12 | Gamma 08:20-08:21 | Delta 08:30")


def drawn(*calls, **told):
    return draw(FOUR_STOPS, read(FOUR_STOPS, update("A-1", *calls, **told)))


def with_delay(made):
    made.arrival.delay = 60
    return made


@pytest.mark.parametrize(
    ("calls", "delay", "expected"),
    [
        pytest.param(
            [call("BETA", 120, 120)], None,
            "Alpha 08:00 ? | Beta 08:12-08:14 | Gamma 08:22-08:23 | Delta 08:32",
            id="a delay holds for all later stop times, and nothing is known before",
        ),
        pytest.param(
            [with_delay(call("DELTA", "08:35"))], None,
            "Alpha 08:00 ? | Beta 08:10-08:12 ? | Gamma 08:20-08:21 ? | Delta 08:35",
            id="a time wins over a delay",
        ),
        pytest.param(
            [call("ALPHA", None, 300), call("BETA", None, "08:13")], None,
            "Alpha 08:05 | Beta 08:13 | Gamma 08:21-08:22 | Delta 08:31",
            id="a departure alone leaves the arrival to the carried delay, but no vehicle arrives after it leaves",
        ),
        pytest.param(
            [call("BETA", None, 120)], None,
            "Alpha 08:00 ? | Beta 08:12-08:14 | Gamma 08:22-08:23 | Delta 08:32",
            id="the first departure alone tells the arrival too",
        ),
        pytest.param(
            [call("ALPHA", None, 300), call("GAMMA", relationship="NO_DATA")], None,
            "Alpha 08:05 | Beta 08:15-08:17 | Gamma 08:20-08:21 ? | Delta 08:30 ?",
            id="no data ends what is known",
        ),
        pytest.param(
            [call("ALPHA", None, 120), call("BETA", 900, 900, relationship="SKIPPED")], None,
            "Alpha 08:02 | Beta 08:12-08:14 skip | Gamma 08:22-08:23 | Delta 08:32",
            id="a skipped stop passes the delay on, not its own times",
        ),
        pytest.param(
            [call("GAMMA", 60, 60)], 180,
            "Alpha 08:03 | Beta 08:13-08:15 | Gamma 08:21-08:22 | Delta 08:31",
            id="the delay of the trip holds until the first that is stated",
        ),
        pytest.param(
            [call("BETA", "07:59:59", "08:12")], None,
            "Alpha 07:59:59 ? | Beta 07:59:59-08:12 | Gamma 08:20-08:21 | Delta 08:30",
            id="an unknown time is never after the next known one",
        ),
        pytest.param(
            [call("BETA", "08:20", "08:22"), call("GAMMA", "08:20", "08:21")], None,
            "Alpha 08:00 ? | Beta 08:20-08:22 | Gamma 08:22 | Delta 08:30",
            id="time never runs backwards",
        ),
        pytest.param(
            [call("ALPHA", None, 60), call("BETA")], None,
            "Alpha 08:01 | Beta 08:11-08:13 | Gamma 08:21-08:22 | Delta 08:31",
            id="a stop time update without times has no effect",
        ),
    ],
)  # fmt: skip
def test_delays_are_carried_along_the_trip(calls, delay, expected):
    assert drawn(*calls, delay=delay) == expected


@pytest.mark.parametrize(("delay_s", "outcome"), [(12 * 3600, "trip-updated"), (12 * 3600 + 1, "trip-calls-unmatched")])
def test_half_a_day_is_the_longest_delay(delay_s, outcome):
    assert dict(read(FOUR_STOPS, update("A-1", call("DELTA", delay_s))).counts) == {outcome: 1}


def test_an_empty_update_changes_nothing():
    overlay = read(FOUR_STOPS, update("A-1"))
    assert (dict(overlay.rides), dict(overlay.counts)) == ({}, {"trip-without-times": 1})


def test_times_are_right_on_the_night_of_the_clock_change():
    """On 29 March 2026 the service day begins at 23:00 of the day before, noon minus 12 h: 04:00 is 4 h after that."""
    night = timetable_from_drawing("line A | Alpha 04:00 | Beta 04:30")
    told = call("BETA")
    told.arrival.time = at("04:31", day=SPRING)
    overlay = read(night, update("A-1", told, day="20260329"), now=at("03:59", day=SPRING), timestamp=0)
    assert draw(night, overlay, day=SPRING) == "Alpha 04:00 ? | Beta 04:31"
