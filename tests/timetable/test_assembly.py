"""From a draft to a timetable."""

from datetime import date

import numpy as np

from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.draft import ServiceRow, TimetableDraft
from fingerpost.transit.engine.timetable.timetable import Feed

FEED = Feed(name="F", zone="Europe/Helsinki")


def test_the_calendar_spans_all_stated_days():
    services = [
        ServiceRow(0, np.array([date(2026, 3, 1).toordinal()])),
        ServiceRow(0, None),
        ServiceRow(0, np.array([date(2026, 2, day).toordinal() for day in (27, 28)])),
    ]
    table = assemble(TimetableDraft(feeds=[FEED], services=services))
    daily = assemble(TimetableDraft(feeds=[FEED], services=[ServiceRow(0, None)]))

    assert table.calendar_start == date(2026, 2, 27)
    assert table.service_runs_on.tolist() == [[0, 0, 1], [0, 0, 0], [1, 1, 0]]
    assert table.service_every_day.tolist() == [0, 1, 0]
    assert (daily.service_every_day.tolist(), daily.service_runs_on.shape) == ([1], (1, 0))
