"""Which network answers (rulings A6 and A13)."""

from dataclasses import dataclass

import pytest

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model import Bounds, Coordinate
from fingerpost.transit.rules.distance import centre_of, distance_m, is_same_point
from fingerpost.transit.rules.networks import by_preference, get_network_at, get_network_between


@dataclass(frozen=True)
class Box:
    """A network that covers degrees ``west`` to ``east`` on the equator."""

    name: str
    west: float
    east: float
    is_demo: bool = False

    @property
    def bounds(self) -> Bounds:
        return Bounds(south=-1, west=self.west, north=1, east=self.east)


WEST, EAST = Box("WEST", 0, 10), Box("EAST", 20, 30)
CITY, DEMO = Box("CITY", 4, 6), Box("DEMO", 4.5, 5.5, is_demo=True)


def at(lon: float) -> Coordinate:
    return Coordinate(0, lon)


def test_preference():
    """A13: an added network beats the demo, however small that is; then the smaller area wins, then the name."""
    ordered = by_preference([DEMO, Box("B", 0, 10), Box("A", 0, 10), CITY])

    assert [each.name for each in ordered] == ["CITY", "A", "B", "DEMO"]


@pytest.mark.parametrize(
    ("origin", "destination", "name"),
    [(5, 5.2, "CITY"), (5, 9, "WEST"), (21, 29, "EAST"), (0, 10, "WEST"), (20, 30, "EAST")],
)
def test_the_first_network_that_covers_both_ends(origin, destination, name):
    """A13: in order of preference; the edge of a box belongs to it."""
    networks = by_preference([WEST, EAST, CITY, DEMO])

    assert get_network_between(networks, at(origin), at(destination)).name == name


@pytest.mark.parametrize(
    ("origin", "destination", "message", "details"),
    [
        (
            5,
            50,
            "origin lies in CITY, WEST and destination lies outside every network",
            {"origin": ["CITY", "WEST"], "destination": []},
        ),
        (
            50,
            25,
            "origin lies outside every network and destination lies in EAST",
            {"origin": [], "destination": ["EAST"]},
        ),
        (
            1,
            25,
            "origin lies in WEST and destination lies in EAST; no one network covers both",
            {"origin": ["WEST"], "destination": ["EAST"]},
        ),
        (
            50,
            51,
            "origin lies outside every network and destination lies outside every network",
            {"origin": [], "destination": []},
        ),
    ],
)
def test_ends_that_no_network_joins(origin, destination, message, details):
    """A6, P37: the error says where each end lies, and the hint which networks there are."""
    with pytest.raises(RegionUnsupported) as caught:
        get_network_between([CITY, WEST, EAST], at(origin), at(destination))

    error = caught.value
    assert (error.message, error.details) == (message, {**details, "networks": ["CITY", "WEST", "EAST"]})
    assert error.hint == (
        "Networks: CITY (lat -1.00 to 1.00, lon 4.00 to 6.00); WEST (lat -1.00 to 1.00, lon 0.00 to 10.00); "
        "EAST (lat -1.00 to 1.00, lon 20.00 to 30.00)"
    )


def test_one_place():
    """A6, A13: a single place is chosen for by the same rule, and named as the caller calls it."""
    chosen = get_network_at([CITY, WEST], at(9)).name
    with pytest.raises(RegionUnsupported) as caught:
        get_network_at([CITY, WEST], at(11), end="the stop")

    assert (chosen, caught.value.message) == ("WEST", "the stop lies outside every network")


def test_no_network_at_all():
    """A6: without networks the hint says how to add one."""
    with pytest.raises(RegionUnsupported) as caught:
        get_network_at([], at(5))

    assert caught.value.hint == "There is no network. Add one: fingerpost network add NAME FEED.zip"


@pytest.mark.parametrize(("north_m", "same"), [(0.99, True), (1.01, False)])
def test_identical_points(north_m, same):
    """A6, P17: a metre or less apart is one point."""
    assert is_same_point(Coordinate(60, 25), Coordinate(60 + north_m / 111_195.08, 25)) is same


def test_distance():
    """A degree of the equator on a sphere of the mean radius: 6371008.8 m times pi over 180."""
    assert round(distance_m(at(179.5), at(-179.5)), 1) == 111195.1


def test_centre_across_the_date_line():
    """D2: the centre of stops on both sides of the date line lies between them."""
    assert centre_of([at(179.75), at(-179.25)]) == at(-179.75)
