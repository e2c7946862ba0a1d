"""The trips of a search timetable: they share stop times until one of them changes."""

from datetime import date

import numpy as np
import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.raptor.search_timetable.trip_instances import gather_trip_instances
from fingerpost.transit.engine.timetable.service_days import find_service_day_start

DAY = date(2026, 3, 3)


def instances_of(drawing):
    table = timetable_from_drawing(drawing)
    start = find_service_day_start(DAY, table.feeds[0].zone)
    return gather_trip_instances(table, DAY, start, 0, 2 * 86_400), table


def times(instances):
    return sorted(
        (instances.departure_s[rows] // 60 + instances.shift_s[index] // 60).tolist()
        for index in range(instances.count)
        for rows in [instances.list_rows(np.array([index]))]
    )


def test_a_trip_of_two_days_is_there_once():
    instances, table = instances_of("line A | B 08:00 | C 08:10")

    assert instances.stop is table.stop_time_stop
    assert times(instances) == [[480, 490], [1920, 1930]]


def test_rows_of_one_instance_change_only_that_instance():
    instances, table = instances_of("line A | B 08:00 | C 08:10")
    tomorrow = np.flatnonzero(instances.begins_s > 86_400)
    late = instances.unshare_rows(tomorrow)
    late.departure_s[late.list_rows(tomorrow)] += 600

    assert times(late) == [[480, 490], [1930, 1940]]
    assert times(instances) == [[480, 490], [1920, 1930]]
    assert table.stop_time_departure_s.tolist() == [8 * 3600, 8 * 3600 + 600]


@pytest.mark.parametrize(("kept", "rows"), [(4, 4), (1, 2)], ids=["no more rows than calls", "one left of two"])
def test_compact_drops_unused_fields_only_if_that_saves_rows(kept, rows):
    instances, _ = instances_of("line A | B 08:00 | C 08:10\nline D | B 09:00 | C 09:10")
    few = instances.take(np.arange(kept))

    assert instances.count == 4
    assert len(few.compact().stop) == rows
    assert times(few.compact()) == times(few)
