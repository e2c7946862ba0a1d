"""Which of the things around a position names it."""

import pytest

from fingerpost.transit.model.place import Coordinate, PlaceKind
from fingerpost.transit.rules.geocoder_matches import NearName, find_position_name

HERE = Coordinate(60.0, 25.0)
# North of the position: one degree of latitude is 111,195 m.
DEGREE_M = 111_195.0


def near(name, metres, **more):
    return NearName(name=name, coordinate=Coordinate(60.0 + metres / DEGREE_M, 25.0), **more)


def named(*told):
    place = find_position_name(HERE, told)
    return None if place is None else place.name


def test_what_is_nearest_names_a_position():
    """Whatever it is."""
    assert named(near("Square", 100), near("Stop", 40), near("Park", 41)) == "Stop"


@pytest.mark.parametrize(("metres", "name"), [(59, "Street 5"), (61, "Stop")])
def test_an_address_on_the_spot_goes_before_what_is_nearer(metres, name):
    """A stop lies before the door."""
    assert named(near("Stop", 10), near("Street 5", metres, is_address=True)) == name


@pytest.mark.parametrize(("metres", "name"), [(249, "Stop"), (251, None)])
def test_what_is_far_names_nothing(metres, name):
    """A lake is not the village behind it."""
    assert named(near("Stop", metres)) == name


def test_nothing_near_and_names_without_letters_name_nothing():
    """The caller shows the position itself."""
    assert (named(), named(near(" ", 5))) == (None, None)


def test_the_place_stands_where_the_position_is():
    """The name is another's, the position is not moved; what must be shown with it travels along."""
    place = find_position_name(HERE, [near("Street 5", 50, locality="Town")], ["Whoever"])

    assert place is not None
    assert (place.coordinate, place.kind, place.id, place.locality, place.attribution) == (
        HERE,
        PlaceKind.ADDRESS,
        None,
        "Town",
        ("Whoever",),
    )
