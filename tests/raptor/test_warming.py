"""Warming up loads every kernel that a query can need."""

from datetime import UTC, datetime

from fingerpost.apps.warm_up import load_kernels
from fingerpost.transit.engine.demo import open_demo
from fingerpost.transit.engine.raptor.journeys import list_board_departures
from fingerpost.transit.engine.raptor.kernel import patterns, range_raptor, search
from fingerpost.transit.engine.raptor.search import find_endpoint, find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from fingerpost.transit.kernel_mode import entry
from fingerpost.transit.osm.streets import kernel
from tests.raptor.asking import query_of
from tests.streets.towns import Town

MODULES = (patterns, range_raptor, search, kernel)


def _signatures():
    return {
        name: len(value.compiled.signatures)
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, entry)
    }


def test_every_kernel_that_python_calls_is_there_after_loading():
    load_kernels()

    signatures = _signatures()
    assert len(signatures) == 10
    assert [name for name, count in signatures.items() if count == 0] == []


def test_a_query_after_loading_compiles_nothing(tmp_path):
    load_kernels()
    before = _signatures()
    timetable = open_demo("DEMO-HELSINKI")
    search_timetables = SearchTimetables(timetable)
    instant = int(datetime(2026, 5, 6, 8, tzinfo=UTC).timestamp())
    for arrive_by in (False, True):
        for limit in (1500, 500):
            ends = [find_endpoint(timetable, lat, lon, [], limit) for lat, lon in ((60.17, 24.93), (60.20, 24.96))]
            query = query_of(*ends, instant, 5, limit, arrive_by=arrive_by, step_free=arrive_by)
            find_journeys(timetable, search_timetables, query)
    day = datetime(2026, 5, 6, tzinfo=UTC).date()
    list_board_departures(
        timetable, search_timetables.get_search_timetable(day, is_reverse=False, step_free=False), [0], instant, 3600
    )
    town = Town("A-+s+-B", tmp_path)
    town.walk("A", "B", 1000)
    town.line("A", "B")

    assert _signatures() == before
