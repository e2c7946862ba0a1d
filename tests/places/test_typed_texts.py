"""Texts as people type them in two cities: each means its place, or is offered, and never another place (rule D2)."""

from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.name_matching import find_certain
from tests.addresses.test_real_cities import city  # noqa: F401  # a fixture

# The middle of the city, and by text the name of the place that is meant; None where the text must be asked about.
TYPED = {
    "tampere": (Coordinate(61.498, 23.761), {
        "tammelantori": "Tammelantori", "Sorin aukio": "Sorin aukio", "Tulli": "Tulli", "Keskustori E": "Keskustori E",
        "near Keskustori": "Keskustori", "lähellä Tammelantoria": "Tammelantori", "Linja-autoasema": "Linja-autoasema",
        "sammonkatu 22": "Sammonkatu 22", "sammonkatu22": "Sammonkatu 22", "near Sammonkatu 22": "Sammonkatu 22",
        "Sammonkatu 22, 33540 Tampere": "Sammonkatu 22", "Sammonkatu 22, 33540 Tammerfors": "Sammonkatu 22",
        "Tammerkosken lukio": "Tammerkosken lukio", "Hervannan kampus": "Hervannan kampus",
        "Tampere-talo": "Tampere-talo", "Koskikeskus": "Koskikeskus", "Tammerfors": "Rautatieasema",
        "näsilinnankatu 15": None, "satakunnankatu 12 tammerfors": None, "Hatanpään valtatie 30": None,
        "Mannerheimintie 5": None, "Sammonkatu 22 Nokia": None, "Tamelantori": None, "stadion": None,
    }),
    "helsinki": (Coordinate(60.17, 24.94), {
        "kamppi": "Kamppi", "Bulevardi 12": "Bulevardi 12", "bulevardi12": "Bulevardi 12",
        "nära Bulevarden 12": "Bulevardi 12", "Bulevarden 12, 00120 Helsingfors": "Bulevardi 12",
        "Ateneum": "Ateneum", "hakaniemen tori": "Hakaniemen tori", "lönnrotinkatu 7": "Lönnrotinkatu 7",
        "fredriksgatan 30": "Fredrikinkatu 30", "Kauppatori": "Kauppatori", "Senaatintori": "Senaatintori",
        "Keskustori": None, "Senate Square": None, "Temppeliaukion kirkko": None, "Bulevardi 12 Espoo": None,
        "koti": None, "Esplanadi": None, "Kampi": None,
    }),
}  # fmt: skip


def test_a_kind_offers_the_nearest_of_its_kind(city):  # noqa: F811
    focus = TYPED[city[0]][0]
    found = [city[2](text, language="fi", focus=focus) for text in ("pharmacy", "apotek")]
    nearest = [[each.place.token for each in matches if each.score == 0.79][:5] for matches in found]

    assert (len(nearest[0]), nearest[0], max(each.score for each in found[0])) == (5, nearest[1], 0.79)


def test_a_typed_text_means_its_place_or_is_asked_about(city):  # noqa: F811
    name, _, find = city
    focus, places = TYPED[name]
    certain = {text: find_certain(find(text, language="fi", focus=focus)) for text in places}
    found = {text: match and match.place.name for text, match in certain.items()}

    assert found == places
