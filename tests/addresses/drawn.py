"""Draws OpenStreetMap extracts as XML, which osmium reads like any other."""

from contextlib import contextmanager
from xml.sax.saxutils import quoteattr

from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.gathering import gather
from fingerpost.transit.osm.addresses.index import AddressIndex
from fingerpost.transit.osm.addresses.index_file import write_index


def node(lat, lon, **tags):
    """Draw a point; ``_`` in a key stands for a colon."""
    return "node", [(lat, lon)], _keys(tags)


def way(*points, **tags):
    """Draw a line through points."""
    return "way", list(points), _keys(tags)


def house(lat, lon, street, number, city="Tampere", **tags):
    """Draw an address."""
    return node(lat, lon, addr_street=street, addr_housenumber=number, addr_city=city, **tags)


def write_extract(path, things):
    """Write an extract; a point that is drawn twice is one node."""
    numbers, tags_of = {}, {}
    for kind, points, tags in things:
        for point in points:
            numbers.setdefault(point, len(numbers) + 1)
        if kind == "node":
            tags_of[points[0]] = tags
    lines = ['<?xml version="1.0"?>', '<osm version="0.6">']
    for (lat, lon), number in numbers.items():
        lines.append(f'<node id="{number}" version="1" lat="{lat}" lon="{lon}">')
        lines += [*_draw_tags(tags_of.get((lat, lon), {})), "</node>"]
    for row, (_, points, tags) in enumerate([each for each in things if each[0] == "way"], 1):
        lines.append(f'<way id="{row}" version="1">')
        lines += [f'<nd ref="{numbers[point]}"/>' for point in points]
        lines += [*_draw_tags(tags), "</way>"]
    path.write_text("\n".join([*lines, "</osm>"]), encoding="utf-8")


@contextmanager
def opened_index(folder, things, holds=lambda _lat, _lon: True):
    """Draw an extract, prepare its index, and open it."""
    extract, path = folder / "drawn.osm", folder / "addresses.sqlite"
    write_extract(extract, things)
    write_index(gather(read_addresses(extract, holds, folder)), path)
    index = AddressIndex(path)
    try:
        yield index
    finally:
        index.close()


def _keys(tags):
    return {key.replace("_", ":") if key.startswith(("addr_", "name_")) else key: each for key, each in tags.items()}


def _draw_tags(tags):
    return [f"<tag k={quoteattr(key)} v={quoteattr(value)}/>" for key, value in tags.items()]
