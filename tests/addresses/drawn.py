"""Draws OpenStreetMap extracts of addresses and places."""

from contextlib import contextmanager

from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.index import AddressIndex
from fingerpost.transit.osm.addresses.index_file import to_features, write_index
from tests.osm_file import osm_text


def node(lat, lon, **tags):
    """Draw a point; ``_`` in a key stands for a colon."""
    return "node", [(lat, lon)], _keys(tags)


def way(*points, **tags):
    return "way", list(points), _keys(tags)


def house(lat, lon, street, number, city="Tampere", **tags):
    return node(lat, lon, addr_street=street, addr_housenumber=number, addr_city=city, **tags)


def write_extract(path, things):
    """Write an extract; a point that is drawn twice is one node."""
    numbers, tags_of = {}, {}
    for kind, points, tags in things:
        for point in points:
            numbers.setdefault(point, len(numbers) + 1)
        if kind == "node":
            tags_of[points[0]] = tags
    nodes = [(number, *point, tags_of.get(point, {})) for point, number in numbers.items()]
    ways = [([numbers[point] for point in points], tags) for kind, points, tags in things if kind == "way"]
    path.write_text(osm_text(nodes, ways), encoding="utf-8")


@contextmanager
def opened_index(folder, things, holds=lambda _lat, _lon: True):
    extract, path = folder / "drawn.osm", folder / "addresses.sqlite"
    write_extract(extract, things)
    write_index(to_features(read_addresses(extract, holds)), path)
    index = AddressIndex(path)
    try:
        yield index
    finally:
        index.close()


def _keys(tags):
    return {key.replace("_", ":") if key.startswith(("addr_", "name_")) else key: each for key, each in tags.items()}
