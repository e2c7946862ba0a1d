"""Tampere and central Helsinki: addresses and places as people type them."""

import pytest

from fingerpost.transit.osm.addresses.extract import FeatureKind
from tests.addresses.asked import RULES, draw_questions
from tests.addresses.cities import CITIES, open_city


@pytest.fixture(scope="module", params=CITIES)
def city(request, tmp_path_factory):
    with open_city(request.param, tmp_path_factory.mktemp(request.param)) as (features, find):
        yield request.param, features, find


def test_typed_texts_are_found_in_the_first_three(city):
    """Addresses and places, typed by seeded rules, beside stops: at least 95 % in the first three."""
    _, features, find = city
    asked = draw_questions(features, FeatureKind.STREET, 300) + draw_questions(features, FeatureKind.PLACE, 100)
    missed = [f"{each.rule}: {each.text}" for each in asked if not each.is_found(find(each.text))]

    assert len(asked) > 200
    assert {each.rule for each in asked} == set(RULES)
    assert len(missed) <= 0.05 * len(asked), missed


def test_a_city_s_name_means_its_main_stations(city):
    name, _, find = city
    texts = {"tampere": ["Tampere", "Tampereella"], "helsinki": ["Helsinki", "Helsingfors", "Helsingissä"]}[name]
    for text in texts:
        first = [match for match in find(text) if match.score == 1.0]

        assert first, text
        assert all("autatieasema" in match.place.name and match.place.id for match in first), text
