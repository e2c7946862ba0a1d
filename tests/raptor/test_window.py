"""A departure window, latest start first: an earlier start searches only what later starts did not improve."""

import numpy as np

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.raptor.arrays import KernelQuery
from fingerpost.transit.engine.raptor.kernel import UNREACHED
from fingerpost.transit.engine.raptor.search import run_kernel
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from tests.realtime.messages import DAY, at

ONE_RIDE = 1


def _ways(timetable, access, egress, since, until):
    """Return (leave, arrive) of the best journeys of one ride that leave in a time; ends are {stop: walk_s}."""
    stops = {name: row for row, name in enumerate(timetable.stop_name)}
    near, far = ((np.array([stops[name] for name in end], np.int32), np.array(list(end.values()), np.int32))
                 for end in (access, egress))  # fmt: skip
    search_timetable = build_search_timetable(timetable, DAY, is_reverse=False, step_free=False)
    query = KernelQuery(
        *near, near[1], *far, far[1], search_timetable.to_search_s(at(since)), search_timetable.to_search_s(at(until)),
        int(UNREACHED) - 1, int(UNREACHED), ONE_RIDE, 10**6,
    )  # fmt: skip
    start = search_timetable.start
    found = [(start + row.leave_s, start + row.arrive_s) for row in run_kernel(search_timetable, query)]
    return sorted(way for way in found if way[0] < at(until))


def test_boarding_before_a_later_start_alights_at_its_boarding():
    """To Beta, who leaves at 08:00 boards at Alpha; for Gamma, who leaves at 08:02 walks to Beta and boards there.

    Both sit in the same trip. The later start has ridden it from Beta on, which does not say who gets off there.
    """
    table = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:12 | Gamma 08:20")

    assert _ways(table, {"Alpha": 0, "Beta": 600}, {"Beta": 60, "Gamma": 30}, "07:50", "08:30") == [
        (at("08:00"), at("08:13")),
        (at("08:02"), at("08:20") + 30),
    ]


def test_an_earlier_trip_is_found_again():
    table = timetable_from_drawing(
        """
        line A | Alpha 08:00 | Beta 08:12 | Gamma 08:20
        line A | Alpha 08:10 | Beta 08:22 | Gamma 08:30
        """
    )

    assert _ways(table, {"Alpha": 0, "Beta": 600}, {"Gamma": 0}, "07:50", "08:30") == [
        (at("08:02"), at("08:20")),
        (at("08:12"), at("08:30")),
    ]
