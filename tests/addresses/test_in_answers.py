"""Addresses and places in the tools' answers, in a drawn town with a drawn extract (rules B10, D1, D2)."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.addresses.drawn import house, node, opened_index, way
from tests.contracts.conftest import asker, label
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import DAY

LICENCE = "Addresses: © OpenStreetMap contributors, ODbL 1.0"
# Two stops 11 km apart, and a street past each; the extract knows the street, three houses and a museum.
TIMETABLE = """
line 1 | Tori 08:10 | Rautatieasema 08:40
"""
AGENCY = "agency_name,agency_url,agency_timezone,agency_lang\nA,http://example.org,Europe/Helsinki,fi\n"
STOPS = {"Tori": (60.0, 25.0), "Rautatieasema": (60.1, 25.0)}
EXTRACT = [
    way((60.001, 25.0), (60.001, 25.02), highway="residential", name="Rantatie", name_fi="Rantatie"),
    house(60.0011, 25.0, "Rantatie", "1", city="Kylä"),
    house(60.0011, 25.004, "Rantatie", "5", city="Kylä"),
    house(60.0011, 25.02, "Rantatie", "50", city="Kylä"),
    node(60.099, 25.0, tourism="museum", name="Junamuseo", name_fi="Junamuseo", addr_city="Kylä"),
    node(60.02, 25.0, place="town", name="Kylä"),
    node(60.0, 25.0003, amenity="marketplace", name="Tori", addr_city="Kylä"),
    way((60.0995, 25.0), (60.0995, 25.03), highway="residential", name="Torikatu"),
    way((60.2, 25.0), (60.2, 25.03), highway="residential", name="Torikatu"),
]  # fmt: skip


EIGHT = {"type": "depart", "time": f"{DAY}T08:00:00+02:00"}


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", f"{DAY}T08:00:00+02:00")
    with opened_index(tmp_path, EXTRACT) as index:
        timetable = timetable_from_drawing(TIMETABLE, days=[DAY], coordinates=STOPS, tables={"agency.txt": AGENCY})
        yield asker(tmp_path, EmbeddedNetwork(NetworkRecord(name="TEST"), timetable, addresses=index))


def look_up(ask, text, **more):
    return ask("findAddressOrStop", {"rawText": text, **more})


def test_an_address_is_found_and_names_its_source(ask):
    """D1: a bare ResolvedLocation without an id, its licence in meta and in the text."""
    answer = look_up(ask, "rantatiellä 5, kylä")
    body = answer.body
    assert {key: body.get(key) for key in ("id", "name", "type", "coordinate", "locality")} == {
        "id": None, "name": "Rantatie 5", "type": "ADDRESS", "coordinate": {"lat": 60.0011, "lon": 25.004},
        "locality": "Kylä",
    }  # fmt: skip
    assert body["meta"] == {"attribution": [LICENCE]}
    assert answer.text.endswith(f"Data: {LICENCE}")


def test_an_interpolated_number_is_reported(ask):
    body = look_up(ask, "Rantatie 3").body
    assert (body["name"], body["coordinate"]) == ("Rantatie 3", {"lat": 60.0011, "lon": 25.002})
    assert body["meta"]["warnings"] == [
        {"code": "position-guessed",
         "message": "The position of 'Rantatie 3' is an estimate: "
                    "the position of number 3 is interpolated between 1 and 5."}
    ]  # fmt: skip
    assert "meta" not in look_up(ask, "Rautatieasema").body


def test_an_address_interpolated_too_far_returns_candidates(ask):
    """Number 20 lies somewhere in the 800 m between 1 and 50: the one candidate is not taken, and why is said."""
    body = look_up(ask, "Rantatie 20").body
    assert [(each["name"], each["confidenceScore"]) for each in body["candidates"]] == [("Rantatie 20", 0.79)]
    (apart,) = body["meta"]["candidates"].values()
    assert apart["guess"] == "the position of number 20 is interpolated between 5 and 50"
    assert body["meta"]["attribution"] == [LICENCE]


@pytest.mark.parametrize(
    ("text", "stop", "score"),
    [
        # The market of the extract is the stop of that name, which knows more: its id and its lines.
        ("Tori", "TEST:TORI", 1.0),
        # Kylä is no stop; its railway station is what a traveller means by it.
        ("Kylä", "TEST:RAUTATIEASEMA", 1.0),
        # Rule D2 holds for stops too: the same endings, the same score.
        ("rautatieasemalta", "TEST:RAUTATIEASEMA", 0.97),
        # A city that is mapped as a point reaches to its addresses.
        ("Tori, Kylä, Suomi", "TEST:TORI", 0.99),
    ],
)
def test_a_text_resolves_to_a_stop(ask, text, stop, score):
    body = look_up(ask, text).body
    assert (body["id"], body["type"], body["confidenceScore"], "meta" in body) == (stop, "STOP", score, False)


@pytest.mark.parametrize("kind", ["järnvägsstation", "asema"])
def test_a_kind_of_station_offers_the_station(ask, kind):
    candidate = look_up(ask, kind).body["candidates"][0]
    assert (candidate["id"], candidate["confidenceScore"]) == ("TEST:RAUTATIEASEMA", 0.79)


def test_a_trip_between_addresses_reports_what_they_resolved_to(ask):
    """B10: an address is geocoded like a stop's name, a guess is warned of, and the source is named once."""
    answer = ask("plan_trip", {"origin": label("Rantatie 3"), "destination": label("junamuseossa"), "when": EIGHT})
    body = answer.body
    assert (body["origin"]["name"], body["destination"]["name"]) == ("Rantatie 3", "Junamuseo")
    assert [leg.get("line") for leg in body["itineraries"][0]["legs"]] == [None, "1", None]
    codes = {warning["code"]: warning["message"] for warning in body["warnings"]}
    assert "interpolated between 1 and 5" in codes["position-guessed"]
    assert "origin 'Rantatie 3' was resolved to Rantatie 3" in codes["label-geocoded"]
    assert body["meta"]["attribution"].count(LICENCE) == 1
    assert LICENCE in answer.text


