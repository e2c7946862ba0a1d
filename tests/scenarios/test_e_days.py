"""Chapter E: days, midnight and clock changes."""

from datetime import date

import pytest

from tests.scenarios.riding import ride

NIGHT = """
line N | Alpha 23:50 | Beta 24:20
line N | Alpha 25:10 | Beta 25:40
"""
MORNING, EVENING = "line A | Alpha 08:00 | Beta 08:10", "line A | Alpha 20:00 | Beta 20:10"
TUESDAY, WEDNESDAY, FRIDAY, MONDAY = (date(2026, 5, day) for day in (5, 6, 8, 11))
# Clocks skip 03:00 to 04:00 on the first, and show 03:00 twice on the second.
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)
BEFORE_AUTUMN = date(2026, 10, 24)
LATE_AND_EARLY = "line N | Alpha 24:10 | Beta 24:20\nline M | Alpha 06:00 | Beta 06:10"


@pytest.mark.parametrize(
    ("drawing", "days", "day", "time", "found"),
    [
        pytest.param(
            NIGHT, (TUESDAY, WEDNESDAY), WEDNESDAY, "00:30", ["Alpha 01:10 N Beta 01:40"],
            id="e01: a trip of yesterday runs after midnight",
        ),
        pytest.param(
            MORNING, (TUESDAY, WEDNESDAY), TUESDAY, "23:00", ["Alpha 08:00 A Beta 08:10"],
            id="e02: the day after is looked at",
        ),
        pytest.param(
            MORNING, (FRIDAY, MONDAY), FRIDAY, "22:00", ["Alpha 08:00 A Beta 08:10"],
            id="e03: days without service are passed over",
        ),
        pytest.param(
            MORNING, (SPRING,), SPRING, "07:00", ["Alpha 08:00 A Beta 08:10"],
            id="e05: a service day begins at noon minus twelve hours when clocks go forward",
        ),
        pytest.param(
            "line A | Alpha 01:00 | Beta 01:10", (SPRING,), SPRING, "00:00", ["Alpha 00:00 A Beta 00:10"],
            id="e06: before that change clocks show an hour less, as the day began an hour before midnight",
        ),
        pytest.param(
            "line A | Alpha 23:00 | Beta 23:10", (AUTUMN,), AUTUMN, "22:00", ["Alpha 23:00 A Beta 23:10"],
            id="e07: when clocks go back the evening is where it belongs",
        ),
        pytest.param(
            LATE_AND_EARLY, (BEFORE_AUTUMN, AUTUMN), AUTUMN, "00:10",
            ["Alpha 00:10 N Beta 00:20", "Alpha 06:00 M Beta 06:10"],
            id="e09: when clocks go back the night before goes on after midnight",
        ),
        pytest.param(
            LATE_AND_EARLY, (BEFORE_AUTUMN, AUTUMN), AUTUMN, "00:11", ["Alpha 06:00 M Beta 06:10"],
            id="e09: an hour before the service day of that day begins",
        ),
    ],
)  # fmt: skip
def test_a_departure_on_another_day_is_found(drawing, days, day, time, found):
    assert ride(drawing, "Alpha", "Beta", time, day=day, days=days) == found


@pytest.mark.parametrize(
    ("drawing", "days", "found"),
    [
        pytest.param(
            EVENING, (TUESDAY, WEDNESDAY), "Alpha 20:00 A Beta 20:10", id="e04: arriving looks at the evening before"
        ),
        pytest.param(
            MORNING, (FRIDAY, MONDAY), "Alpha 08:00 A Beta 08:10", id="e08: days without service are passed over too"
        ),
    ],
)
def test_an_arrival_is_met_by_a_day_before(drawing, days, found):
    assert ride(drawing, "Alpha", "Beta", "07:00", day=days[-1], days=days, arrive_by=True) == [found]
