"""Prices in plan_trip answers: once in meta, and in the text; if unknown, the reason."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.contracts.conftest import asker

DRAWING = "line A | Alpha 08:30 | Beta 08:40\nline B | Beta 08:50 | Gamma 09:00\nline C | Alpha 08:35 | Gamma 09:30"
FARES = "fare_id,price,currency_type,payment_method,transfers\nt,2.8,EUR,0,0\nfast,4,EUR,0,\n"
RULES = "fare_id,route_id\nt,A\nt,C\nfast,A\nfast,B\n"
ALPHA, GAMMA = ({"type": "coords", "value": {"lat": 60.17, "lon": lon}} for lon in (24.94, 24.976))
QUESTION = {
    "origin": ALPHA,
    "destination": GAMMA,
    "constraints": {"maxWalkingDistance": 300},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
}


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")

    def plan_with(tables, question=QUESTION):
        timetable = timetable_from_drawing(DRAWING, tables=tables)
        network = EmbeddedNetwork(NetworkRecord(name="T"), timetable)
        return asker(tmp_path, network)("plan_trip", question)

    return plan_with


def test_every_itinerary_has_its_price(plan):
    answer = plan({"fare_attributes.txt": FARES, "fare_rules.txt": RULES})

    changing, direct = (each["fingerprint"] for each in answer.body["itineraries"])
    assert answer.body["meta"]["fares"] == [
        {"fingerprints": [changing], "amount": "4.00", "currency": "EUR", "tickets": ["fast"]},
        {"fingerprints": [direct], "amount": "2.80", "currency": "EUR", "tickets": ["t"]},
    ]
    heads = [line for line in answer.text.splitlines() if line[1:3] == ". "]
    assert ["4.00 EUR" in heads[0], "2.80 EUR" in heads[1]] == [True, True]


def test_a_shared_price_is_stated_once(plan):
    answer = plan({"fare_attributes.txt": "fare_id,price,currency_type,payment_method,transfers\nt,300,JPY,0,\n"})

    assert answer.body["meta"]["fares"] == [{"amount": "300", "currency": "JPY", "tickets": ["t"]}]
    assert answer.text.count("300 JPY") == 2


def test_a_price_that_is_not_known_has_a_reason_and_no_figure(plan):
    answer = plan({"fare_attributes.txt": FARES, "fare_rules.txt": "fare_id,route_id\nt,C\n"})

    changing, direct = (each["fingerprint"] for each in answer.body["itineraries"])
    assert answer.body["meta"]["fares"] == [
        {"fingerprints": [changing], "unknown": "TEST: no fare applies to line A"},
        {"fingerprints": [direct], "amount": "2.80", "currency": "EUR", "tickets": ["t"]},
    ]
    assert "EUR" not in answer.text.splitlines()[1]


def test_a_feed_without_fares_is_reported(plan):
    answer = plan({})

    assert answer.body["meta"]["fares"] == [{"unknown": "T publishes no fares"}]
    assert "fares" not in answer.text


@pytest.mark.parametrize("tables", [{}, {"fare_attributes.txt": FARES}], ids=["no fares", "fares"])
def test_a_walk_costs_nothing(plan, tables):
    near = {"type": "coords", "value": {"lat": 60.17, "lon": 24.942}}
    answer = plan(tables, {**QUESTION, "destination": near, "limit": 1})

    assert [leg["mode"] for leg in answer.body["itineraries"][0]["legs"]] == ["WALK"]
    assert "fares" not in answer.body["meta"]
