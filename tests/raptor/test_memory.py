"""Scratch memory that is too small is doubled, and the search begins again; nobody notices."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from fingerpost.transit.raptor import memory
from fingerpost.transit.raptor.ends import find_end
from fingerpost.transit.raptor.search import Wish, find_journeys
from fingerpost.transit.raptor.slices import Slices
from fingerpost.transit.timetable.service_days import service_day_start
from tests.raptor.networks import DAY, LAT, LON, random_timetable


@pytest.fixture
def grown(monkeypatch):
    """How often memory grew."""
    times = []
    grow = memory.Memory.grow
    monkeypatch.setattr(memory.Memory, "grow", lambda self: (times.append(1), grow(self)))
    return times


def _ask(question):
    """Answer in a thread that has asked nothing before."""
    with ThreadPoolExecutor(1) as fresh:
        return set(fresh.submit(find_journeys, *question).result())


def test_a_search_without_room_begins_again_and_answers_the_same(grown, monkeypatch):
    """Two hundred random questions with much to walk: with room for one journey, and for 256."""
    total = 0
    for seed in range(200):
        dice = random.Random(seed)
        timetable = random_timetable(seed)
        limit_m = dice.choice([600, 1500])
        ends = [
            find_end(timetable, LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06), [], limit_m) for _ in "ab"
        ]
        wish = Wish(
            origin=ends[0], destination=ends[1], arrive_by=dice.random() < 0.5,
            instant=service_day_start(DAY, timetable.feeds[0].zone) + dice.randrange(5 * 3600, 22 * 3600),
            max_rides=dice.choice([2, 5]), max_walk_m=limit_m, step_free=False, wanted=5,
        )  # fmt: skip
        question = timetable, Slices(timetable), wish
        expected = _ask(question)
        assert not grown
        with monkeypatch.context() as small:
            small.setattr(memory, "JOURNEYS", 1)
            small.setattr(memory, "LABELS_PER_JOURNEY", 16)
            assert _ask(question) == expected, seed
        total += len(grown)
        grown.clear()
    assert total > 100
