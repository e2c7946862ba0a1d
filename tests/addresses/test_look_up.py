"""Looking up the contents of a drawn extract, by text (rule D2) and by position."""

from itertools import product

import pytest

from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.name_matching import find_certain, sort_matches
from tests.addresses.drawn import house, node, opened_index, way

# A thousandth of a degree is 111 m from south to north, and 53 m from west to east at this latitude.
#
#   61.500                 Kalevan kirkko
#   61.499   4 . . 10 . . . . 16          even numbers of Hämeenkatu, at 23.760, 23.762, 23.768
#   61.498   ====Hämeenkatu==== (23.760 to 23.770, 530 m)
#   61.497       5                        the only odd number, at 23.762
#
#   61.300   ====Hämeenkatu==== of Lempäälä, 22 km away, and there number 4
MAIN = "Hämeenkatu"
TOWN = [
    way((61.498, 23.760), (61.498, 23.765), highway="primary", name=MAIN, name_fi=MAIN, name_sv="Tavastgatan"),
    way((61.498, 23.765), (61.498, 23.770), highway="primary", name=MAIN, name_fi=MAIN, old_name="Vanhakatu"),
    house(61.499, 23.760, MAIN, "4"),
    house(61.499, 23.762, MAIN, "10"),
    house(61.499, 23.768, MAIN, "16"),
    house(61.497, 23.762, MAIN, "5"),
    house(61.4971, 23.764, MAIN, "7 B", amenity="cafe", name="Café Europa"),
    node(61.5, 23.765, amenity="place_of_worship", name="Kalevan kirkko", name_fi="Kalevan kirkko",
         name_en="Kaleva Church", alt_name="Sielujen siilo", addr_city="Tampere"),
    node(61.498, 23.7605, place="city", name="Tampere", name_fi="Tampere", name_sv="Tammerfors"),
    way((61.3, 23.760), (61.3, 23.770), highway="residential", name=MAIN, name_fi=MAIN),
    house(61.301, 23.760, MAIN, "4", city="Lempäälä"),
    house(61.302, 23.760, "Ryynikantie", "1", city="Lempäälä"),
    house(61.303, 23.760, "Ryynikantie", "2", city="Lempäälä"),
    # Not to be found: the timetable has stops, and nobody looks up traffic signs or routes.
    node(61.4985, 23.761, highway="bus_stop", name="Pysäkkinen"),
    node(61.4986, 23.761, traffic_sign="city_limit", name="Kylttinen"),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened_index(tmp_path_factory.mktemp("town"), TOWN) as opened:
        yield opened


def search(index, text, language=None, focus=None):
    return sort_matches(index.list_matches(text, language, focus))


def first(index, text, **asked):
    match = search(index, text, **asked)[0]
    return match.place.name, match.score


def spot(place):
    return round(place.coordinate.lat, 4), round(place.coordinate.lon, 4)


@pytest.mark.parametrize(
    ("text", "name", "score"),
    [
        # another case, no accents, another language, an old name
        ("KALEVAN KIRKKO", "Kalevan kirkko", 1.0),
        ("cafe europa", "Café Europa", 1.0),
        ("Kaleva Church", "Kalevan kirkko", 1.0),
        ("Sielujen siilo", "Kalevan kirkko", 0.985),
        ("Vanhakatu", "Hämeenkatu", 0.95),
        # endings
        ("Kalevan kirkolla", "Kalevan kirkko", 0.97),
        ("kalevan kirkkoon", "Kalevan kirkko", 0.97),
        # one letter wrong, one too few, one too many, two changed about
        ("Kalevan kirkka", "Kalevan kirkko", 0.7677),
        ("Kalevn kirkko", "Kalevan kirkko", 0.7696),
        ("Kalevvan kirkko", "Kalevan kirkko", 0.7739),
        ("Klaevan kirkko", "Kalevan kirkko", 0.7677),
        # its kind
        ("kirkko", "Kalevan kirkko", 0.79),
    ],
)  # fmt: skip
def test_a_place_is_found_as_people_type_it(index, text, name, score):
    """D2: scores are those that a stop of that name would have."""
    assert first(index, text) == (name, score)


def test_a_misspelt_street_is_found_among_a_thousand_with_the_same_ending(tmp_path):
    """Trigrams that are in most names, such as -kat- and -atu-, are not looked up."""
    syllables = ["ka", "lo", "mi", "nu", "pe", "ri", "sa", "to", "vy", "hä", "ju"]
    names = ["".join(parts).capitalize() + "katu" for parts in product(syllables, repeat=3)]
    streets = [
        way((61 + row / 1000, 23.76), (61 + row / 1000, 23.77), highway="residential", name=name)
        for row, name in enumerate(names)
    ]
    with opened_index(tmp_path, streets) as opened:
        assert first(opened, "Vyhäjjukatu")[0] == "Vyhäjukatu"


@pytest.mark.parametrize(
    ("text", "name", "at", "guess"),
    [
        ("Hämeenkatu 10, Tampere", "Hämeenkatu 10", (61.499, 23.762), None),
        ("hameenkatu 10 tampere", "Hämeenkatu 10", (61.499, 23.762), None),
        ("Hämeenkadulta 10:stä, 33100 Tampere", "Hämeenkatu 10", (61.499, 23.762), None),
        ("Tavastgatan 10 Tammerfors", "Hämeenkatu 10", (61.499, 23.762), None),
        ("Hämenkatu 10, Tampere", "Hämeenkatu 10", (61.499, 23.762), None),
        # A staircase of a house is the house; a letter of its own is itself.
        ("Hämeenkatu 10 B 24, Tampere", "Hämeenkatu 10", (61.499, 23.762), None),
        ("Hämeenkatu 7 B, Tampere", "Hämeenkatu 7b", (61.4971, 23.764), None),
        # 12 is a third of the way from 10 to 16, on their side of the street; 6 of the way from 5 to 7 is not theirs.
        ("Hämeenkatu 12, Tampere", "Hämeenkatu 12", (61.499, 23.764),
         "the position of number 12 is interpolated between 10 and 16"),
        ("Hämeenkatu 6, Tampere", "Hämeenkatu 6", (61.499, 23.7607),
         "the position of number 6 is interpolated between 4 and 10"),
        # Beyond the last known number there is nothing to guess by.
        ("Hämeenkatu 18, Tampere", "Hämeenkatu", (61.498, 23.765),
         "number 18 is unknown; this is the middle of the street"),
    ],
)  # fmt: skip
def test_a_house_number_is_known_or_reported_as_interpolated(index, text, name, at, guess):
    place = search(index, text)[0].place
    assert (place.name, spot(place), place.guess, place.locality) == (name, at, guess, "Tampere")


def test_a_house_number_scores_by_its_evidence(index):
    """Known, between two others, and beyond the last."""
    scores = [first(index, f"Hämeenkatu {number}, Tampere")[1] for number in (10, 12, 18)]
    assert scores == [1.0, 0.97, 0.79]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Hämeenkatu 16 33200", 1.0),
        ("Hämeenkatu 16, 33100 Tampere", 0.79),
        # Without a postcode of its own, a place may have one of the three nearest addresses; elsewhere none is known.
        ("Hämeenkatu 10, 33210 Tampere", 1.0),
        ("Hämeenkatu 10, 33200 Tampere", 0.79),
        ("Kalevan kirkko, 33210 Tampere", 1.0),
        ("Kalevan kirkko, 33200 Tampere", 0.79),
        ("Hämeenkatu 4, 33200 Lempäälä", 0.79),
    ],
)
def test_a_place_with_another_postcode_is_only_a_candidate(tmp_path, text, score):
    coded = [
        house(61.5001, 23.7651 + int(number) / 10**4, "Kirkkokatu", number, addr_postcode="33210") for number in "123"
    ]
    coded.append(house(61.4991, 23.768, MAIN, "16", addr_postcode="33200;33250"))
    with opened_index(tmp_path, [*(each for each in TOWN if each[2].get("addr:housenumber") != "16"), *coded]) as index:
        assert first(index, text)[1] == score


