"""Warming reaches every kernel that a question can need, and kernels that stand twice are the same."""

import inspect
from datetime import UTC, datetime

from fingerpost.transit.engine.demo.catalogue import build_demo
from fingerpost.transit.engine.raptor.board import list_board_departures
from fingerpost.transit.engine.raptor.endpoints import find_endpoint
from fingerpost.transit.engine.raptor.kernel import lower_bounds, mcraptor, patterns, range_raptor, transfer_points
from fingerpost.transit.engine.raptor.search import SearchQuery, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.cache import SearchTimetables
from fingerpost.transit.engine.raptor.warming import warm_kernels

# Kernels that only other kernels call.
INNER = {"list_boardings"}


def _signatures():
    return {
        name: len(kernel.signatures)
        for module in (lower_bounds, patterns, mcraptor, range_raptor, transfer_points)
        for name, kernel in vars(module).items()
        if hasattr(kernel, "signatures") and not name.startswith("_") and name not in INNER
    }


def test_every_kernel_that_python_calls_is_there_after_warming():
    """Eleven kernels, each compiled or loaded."""
    warm_kernels()

    signatures = _signatures()
    assert len(signatures) == 11
    assert [name for name, count in signatures.items() if count == 0] == []


def test_a_question_after_warming_compiles_nothing():
    """Trips there and back, near the walking limit, and a board: the demo's arrays are of the warmed types."""
    warm_kernels()
    before = _signatures()
    timetable = build_demo("DEMO-HELSINKI")
    search_timetables = SearchTimetables(timetable)
    instant = int(datetime(2026, 5, 6, 8, tzinfo=UTC).timestamp())
    for arrive_by in (False, True):
        for limit in (1500, 500):
            ends = [find_endpoint(timetable, lat, lon, [], limit) for lat, lon in ((60.17, 24.93), (60.20, 24.96))]
            query = SearchQuery(
                origin=ends[0], destination=ends[1], instant=instant, arrive_by=arrive_by,
                max_rides=5, max_walk_m=limit, step_free=arrive_by, wanted=2,
            )  # fmt: skip
            find_journeys(timetable, search_timetables, query)
    day = datetime(2026, 5, 6, tzinfo=UTC).date()
    list_board_departures(
        timetable, search_timetables.get_search_timetable(day, mirrored=False, step_free=False), [0], instant, 3600
    )

    assert _signatures() == before


def test_kernels_that_stand_in_two_files_are_the_same():
    """Kernels call none of another file; these four would else differ some day."""
    twice = [
        name for name in vars(mcraptor) if hasattr(vars(mcraptor)[name], "py_func") and hasattr(range_raptor, name)
    ]

    assert sorted(twice) == ["_can_improve", "_enqueue", "_first_instance", "_least_s"]
    for name in twice:
        one, other = (inspect.getsource(getattr(module, name).py_func) for module in (mcraptor, range_raptor))
        assert one == other
