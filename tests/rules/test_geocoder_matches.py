"""Scores, order and names of a geocoder's candidates (rules B10 and D2)."""

import pytest

from fingerpost.transit.model.place import Coordinate, Place, PlaceKind
from fingerpost.transit.remote.kit.places import match_places, score_spellings
from tests.rules.drawing import DEGREE_M


def at_north(metres: float) -> Coordinate:
    return Coordinate(60 + metres / DEGREE_M, 25.0)


def stop(name: str, north_m: float = 0.0) -> Place:
    return Place(
        id=f"T:{name}", name=name, coordinate=at_north(north_m), kind=PlaceKind.STOP, member_ids=(f"T:{name}",)
    )


def address(name: str, north_m: float = 0.0) -> Place:
    return Place(id=None, name=name, coordinate=at_north(north_m), kind=PlaceKind.ADDRESS)


@pytest.mark.parametrize(
    ("spellings", "score"),
    # The best spelling counts.
    [(["kamppi"], 1.0), (["fredrikinkatu", "kamppi"], 1.0), (["turku"], 0.0), ([], 0.0)],
)
def test_the_best_spelling_decides_the_score(spellings, score):
    assert score_spellings("kamppi", [spellings, ["kamppi"]]) == [score, 1.0]


def test_candidates_without_names_match_nothing():
    assert score_spellings("kamppi", [[], []]) == [0.0, 0.0]


def test_every_place_appears_once_with_its_best_score():
    matches = match_places([stop("A"), stop("A"), stop("B"), stop("A")], [0.7, 0.9, 0.8, 0.6], None)

    assert [(each.place.name, each.score, each.distance_m) for each in matches] == [("A", 0.9, None), ("B", 0.8, None)]


def test_distances_are_from_the_caller():
    [match] = match_places([stop("A", 500)], [0.9], at_north(0))

    assert round(match.distance_m) == 500


@pytest.mark.parametrize(("north_m", "names"), [(299, ["Kamppi"]), (301, ["Kamppi", "Kamppi"])])
def test_an_address_with_a_stops_name_next_to_it_is_the_stop(north_m, names):
    matches = match_places([stop("Kamppi"), address("Kamppi", north_m)], [0.9, 0.95], None)

    assert [each.place.name for each in matches] == names
    assert PlaceKind.STOP in {each.place.kind for each in matches}


def test_an_address_with_another_name_stays_next_to_a_stop():
    places = [stop("Kamppi"), address("Kamppi"), address("Kampinkuja")]

    assert [each.place.name for each in match_places(places, [0.7, 0.9, 0.8], None)] == ["Kampinkuja", "Kamppi"]
