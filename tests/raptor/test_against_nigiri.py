"""The engine against nigiri on the real Helsinki feed, where both walk the same footpaths (``levelled.py``)."""

import random

import numpy as np
import pytest

from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from tests.raptor.levelled import DAY, FEED, ask_engine, ask_rival, level
from tests.raptor.rival import load_rival
from tests.shared_data import get_shared

pytest.importorskip("pynigiri", reason="pynigiri has no wheel for this platform")

QUESTIONS = 300
# The feed holds one day; past this nigiri's and our horizon may differ.
LAST_ARRIVAL_S = 32 * 3600


@pytest.fixture(scope="module")
def levelled(tmp_path_factory):
    """The feed both engines read, and our timetable of it."""
    path = tmp_path_factory.mktemp("levelled") / "hsl.zip"
    return path, level(get_shared(FEED), path)


@pytest.fixture(scope="module")
def rival(levelled):
    return load_rival(levelled[0])


def test_pareto_sets_of_300_random_questions_are_nigiris(levelled, rival):
    """On the real feed, arrivals and changes of all best journeys are the same, question by question."""
    _, timetable = levelled
    search_timetable = build_search_timetable(timetable, DAY, mirrored=False, step_free=False)
    served = np.unique(search_timetable.patterns.position_stop).tolist()
    ids = list(timetable.stop_local_id)
    dice = random.Random(20220222)
    questions = [(*dice.sample(served, 2), dice.randrange(5 * 3600, 23 * 3600, 60)) for _ in range(QUESTIONS)]
    locations = {stop: rival.find_location(ids[stop]) for question in questions for stop in question[:2]}

    answers = [ask_engine(timetable, search_timetable, *question) for question in questions]
    theirs = [ask_rival(rival, locations, *question) for question in questions]

    assert [[row for row in answer if row[1] <= LAST_ARRIVAL_S] for answer in answers] == [
        [row for row in answer if row[1] <= LAST_ARRIVAL_S] for answer in theirs
    ]
    assert sum(map(bool, theirs)) >= 250
