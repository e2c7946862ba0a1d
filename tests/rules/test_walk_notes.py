"""What walks cross and climb, as sentences (rule B9)."""

from dataclasses import replace

import pytest

from fingerpost.transit.model.itinerary import Access
from fingerpost.transit.model.walk_obstacles import WalkObstacles
from fingerpost.transit.rules.accessibility import list_walk_notes, weakest_link
from tests.rules.drawing import ride, trip, walk


@pytest.mark.parametrize(
    ("met", "said"),
    [
        (WalkObstacles(crossings=1), ["The walk from home to A crosses a road."]),
        (WalkObstacles(crossings=3, lifts=1), ["The walk from home to A crosses 3 roads and takes a lift."]),
        (
            WalkObstacles(lifts=2, slopes=1, unknown_kerbs=2),
            ["The walk from home to A takes 2 lifts, goes up or down a slope and meets 2 kerbs of unknown height."],
        ),
        (
            WalkObstacles(slopes=2, unknown_kerbs=1),
            ["The walk from home to A goes up or down 2 slopes and meets a kerb of unknown height."],
        ),
        (WalkObstacles(), []),
        (None, []),
    ],
)
def test_each_walk_of_which_something_is_known_has_a_sentence(met, said):
    """A ride, and a walk of which nothing is known or nothing is met, has none."""
    itinerary = trip(replace(walk("home", "A", 0, 5, 300), obstacles=met), ride("7", "A", "B", 5, 15))

    assert list_walk_notes(itinerary) == said


@pytest.mark.parametrize(
    ("access", "met", "weakest"),
    [
        (Access.NO, None, (Access.NO, "the walk from home to A")),
        (Access.UNKNOWN, WalkObstacles(unknown_kerbs=1), (Access.UNKNOWN, "a kerb on the walk from home to A")),
        (Access.UNKNOWN, WalkObstacles(crossings=1), (Access.YES, "A")),
        (Access.UNKNOWN, None, (Access.YES, "A")),
    ],
)
def test_steps_and_kerbs_of_a_walk_are_links_of_the_way(access, met, weakest):
    """Where the vehicle and both stops are step-free, a walk is judged by what it is known to meet."""
    step_free = ride("7", "A", "B", 5, 15, wheelchair=Access.YES)
    step_free = replace(
        step_free,
        start=replace(step_free.start, wheelchair=Access.YES),
        end=replace(step_free.end, wheelchair=Access.YES),
    )
    way = replace(walk("home", "A", 0, 5, 300), wheelchair=access, obstacles=met)

    assert weakest_link(trip(way, step_free)) == weakest