def test_streets_of_one_name_in_two_towns_are_both_offered(index):
    """D2: what is ambiguous stays so; the city in the text, or a point nearby, tells them apart."""
    assert [(match.score, match.place.locality) for match in search(index, "Hämeenkatu 4")] == [
        (1.0, "Lempäälä"), (1.0, "Tampere"),
    ]  # fmt: skip
    near = search(index, "Hämeenkatu 4", focus=Coordinate(61.498, 23.76))
    assert [(match.place.locality, round(match.distance_m)) for match in near] == [
        ("Tampere", 111),
        ("Lempäälä", 21905),
    ]
    told = search(index, "Hämeenkatu 4, Tampere")
    assert [(match.score, match.place.locality) for match in told] == [(1.0, "Tampere"), (0.79, "Lempäälä")]


def test_names_are_in_the_requested_language(index):
    """A7: requested, then Finnish; the number stands behind each."""
    place = search(index, "Hämeenkatu 10, Tampere", language="sv")[0].place
    assert (place.name, place.language, place.names["fi"]) == ("Tavastgatan 10", "sv", "Hämeenkatu 10")
    assert search(index, "Hämeenkatu 10, Tampere", language="en")[0].place.name == "Hämeenkatu 10"


@pytest.mark.parametrize("text", ["Pysäkkinen", "Kylttinen", "qqxxzz", "", "?!", '"', "NEAR(", "*", "1"])
def test_a_nonplace_is_not_found(index, text):
    assert search(index, text) == []


