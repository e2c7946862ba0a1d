"""Selection of the network that answers (rules A6 and A13)."""

import pytest

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model.place import Bounds, Coordinate, find_centre
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.order import (
    format_swapped_hint,
    list_covering,
    list_networks_at,
    new_uncovered,
    sort_by_preference,
)
from tests.fakes import FakeNetwork


def box(name, west, east, **more):
    return FakeNetwork(name=name, bounds=Bounds(south=-1, west=west, north=1, east=east), **more)


WEST, EAST = box("WEST", 0, 10), box("EAST", 20, 30)
CITY, DEMO = box("CITY", 4, 6), box("DEMO", 4.5, 5.5, is_demo=True)


def at(lon: float) -> Coordinate:
    return Coordinate(0, lon)


def test_preference():
    """A13: by priority, then by area, then by name; demos are last."""
    ordered = sort_by_preference([DEMO, box("B", 0, 10), box("A", 0, 10), CITY, box("LIVE", 0, 20, priority=1)])

    assert [each.name for each in ordered] == ["LIVE", "CITY", "A", "B", "DEMO"]


@pytest.mark.parametrize(
    ("origin", "destination", "name"),
    [(5, 5.2, "CITY"), (5, 9, "WEST"), (21, 29, "EAST"), (0, 10, "WEST"), (20, 30, "EAST")],
)
def test_the_first_network_that_covers_both_ends(origin, destination, name):
    """A13: in order of preference; bounding boxes include their edges."""
    networks = sort_by_preference([WEST, EAST, CITY, DEMO])

    assert list_covering(networks, at(origin), at(destination))[0].name == name


@pytest.mark.parametrize(
    ("origin", "destination", "at_origin", "at_destination", "message"),
    [
        (5, 50, ["CITY", "WEST"], [], "origin lies in CITY, WEST and destination lies outside every network"),
        (50, 25, [], ["EAST"], "origin lies outside every network and destination lies in EAST"),
        (1, 25, ["WEST"], ["EAST"], "origin lies in WEST and destination lies in EAST; no single network covers both"),
        (50, 51, [], [], "origin lies outside every network and destination lies outside every network"),
    ],
)
def test_ends_without_a_common_network_are_refused(origin, destination, at_origin, at_destination, message):
    """A6, P37: the error names the networks at each end, and the hint lists all networks."""
    networks = [CITY, WEST, EAST]
    ends = {"origin": at(origin), "destination": at(destination)}
    where = {side: [each.name for each in list_covering(networks, end)] for side, end in ends.items()}
    error = new_uncovered(networks, where)

    details = {"origin": at_origin, "destination": at_destination, "networks": ["CITY", "WEST", "EAST"]}
    assert (error.message, error.details) == (message, details)
    advice = "Add the feeds of a region as one network: fingerpost network add NAME"
    assert error.hint.startswith(advice) is message.endswith("no single network covers both")
    assert error.hint.endswith(
        "Networks: CITY (lat -1.00 to 1.00, lon 4.00 to 6.00); WEST (lat -1.00 to 1.00, lon 0.00 to 10.00); "
        "EAST (lat -1.00 to 1.00, lon 20.00 to 30.00)"
    )


def test_a_place_is_requested_from_the_networks_that_cover_it():
    chosen = list_networks_at([CITY, WEST], at(9), Ability.STOPS)
    with pytest.raises(RegionUnsupported) as caught:
        list_networks_at([CITY, WEST], at(11), Ability.STOPS)

    assert ([each.name for each in chosen], caught.value.message) == (["WEST"], "coordinate lies outside every network")


def test_a_network_without_the_ability_is_not_queried():
    deaf = box("DEAF", 4, 6, abilities=frozenset({Ability.PLANS}))

    assert [each.name for each in list_networks_at([deaf, WEST], at(5), Ability.STOPS)] == ["WEST"]
    with pytest.raises(RegionUnsupported, match=r"^coordinate lies in DEAF; no stops from DEAF$"):
        list_networks_at([deaf], at(5), Ability.STOPS)


def test_without_networks_the_hint_explains_how_to_add_one():
    with pytest.raises(RegionUnsupported) as caught:
        list_networks_at([], at(5), Ability.STOPS)

    assert caught.value.hint == "No networks are configured. Add one: fingerpost network add NAME FEED.zip"


def test_centre_across_the_date_line():
    """Rule D2: the centre of stops on both sides of the date line lies between them."""
    assert find_centre([at(179.75), at(-179.25)]) == at(-179.75)


@pytest.mark.parametrize(
    ("position", "swapped"),
    [
        (Coordinate(25, 0.5), True),
        (Coordinate(0.5, 25), False),
        (Coordinate(50, 0.5), False),
        (Coordinate(0.5, 170), False),
    ],
)
def test_swapped_positions_are_seen(position, swapped):
    """A6: the position is outside every network, and in EAST if swapped; 170 is not a valid latitude."""
    hint = format_swapped_hint([WEST, EAST], {"origin": position})
    expected = "Latitude and longitude look swapped: origin at lat 0.5, lon 25 lies in EAST"
    assert hint == (expected if swapped else "")


def test_the_error_for_a_swapped_point_has_the_hint():
    """A6."""
    with pytest.raises(RegionUnsupported) as caught:
        list_networks_at([WEST, EAST], Coordinate(25, 0.5), Ability.STOPS)
    assert caught.value.hint.startswith("Latitude and longitude look swapped: coordinate at lat 0.5, lon 25 lies in")
