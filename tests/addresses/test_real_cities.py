"""Tampere and central Helsinki: addresses and places as people type them (recordings next to the project)."""

import asyncio
import os

import pytest

from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.osm.addresses.extract import FeatureKind, read_addresses
from fingerpost.transit.osm.addresses.index import AddressIndex
from fingerpost.transit.osm.addresses.index_file import gather, write_index
from tests.addresses.asked import RULES, draw_questions
from tests.shared_data import get_shared

CITIES = {
    "tampere": ("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", "gtfs/tampere/tampere.osm.pbf"),
    "helsinki": ("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip", "gtfs/helsinki/helsinki_centre_2020.osm.pbf"),
}
# CI asks a part.
ADDRESSES, PLACES = (90, 30) if os.environ.get("CI") else (300, 100)


@pytest.fixture(scope="module", params=CITIES)
def city(request, tmp_path_factory):
    """A city's things to look up, its network, and how to ask it for places."""
    feed, extract = (get_shared(path) for path in CITIES[request.param])
    folder = tmp_path_factory.mktemp(request.param)
    things = gather(read_addresses(extract, lambda _lat, _lon: True))
    write_index(things, folder / "addresses.sqlite")
    index = AddressIndex(folder / "addresses.sqlite")
    timetable = import_feeds("CITY", [FeedSource(feed, None)]).timetable
    network = EmbeddedNetwork(NetworkRecord(name="CITY"), timetable, addresses=index)
    yield request.param, things, lambda text, **asked: asyncio.run(network.find_places(text, **asked))
    index.close()


def test_typed_texts_are_found_in_the_first_three(city):
    """Addresses and places, typed by seeded rules, beside stops: at least 95 % in the first three."""
    _, things, find = city
    asked = draw_questions(things, FeatureKind.STREET, ADDRESSES) + draw_questions(things, FeatureKind.PLACE, PLACES)
    missed = [f"{each.rule}: {each.text}" for each in asked if not each.is_found(find(each.text))]
    assert len(asked) > (ADDRESSES + PLACES) / 2
    assert {each.rule for each in asked} == set(RULES)
    assert len(missed) <= 0.05 * len(asked), missed


def test_a_city_s_name_means_its_main_stations(city):
    name, _, find = city
    texts = {"tampere": ["Tampere", "Tampereella"], "helsinki": ["Helsinki", "Helsingfors", "Helsingissä"]}[name]
    for text in texts:
        first = [match for match in find(text) if match.score == 1.0]
        assert first, text
        assert all("autatieasema" in match.place.name and match.place.id for match in first), text
