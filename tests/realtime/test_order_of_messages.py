"""Which of two messages of a source counts, by their timestamps, and which of two entities of one message."""

import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.gtfs.realtime import CLOCK_SKEW_S
from tests.realtime.messages import DAY, NOW, call, draw, message, read, update
from tests.realtime.test_realtime_feeds import POLL_S, Source, feeds_of

LINE = "line A | Alpha 08:10 | Beta 08:20"
OLDER = "The source gave an older message than before."


def late(delay_s, timestamp):
    return message(update("A-1", call("BETA", delay_s)), timestamp=timestamp)


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [(NOW, NOW, None), (NOW, NOW - 1, OLDER),
     (NOW + POLL_S + CLOCK_SKEW_S, NOW, OLDER), (NOW + POLL_S + CLOCK_SKEW_S + 1, NOW, None)],
)  # fmt: skip
async def test_a_message_takes_the_place_of_one_that_is_no_newer(first, second, problem):
    """Equal timestamps are an update; a timestamp further ahead of the clock than clocks differ is not believed."""
    sent = [late(60, first), late(120, second)]
    feeds = feeds_of(Source(*sent))
    await feeds.refresh(NOW)
    await feeds.refresh(NOW + POLL_S)

    assert feeds.health(now=NOW + POLL_S).sources[0].problem == problem
    assert [kept.bytes for kept in feeds.messages()] == [sent[0] if problem else sent[1]]


def test_of_two_entities_about_one_trip_at_one_instant_the_later_counts():
    """Neither is newer, so the publisher's own order decides."""
    timetable = timetable_from_drawing(LINE)
    overlay = read(timetable, update("A-1", call("ALPHA", 60, 60)), update("A-1", call("ALPHA", 120, 120)))

    assert draw(timetable, overlay) == "Alpha 08:12 | Beta 08:22"


@pytest.mark.parametrize(
    ("ahead_s", "drawn"), [(CLOCK_SKEW_S, "Alpha 08:11 | Beta 08:21"), (CLOCK_SKEW_S + 1, "nothing")]
)
def test_an_update_may_be_as_far_ahead_of_the_clock_as_clocks_differ(ahead_s, drawn):
    """Two minutes; a second more is an update from the future, and changes nothing yet."""
    timetable = timetable_from_drawing(LINE)
    overlay = read(timetable, update("A-1", call("ALPHA", 60, 60), timestamp=NOW + ahead_s))

    assert draw(timetable, overlay) == drawn


@pytest.mark.parametrize(("days", "reason"), [(366, "trip-not-running-that-day"), (367, "start-date-far-from-today")])
@pytest.mark.parametrize("way", [-1, 1])
def test_a_start_date_more_than_a_year_away_is_a_mistake(days, way, reason):
    """366 days hold a leap year; the drawing runs on no such day, which is the nearer reason."""
    timetable = timetable_from_drawing(LINE, days=[DAY])
    far = DAY.fromordinal(DAY.toordinal() + way * days)

    assert dict(read(timetable, update("A-1", call("ALPHA", 60, 60), day=f"{far:%Y%m%d}")).counts) == {reason: 1}


def test_a_trip_without_a_direction_may_go_either_way():
    """The feed states none, so a direction that is named excludes nothing."""
    timetable = timetable_from_drawing(LINE)
    entity = update("", call("ALPHA", 60, 60), route_id="A", start_time="08:10:00", direction_id=1)

    assert draw(timetable, read(timetable, entity)) == "Alpha 08:11 | Beta 08:21"
