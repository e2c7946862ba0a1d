"""Parsing addresses as people write them, and the endings of Finnish names."""

import pytest

from fingerpost.transit.osm.addresses.address_text import AddressText, HouseNumber, read_address_text, read_house_number
from fingerpost.transit.rules.name_search import list_base_forms

CITIES = {"tampere", "tammerfors", "helsinki", "new york"}


@pytest.mark.parametrize(
    ("text", "words", "number", "city"),
    [
        ("Hämeenkatu", "hameenkatu", None, None),
        ("Hämeenkatu 10", "hameenkatu", HouseNumber(10, 10), None),
        ("Hämeenkatu 10b", "hameenkatu", HouseNumber(10, 10, "b"), None),
        ("hameenkatu10b", "hameenkatu", HouseNumber(10, 10, "b"), None),
        ("Hämeenkatu 10 B 24", "hameenkatu", HouseNumber(10, 10, "b"), None),
        ("Hämeenkatu 14-16", "hameenkatu", HouseNumber(14, 16), None),
        ("Hämeenkatu 14 160", "hameenkatu", HouseNumber(14, 14), None),
        ("Hämeenkadulta 10:stä", "hameenkadulta", HouseNumber(10, 10), None),
        ("10 Downing Street", "downing street", HouseNumber(10, 10), None),
        ("Hämeenkatu 10, Tampere", "hameenkatu", HouseNumber(10, 10), "tampere"),
        ("Hämeenkatu 10, 33100 Tampere", "hameenkatu", HouseNumber(10, 10), "tampere"),
        ("near Hämeenkatu 10, Tampere", "hameenkatu", HouseNumber(10, 10), "tampere"),
        ("Hämeenkatu 10, 33100 Tampere, Finland", "hameenkatu", HouseNumber(10, 10), "tampere"),
        ("Hämeenkatu 10, Finland", "hameenkatu", HouseNumber(10, 10), None),
        ("hämeenkatu tampere", "hameenkatu", None, "tampere"),
        ("Tampere, Hämeenkatu 10", "hameenkatu", HouseNumber(10, 10), "tampere"),
        ("Hämeenkatu Tampereella", "hameenkatu", None, "tampere"),
        ("Wall Street 5 New York", "wall street", HouseNumber(5, 5), "new york"),
        # A city alone is no address in it, and a number alone no house.
        ("Tampere", "tampere", None, None),
        ("112", "112", None, None),
        # What stands behind such a number belongs to the name.
        ("Terminal 2 Tower", "terminal 2 tower", None, None),
    ],
)  # fmt: skip
def test_an_address_is_street_number_and_city(text, words, number, city):
    assert read_address_text(text, CITIES) == AddressText(words, number, city)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10", HouseNumber(10, 10)),
        ("5 C", HouseNumber(5, 5, "c")),
        ("22A", HouseNumber(22, 22, "a")),
        ("14-16", HouseNumber(14, 16)),
        ("18-20, 2. krs./Level 2", HouseNumber(18, 20)),
        ("1 A 24", HouseNumber(1, 1, "a")),
        # A slip of the pen is not a hundred houses.
        ("16-14", HouseNumber(16, 16)),
        ("1-9999", HouseNumber(1, 1)),
        ("Ratakatu", None),
    ],
)
def test_house_numbers_are_read_as_mappers_write_them(text, number):
    assert read_house_number(text) == number


@pytest.mark.parametrize(("last", "covered"), [(16, [14, 16]), (15, [14, 15])])
def test_a_range_of_even_numbers_is_on_one_side_of_the_street(last, covered):
    assert [number for number in range(13, 18) if HouseNumber(14, last).covers(number)] == covered


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("hameenkadulta", "hameenkatu"), ("hameenkadulle", "hameenkatu"), ("hameenkadun", "hameenkatu"),
        ("hameenkatua", "hameenkatu"), ("katuun", "katu"), ("yrjontiella", "yrjontie"), ("pyynikilta", "pyynikki"),
        ("kauppakujalla", "kauppakuja"), ("polulla", "polku"), ("raitilla", "raitti"), ("portilla", "portti"),
        ("rannalla", "ranta"), ("sillalta", "silta"), ("maella", "maki"), ("joella", "joki"), ("niemelle", "niemi"),
        ("lahdelta", "lahti"), ("keskuksessa", "keskus"), ("hallissa", "halli"), ("ateneumissa", "ateneum"),
        ("stockmannilta", "stockmann"), ("kankaalla", "kangas"), ("tampereella", "tampere"),
        ("helsingissa", "helsinki"), ("vanhalla kirkolla", "vanha kirkko"), ("kalevan kirkolle", "kalevan kirkko"),
        ("huoneeseen", "huone"), ("lammella", "lampi"), ("levalla", "lepa"), ("kirrassa", "kirta"),
    ],
)  # fmt: skip
def test_finnish_endings_are_removed(said, name):
    assert name in list_base_forms(said)


@pytest.mark.parametrize("text", ["", "tie", "ab"])
def test_short_words_have_no_ending(text):
    assert list_base_forms(text) == ()
