"""When a text means one place (rules B10 and D2)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.rules.name_matching import Ambiguous, Resolved, decide, in_order
from tests.rules.drawing import DEGREE_M


def match(score: float, north_m: float = 0.0, name: str = "A", distance_m: float | None = None) -> PlaceMatch:
    place = Place(
        name=name, coordinate=Coordinate(60 + north_m / DEGREE_M, 25), kind=PlaceKind.STOP, id=f"T:{name}{north_m}"
    )
    return PlaceMatch(place=place, score=score, distance_m=distance_m)


@pytest.mark.parametrize(("score", "resolved"), [(0.80, True), (0.7999, False), (1.0, True)])
def test_threshold(score, resolved):
    """B10, rule D2, M21: a single candidate resolves at 0.80; below, a set of one is legal."""
    only = match(score)

    assert decide([only]) == (Resolved(only) if resolved else Ambiguous((only,)))


@pytest.mark.parametrize(
    ("score", "north_m", "resolved"),
    [(0.90, 301, False), (0.90, 299, True), (0.88, 301, False), (0.8799, 301, True), (0.88, 299, True)],
)
def test_rivals(score, north_m, resolved):
    """B10, rule D2: a rival is more than 300 m away and no more than 0.02 below the best."""
    best, other = match(0.90), match(score, north_m)

    assert decide([best, other]) == (Resolved(best) if resolved else Ambiguous((best, other)))


def test_a_nearer_place_does_not_hide_the_best():
    """B10: a place that distance put first is no excuse to take it, if a far one fits better."""
    near, best = match(0.79, distance_m=10), match(0.80, 400, distance_m=400)

    assert decide([near, best]) == Ambiguous((near, best))


def test_nothing_to_decide():
    """Rule D2: without candidates there is nothing resolved."""
    assert decide([]) == Ambiguous(())


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        # By score, then by name.
        ([match(0.7, name="A"), match(0.9, name="C"), match(0.9, name="B")], "B C A"),
        # Within 0.02 of the best of the band the nearer goes first ...
        ([match(0.90, name="A", distance_m=50), match(0.88, name="B", distance_m=20)], "B A"),
        # ... beyond, the better.
        ([match(0.90, name="A", distance_m=50), match(0.8799, name="B", distance_m=20)], "A B"),
        # At equal score and distance, by name.
        ([match(0.9, name="B", distance_m=5), match(0.9, name="A", distance_m=5)], "A B"),
    ],
)
def test_order(matches, expected):
    """Rule D2: score, distance within 0.02, name."""
    assert " ".join(each.place.name for each in in_order(matches)) == expected


SCORES = st.sampled_from([0.6, 0.78, 0.8, 0.82, 0.84, 1.0])


@settings(deadline=None)
@given(st.lists(st.builds(match, SCORES, st.sampled_from([0.0, 200.0, 400.0]), st.sampled_from("AB")), max_size=8))
def test_order_does_not_depend_on_the_input(matches):
    """Rule D2: reversed input gives the same order."""
    actual = [[(each.score, each.place.token) for each in in_order(given)] for given in (matches, matches[::-1])]

    assert actual[0] == actual[1]
