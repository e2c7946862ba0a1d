"""Scratch memory that is too small is doubled and the search restarts, with the same result."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fingerpost.transit.engine.raptor import arrays
from fingerpost.transit.engine.raptor.search import find_journeys
from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetables
from tests.raptor.asking import query_of, random_question


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
