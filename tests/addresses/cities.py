"""Tampere and central Helsinki, with their addresses (recordings next to the project)."""

import asyncio
from contextlib import contextmanager

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.index import AddressIndex
from fingerpost.transit.osm.addresses.index_file import to_features, write_index
from tests.shared_data import get_shared

CITIES = {
    "tampere": ("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf"),
    "helsinki": ("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip", "gtfs/helsinki/helsinki_centre_2020.osm.pbf"),
}


@contextmanager
def open_city(name, folder):
    """Yield a city's named features, and how to search it for places."""
    feed, extract = (get_shared(path) for path in CITIES[name])
    features = to_features(read_addresses(extract, lambda _lat, _lon: True))
    write_index(features, folder / "addresses.sqlite")
    index = AddressIndex(folder / "addresses.sqlite")
    timetable = import_feeds("CITY", [FeedSource(feed, None)]).timetable
    network = EmbeddedNetwork(NetworkRecord(name="CITY"), timetable, addresses=index)
    yield features, lambda text, **asked: asyncio.run(network.find_places(text, **asked))
    index.close()
