"""Names of places and letters of poles (rule D2)."""

import pytest

from fingerpost.transit.rules.name_matching import Resolved, decide
from fingerpost.transit.rules.place_groups import part_name
from fingerpost.transit.rules.place_index import PlaceIndex
from tests.rules.drawing import stop_at


@pytest.mark.parametrize(
    ("name", "place", "pole"),
    [
        ("Keskustori C", "Keskustori", "C"),
        ("Keskustori (platform C)", "Keskustori", "C"),
        ("Kamppi, platform 2", "Kamppi", "2"),
        ("Kamppi laituri 12", "Kamppi", "12"),
        ("Central Station Bay C", "Central Station", "C"),
        # A sign, a house, a terminal, a corner and a word are no poles.
        ("Kalasatama (M)", "Kalasatama (M)", ""),
        ("Satamakatu 18", "Satamakatu 18", ""),
        ("Terminal 2", "Terminal 2", ""),
        ("Terminal B", "Terminal B", ""),
        ("OCEAN AV/AVENUE X", "OCEAN AV/AVENUE X", ""),
        ("Pohjoinen th", "Pohjoinen th", ""),
        ("Platform 2", "Platform 2", ""),
        ("Keskustori c", "Keskustori c", ""),
        ("", "", ""),
    ],
)
def test_a_name_is_a_place_and_a_pole(name, place, pole):
    """D2: what tells poles apart is parted from the name, what names another place is not."""
    assert part_name(name)[:2] == (place, pole)


def found(index, text):
    return [(match.place.name, match.place.id, match.place.member_ids) for match in index.search(text)]


TORI = [stop_at("T:A", "Tori A"), stop_at("T:B", "Tori B", 90), stop_at("T:C", "Tori C", 180)]


@pytest.mark.parametrize("text", ["tori", "Tori A", "tori c"])
def test_lettered_poles_are_one_place(text):
    """D2: whichever pole is named, the place of all is meant."""
    assert found(PlaceIndex(TORI), text) == [("Tori", "T:B", ("T:A", "T:B", "T:C"))]


def test_a_stop_without_a_letter_belongs_to_them():
    """D2: Tori itself, near Tori A."""
    index = PlaceIndex([stop_at("T:0", "Tori", 40), *TORI[:1]])
    assert found(index, "tori") == [("Tori", "T:0", ("T:0", "T:A"))]


@pytest.mark.parametrize(("apart_m", "expected"), [(299, 1), (301, 2)])
def test_poles_further_apart_are_places_of_their_own(apart_m, expected):
    """D2: 299 m is one place, 301 m two, each of which keeps its letter."""
    index = PlaceIndex([stop_at("T:A", "Tori A"), stop_at("T:B", "Tori B", apart_m)])
    assert len({place.id for place in index.list_places()}) == expected
    assert {place.name for place in index.list_places()} == ({"Tori"} if expected == 1 else {"Tori A", "Tori B"})


def test_corners_that_differ_by_a_letter_stay_apart():
    """D2: two stops at the corner of Parade A and two at that of Parade B: the letters tell places apart."""
    corners = [stop_at(f"T:{letter}{side}", f"Parade {letter}", metres + 20 * side)
               for letter, metres in (("A", 0), ("B", 150)) for side in (0, 1)]  # fmt: skip
    assert [place.member_ids for place in PlaceIndex(corners).list_places()] == [("T:A0", "T:A1"), ("T:B0", "T:B1")]


def test_the_token_of_any_member_means_the_place():
    """D2: as a label a pole's id means the place; as an id it means the pole."""
    index = PlaceIndex(TORI)
    assert {index.find_place_of(stop.id).id for stop in TORI} == {"T:B"}
    assert index.find_stop("T:C").member_ids == ("T:C",)


def test_a_place_stands_at_its_nearest_stop_and_the_others_cost_a_walk():
    """D2: no pole outside a station is reached for nothing."""
    (place,) = PlaceIndex(TORI).list_places()
    assert (place.coordinate, place.zero_walk_ids) == (TORI[1].coordinate, ("T:B",))


def test_a_mixed_place_stands_at_its_station():
    """D2: the platforms of the station cost no walk, the stop in the street does."""
    station = stop_at("T:S", "Pasila", 40, kind="station")
    platforms = [stop_at(f"T:{number}", "Pasila", 90 * number, parent_id="T:S") for number in (0, 1)]
    (place,) = PlaceIndex([station, *platforms, stop_at("T:9", "Pasila", 200)]).list_places()
    assert (place.coordinate, place.zero_walk_ids) == (station.coordinate, ("T:0", "T:1"))
    assert place.member_ids == ("T:0", "T:1", "T:9")


def test_a_station_without_platforms_is_no_position():
    """D2: nobody boards at it, so the nearest stop is where the place stands."""
    stops = [stop_at("T:S", "Asema", 200, kind="station"), stop_at("T:1", "Asema")]
    (place,) = PlaceIndex(stops).list_places()
    assert (place.coordinate, place.zero_walk_ids) == (stops[1].coordinate, ("T:1",))


def test_poles_are_told_apart_only_where_they_are_poles():
    """D2: a place of one lettered name has no poles to tell apart."""
    index = PlaceIndex([*TORI, stop_at("T:X", "Malcolm X", 5000)])
    assert [index.find_pole(stop_id) for stop_id in ("T:A", "T:X")] == ["A", None]


def test_a_place_of_lettered_poles_resolves():
    """B10, D2: the name without a letter is exact, and has no rival."""
    decision = decide(PlaceIndex(TORI).search("tori"))
    assert isinstance(decision, Resolved)
    assert decision.match.score == 1.0


def test_stops_that_bear_a_stations_name_are_one_place_with_it():
    """D2: trains stop at Kylä, whose station is Kylän asema; buses stop at Kylän asema: one place, one token."""
    station = stop_at("T:S", "Kylän asema", 0, kind="station")
    train = stop_at("T:1", "Kylä", 10, parent_id="T:S")
    index = PlaceIndex([station, train, stop_at("T:9", "Kylän asema", 120)])
    expected = [("Kylän asema", "T:S", ("T:1", "T:9"))]
    assert (found(index, "kylä")[:1], found(index, "kylän asema")) == (expected, expected)
    assert {index.find_place_of(stop_id).id for stop_id in ("T:S", "T:1", "T:9")} == {"T:S"}
    assert index.find_stop("T:S").member_ids == ("T:1",)