def test_streets_of_one_name_are_candidates_with_their_source(ask):
    error = ask("plan_trip", {"origin": label("Torikatu"), "destination": label("Tori"), "when": EIGHT}).body["error"]
    assert [each["name"] for each in error["candidates"]][:2] == ["Torikatu", "Torikatu"]
    assert error["hint"].endswith(f"Data: {LICENCE}")


def test_an_address_has_no_board(ask):
    """C2: a label of a board is a stop; an address is none, whatever it resembles."""
    error = ask("get_departures", {"stop": label("Rantatie 5")}).body["error"]
    assert (error["code"], "Rantatie 5" in error["message"]) == ("validation-error", True)


def test_a_dropped_pin_gets_the_name_of_its_place(ask):
    at_number_1, nowhere = "60.001150,25.000100", "60.050000,25.000000"
    assert look_up(ask, at_number_1).body["name"] == "Rantatie 1"
    assert look_up(ask, nowhere).body["name"] == nowhere
    pin = {"type": "coords", "value": {"lat": 60.00115, "lon": 25.0001}}
    body = ask("plan_trip", {"origin": pin, "destination": label("Rautatieasema"), "when": EIGHT}).body
    assert (body["origin"]["name"], body["origin"]["coordinate"]) == ("Rantatie 1", {"lat": 60.00115, "lon": 25.0001})
    assert body["itineraries"][0]["legs"][0]["from"]["name"] == "Rantatie 1"


def test_namesakes_in_one_city_are_distinguished_by_nearby_places(ask):
    """D2: two streets of one name are told by the nearest stop, which the extract does not know."""
    answer = look_up(ask, "Torikatu")
    candidates = answer.body["meta"]["candidates"]
    assert [candidates[token].get("district") for token in list(candidates)[:2]] == ["near Rautatieasema", None]
    assert answer.text.splitlines()[-1] == f"Data: {LICENCE}"