def test_a_city_name_is_too_vague_to_resolve_to_its_middle(index):
    match = search(index, "Tammerfors")[0]
    assert (match.place.name, match.score) == ("Tampere", 0.79)
    assert match.place.guess == "the middle of the addresses in Tampere"


@pytest.mark.parametrize(
    ("lat", "lon", "name"),
    [
        (61.49905, 23.7621, "Hämeenkatu 10"),
        # The street is nearer than number 10, but an address says more.
        (61.49855, 23.7621, "Hämeenkatu 10"),
        (61.4980, 23.7690, "Hämeenkatu"),
        (61.50005, 23.7650, "Kalevan kirkko"),
        # A token of the café, which is also an address.
        (61.4971, 23.7640, "Café Europa"),
        (61.6, 23.7, None),
    ],
)
def test_a_dropped_pin_is_named_after_its_place(index, lat, lon, name):
    """The place exactly there, else an address within 60 m, else what is within 250 m; it stands where the pin does."""
    place = index.find_address(Coordinate(lat, lon))
    assert (None if place is None else place.name) == name
    assert place is None or place.coordinate == Coordinate(lat, lon)


def test_only_places_in_the_area_are_stored(tmp_path):
    with opened_index(tmp_path, TOWN, holds=lambda lat, _lon: lat > 61.4) as index:
        assert [match.place.locality for match in search(index, "Hämeenkatu 4")] == ["Tampere"]
        assert search(index, "Ryynikantie") == []


@pytest.mark.parametrize(("focus", "names"), [(Coordinate(61.5, 23.9), ["C", "D"]), (None, ["A", "B"])])
def test_of_a_kind_the_nearest_are_offered_else_the_first_by_name(tmp_path, monkeypatch, focus, names):
    monkeypatch.setattr("fingerpost.transit.osm.addresses.index.MAX_PLACES_OF_KIND", 2)
    spots = {"A": (61.57, 23.9), "B": (61.3, 23.9), "C": (61.5, 23.8), "D": (61.5, 24.0)}
    things = [node(*at, amenity="pharmacy", name=name) for name, at in spots.items()]
    with opened_index(tmp_path, things) as drawn:
        assert [match.place.name for match in search(drawn, "pharmacy", focus=focus)] == names


@pytest.mark.parametrize(
    "text",
    [
        "Hämeenkatu / Koskikatu",
        "hameenkatu & koskikatu",
        "corner of Koskikatu and Hämeenkatu",
        "Koskikatu / Vanhakatu",
        "hörnet av Hämeenkatu och Koskikatu",
    ],
)
def test_the_corner_of_two_streets_is_found(tmp_path, text):
    crossing = way((61.4970, 23.7650), (61.4980, 23.7650), (61.4990, 23.7650), highway="residential", name="Koskikatu")
    with opened_index(tmp_path, [*TOWN, crossing]) as index:
        found = search(index, text)[0]

    assert (spot(found.place), found.score >= 0.9) == ((61.498, 23.765), True)


def test_streets_that_meet_twice_have_two_corners_and_neither_resolves(tmp_path):
    ends = ((61.4980, 23.7600), (61.4990, 23.7650), (61.4980, 23.7700))
    with opened_index(tmp_path, [*TOWN, way(*ends, highway="residential", name="Kaarikatu")]) as index:
        found = search(index, "Hämeenkatu / Kaarikatu")

    assert [spot(each.place) for each in found if each.score >= 0.9] == [(61.498, 23.76), (61.498, 23.77)]
    assert find_certain(found) is None


@pytest.mark.parametrize("text", ["Hämeenkatu / Ryynikantie", "Hämeenkatu 16 / Koskikatu"])
def test_streets_that_do_not_meet_and_houses_have_no_corner(tmp_path, text):
    crossing = way((61.4970, 23.7650), (61.4980, 23.7650), (61.4990, 23.7650), highway="residential", name="Koskikatu")
    with opened_index(tmp_path, [*TOWN, crossing]) as index:
        assert not [match for match in search(index, text) if match.score >= 0.8]


@pytest.mark.parametrize(
    ("street", "text"),
    [("Avenida Ipiranga", "Av. Ipiranga"), ("Hatanpään valtatie", "hatanpaan vt"),
     ("Rua dos Andradas", "R dos Andradas"), ("Hauptstraße", "Hauptstr."),
     ("King Street", "king st"), ("Princess Street", "princess st")],
)  # fmt: skip
def test_short_forms_of_streets_are_spelled_out(tmp_path, street, text):
    with opened_index(tmp_path, [way((61.4, 23.7), (61.4, 23.701), highway="residential", name=street)]) as index:
        assert first(index, text) == (street, 1.0)
