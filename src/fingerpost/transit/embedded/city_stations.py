"""The main stations of a city, which its name means to a traveller."""

from collections.abc import Iterable

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Place
from fingerpost.transit.osm.addresses.index import City
from fingerpost.transit.rules.inflection import base_forms
from fingerpost.transit.rules.name_matching import plain

# What a main station is called beside the name of its city, trains before buses.
_RAILWAY = frozenset({
    "rautatieasema", "paarautatieasema", "railway station", "train station", "central station", "main station",
    "central railway station", "jarnvagsstation", "jarnvagsstationen", "centralstation", "centralstationen",
    "hauptbahnhof", "hbf",
})  # fmt: skip
_BUS = frozenset({
    "linja autoasema", "bussiterminaali", "bus station", "coach station", "busstation", "busstationen", "busterminal",
})  # fmt: skip
# These are stations of anything, unless the city's name stands before them.
_WITH_CITY = frozenset({"asema", "station", "stationen", "bahnhof", "gare"})
# Beyond the addresses of a city its station may lie a little further out.
_BEYOND_M = 500.0


def find_main_stations(city: City, places: Iterable[Place]) -> list[Place]:
    """Return the stations of trains in a city that bear its name or are the railway station, else those of buses."""
    within = [each for each in places if distance_m(each.coordinate, city.coordinate) <= city.reach_m + _BEYOND_M]
    for kinds in (_RAILWAY, _BUS):
        found = [place for place in within if any(_is_main(plain(name), city, kinds) for name in _names(place))]
        if found:
            return found
    return []


def _names(place: Place) -> set[str]:
    return {place.name, *place.names.values()}


def _is_main(name: str, city: City, kinds: frozenset[str]) -> bool:
    words = name.split()
    for count in range(1, len(words)):
        beginning, rest = " ".join(words[:count]), " ".join(words[count:])
        if rest in kinds | _WITH_CITY and city.names.intersection([beginning, *base_forms(beginning)]):
            return True
    return name in kinds
