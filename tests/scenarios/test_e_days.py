"""Chapter E: days, midnight and clocks that change."""

from datetime import date

import pytest

from tests.scenarios.riding import ride

NIGHT = """
line N | Alpha 23:50 | Beta 24:20
line N | Alpha 25:10 | Beta 25:40
"""


def test_e01_a_trip_of_yesterday_runs_after_midnight():
    """25:10 of Tuesday is 01:10 on Wednesday, and is caught by asking on Wednesday."""
    tuesday, wednesday = date(2026, 5, 5), date(2026, 5, 6)
    assert ride(NIGHT, "Alpha", "Beta", "00:30", day=wednesday, days=[tuesday, wednesday])[0] == (
        "Alpha 01:10 N Beta 01:40"
    )


def test_e02_the_day_after_is_looked_at():
    """Nothing leaves on Tuesday any more; the first of Wednesday is offered."""
    drawing = "line A | Alpha 08:00 | Beta 08:10"
    tuesday, wednesday = date(2026, 5, 5), date(2026, 5, 6)
    assert ride(drawing, "Alpha", "Beta", "23:00", day=tuesday, days=[tuesday, wednesday]) == [
        "Alpha 08:00 A Beta 08:10"
    ]


def test_e03_days_without_service_are_passed_over():
    """From Friday evening the next bus is on Monday."""
    drawing = "line A | Alpha 08:00 | Beta 08:10"
    friday, monday = date(2026, 5, 8), date(2026, 5, 11)
    assert ride(drawing, "Alpha", "Beta", "22:00", day=friday, days=[friday, monday]) == ["Alpha 08:00 A Beta 08:10"]


def test_e04_arriving_looks_at_the_evening_before():
    """To be there at 07:00 one leaves the evening before."""
    drawing = "line A | Alpha 20:00 | Beta 20:10"
    tuesday, wednesday = date(2026, 5, 5), date(2026, 5, 6)
    assert ride(drawing, "Alpha", "Beta", "07:00", day=wednesday, days=[tuesday, wednesday], arrive_by=True) == [
        "Alpha 20:00 A Beta 20:10"
    ]


def test_e08_arriving_passes_over_days_without_service_too():
    """To be there on Monday morning one leaves on Friday, the last day with a bus; nothing between is skipped."""
    drawing = "line A | Alpha 08:00 | Beta 08:10"
    friday, monday = date(2026, 5, 8), date(2026, 5, 11)
    assert ride(drawing, "Alpha", "Beta", "07:00", day=monday, days=[friday, monday], arrive_by=True) == [
        "Alpha 08:00 A Beta 08:10"
    ]


def test_e05_a_service_day_begins_at_noon_minus_twelve_hours_when_clocks_go_forward():
    """On 2026-03-29 clocks skip 03:00 to 04:00: 08:00 of that service day is 08:00 local time."""
    drawing = "line A | Alpha 08:00 | Beta 08:10"
    spring = date(2026, 3, 29)
    assert ride(drawing, "Alpha", "Beta", "07:00", day=spring, days=[spring]) == ["Alpha 08:00 A Beta 08:10"]


def test_e06_and_before_the_change_the_wall_shows_an_hour_less():
    """01:00 of that service day is midnight local time, for the day began an hour before midnight."""
    drawing = "line A | Alpha 01:00 | Beta 01:10"
    spring = date(2026, 3, 29)
    assert ride(drawing, "Alpha", "Beta", "00:00", day=spring, days=[spring]) == ["Alpha 00:00 A Beta 00:10"]


def test_e07_when_clocks_go_back_the_evening_is_where_it_belongs():
    """On 2026-10-25 clocks show 03:00 twice: 23:00 of that service day is 23:00 local time."""
    drawing = "line A | Alpha 23:00 | Beta 23:10"
    autumn = date(2026, 10, 25)
    assert ride(drawing, "Alpha", "Beta", "22:00", day=autumn, days=[autumn]) == ["Alpha 23:00 A Beta 23:10"]


@pytest.mark.parametrize(
    ("asked", "found"), [("00:10", "Alpha 00:10 N Beta 00:20"), ("00:11", "Alpha 06:00 M Beta 06:10")]
)
def test_e09_when_clocks_go_back_the_night_before_goes_on_after_midnight(asked, found):
    """24:10 of 2026-10-24 is 00:10 local time, an hour before the service day of 2026-10-25 begins."""
    drawing = "line N | Alpha 24:10 | Beta 24:20\nline M | Alpha 06:00 | Beta 06:10"
    saturday, sunday = date(2026, 10, 24), date(2026, 10, 25)
    assert ride(drawing, "Alpha", "Beta", asked, day=sunday, days=[saturday, sunday])[0] == found
