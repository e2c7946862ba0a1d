"""Scratch memory that is too small is doubled and the search restarts, with the same result."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.raptor import arrays
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables, build_search_timetable
from tests.raptor.asking import query_of, random_question
from tests.realtime.messages import DAY


@pytest.fixture
def grown(monkeypatch):
    times = []
    grow = arrays.SearchBuffers.grow
    monkeypatch.setattr(arrays.SearchBuffers, "grow", lambda self: (times.append(1), grow(self)))
    return times


def _ask(question):
    with ThreadPoolExecutor(1) as fresh:
        return set(fresh.submit(find_journeys, *question).result())


def test_a_search_without_memory_restarts_and_returns_the_same(grown, monkeypatch):
    total = 0
    for seed in range(300):
        timetable, *asked = random_question(seed)
        question = timetable, SearchTimetables(timetable), query_of(*asked, arrive_by=seed % 2 == 0, window_s=8 * 3600)
        expected = _ask(question)
        assert not grown
        with monkeypatch.context() as small:
            small.setattr(arrays, "INITIAL_JOURNEYS", 1)
            small.setattr(arrays, "INITIAL_LABELS", 16)
            assert _ask(question) == expected, seed
        total += len(grown)
        grown.clear()
    assert total > 100


def test_grown_buffers_stay_when_the_search_timetable_changes():
    many = timetable_from_drawing(
        """
        line 1 | Alpha 08:00 | Beta 08:10 | Gamma 08:20
        line 2 | Gamma 09:00 | Beta 09:10
        """
    )
    long = timetable_from_drawing("line 1 | Alpha 08:00 | Beta 08:10 | Gamma 08:20 | Beta 08:30 | Alpha 08:40")
    search_timetables = [
        build_search_timetable(table, DAY, is_reverse=False, step_free=False) for table in (many, long)
    ]
    assert [
        (search_timetable.pattern_count, search_timetable.longest_pattern) for search_timetable in search_timetables
    ] == [(2, 3), (1, 5)]

    with ThreadPoolExecutor(1) as fresh:
        own = fresh.submit(arrays.get_thread_buffers, search_timetables[0], 3).result()
        own.grow()
        size = len(own.labels.row), len(own.found.journey)
        again = [
            fresh.submit(arrays.get_thread_buffers, search_timetable, 3).result()
            for search_timetable in (*reversed(search_timetables), search_timetables[1])
        ]

    assert all(each is own for each in again)
    assert (own.pattern_count, own.longest_pattern, len(own.work.queue)) == (2, 5, 2)
    assert (len(own.labels.row), len(own.found.journey)) == size
