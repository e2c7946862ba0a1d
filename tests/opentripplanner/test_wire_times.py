"""Durations, instants and service days as the server formats them."""

from datetime import UTC, date, datetime

import pytest
from pydantic import TypeAdapter

from fingerpost.transit.remote.kit.answers import read_wire_instant
from fingerpost.transit.remote.opentripplanner.shapes import Day, read_duration_s
from tests.opentripplanner.answers import a_board, a_board_query, a_time, asking, data


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT0S", 0),
        ("PT10M", 600),
        ("PT60S", 60),
        ("-PT1M30S", -90),
        ("PT26H", 93_600),
        ("P1DT1S", 86_401),
        ("PT1.6S", 2),
    ],
)
def test_a_duration_may_carry_its_sign_before_the_p(text, seconds):
    assert read_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "P", "PT", "10", "PT1M30", "1M"])
def test_an_invalid_duration_is_refused(text):
    with pytest.raises(ValueError, match="timedelta"):
        read_duration_s(text)


def test_an_instant_needs_its_offset():
    assert read_wire_instant("2026-03-10T10:00:00+02:00") == read_wire_instant("2026-03-10T08:00:00Z")
    with pytest.raises(ValueError, match="offset"):
        read_wire_instant("2026-03-10T10:00:00")


@pytest.mark.parametrize("text", ["2026-03-10", "20260310"])
def test_a_service_date_has_two_formats(text):
    assert TypeAdapter(Day).validate_python(text) == date(2026, 3, 10)


@pytest.mark.parametrize(
    ("day", "begins", "hours", "leaves"),
    [
        # Clocks go forward at 03:00: noon minus twelve hours is 23:00 of the day before, and 08:00 is 05:00Z.
        (date(2026, 3, 29), datetime(2026, 3, 28, 21, tzinfo=UTC), 8, datetime(2026, 3, 29, 5, tzinfo=UTC)),
        # Clocks go back at 04:00: it is 01:00 of the day itself, and 08:00 is 06:00Z.
        (date(2026, 10, 25), datetime(2026, 10, 24, 22, tzinfo=UTC), 8, datetime(2026, 10, 25, 6, tzinfo=UTC)),
        # A trip at 24:30.
        (date(2026, 3, 10), datetime(2026, 3, 9, 22, tzinfo=UTC), 24.5, datetime(2026, 3, 10, 22, 30, tzinfo=UTC)),
    ],
)
async def test_a_departure_counts_from_noon_minus_twelve_hours_of_its_service_day(day, begins, hours, leaves):
    instant = int(leaves.timestamp())
    time = a_time(serviceDay=int(begins.timestamp()), scheduledDeparture=int(hours * 3600))
    async with asking(data(stops=[a_board(time)])) as (network, _):
        board = await network.list_departures(a_board_query(instant=instant, window_s=0))

    assert [(row.scheduled, row.service_day) for row in board.departures] == [(instant, day)]
