"""Places with lettered platforms, and places with the same name, through the tools in drawn towns (rule D2)."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.contracts.conftest import asker, label
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import DAY

# A thousandth of a degree of latitude is 111 m.
TOWN = """
line 1 | Tori A 08:05  | North 08:20
line 2 | Tori B 08:06  | South 08:30
line 3 | Home 07:50    | Tori A 08:00
"""
PLACES = {
    "Tori A": (60.000, 25.0), "Tori B": (60.002, 25.0), "North": (60.5, 25.0), "South": (59.5, 25.0),
    "Home": (60.3, 25.0),
}  # fmt: skip


@pytest.fixture
def town(tmp_path, monkeypatch):
    """Ask a tool over a drawn town: ``town(drawing, coordinates)(tool, arguments)``."""
    monkeypatch.setenv("FINGERPOST_NOW", f"{DAY}T08:00:00+02:00")

    def draw(drawing, coordinates):
        timetable = timetable_from_drawing(drawing, days=[DAY], coordinates=coordinates)
        network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable)
        return asker(tmp_path, network)

    return draw


@pytest.mark.parametrize("said", ["Tori", "TEST:TORI-A", "TEST:TORI-B"])
def test_the_board_of_a_place_shows_all_poles_and_names_them(town, said):
    body = town(TOWN, PLACES)("get_departures", {"stop": label(said)}).body
    rows = [(row["line"], row["platform"]) for row in body["departures"]]
    assert (body["stopName"], rows) == ("Tori", [("1", "A"), ("2", "B")])


@pytest.mark.parametrize("stop", [{"type": "id", "value": "TEST:TORI-B"}, label("Tori B")])
def test_the_board_of_one_pole_is_its_own(town, stop):
    body = town(TOWN, PLACES)("get_departures", {"stop": stop}).body
    assert [(row["line"], row.get("platform")) for row in body["departures"]] == [("2", None)]


@pytest.mark.parametrize(
    ("end", "name"),
    [
        (label("TEST:TORI-B"), "Tori"),
        ({"type": "id", "value": "TEST:TORI-B"}, "Tori B"),
        # The place has the id of this pole, so the name decides.
        ({"id": "TEST:TORI-A", "name": "Tori A", "lat": 60.0, "lon": 25.0}, "Tori A"),
        ({"stopId": "TEST:TORI-A", "name": "Tori"}, "Tori"),
        ({"name": "Tori B"}, "Tori B"),
        ({"coordinate": {"lat": 60.0025, "lon": 25.0}, "name": "Junamuseo", "rawSource": "geocode"}, "Junamuseo"),
    ],
)
def test_a_place_of_an_answer_is_the_same_place_as_an_end(town, end, name):
    asked = {"origin": end, "destination": label("South")}
    body = town(TOWN, PLACES)("plan_trip", asked).body
    route = town(TOWN, PLACES)("planRoute", {**asked, "departureTime": "now"}).body["itineraries"][0]

    assert (body["origin"]["name"], body["itineraries"][0]["legs"][0]["from"]["name"]) == (name, name)
    assert route["legs"][0]["from"]["name"] == name


@pytest.mark.parametrize("said", ["Tori", "TEST:TORI-A", "TEST:TORI-B"])
def test_a_pole_further_on_costs_the_walk(town, said):
    """D2: the place is at one of its platforms; the other is 222 m away in a straight line."""
    ask = town(TOWN, PLACES)
    walks = {}
    for destination in ("North", "South"):
        body = ask("plan_trip", {"origin": label(said), "destination": label(destination)}).body
        walks[destination] = body["itineraries"][0]["walkingDistance"]
    assert sorted(map(bool, walks.values())) == [False, True]
    assert max(walks.values()) > 222


TWINS = """
line 7  | Mill 08:05 | Alpha 08:20
line 12 | Mill 08:06 | Alpha 08:30
line 5  | Old Mill 08:07 | Beta 08:40
"""


@pytest.fixture
def twins(town):
    places = {"Mill": (60.0, 25.0), "Old Mill": (60.02, 25.0), "Alpha": (60.003, 25.0), "Beta": (60.023, 25.0)}
    return town(TWINS, places)


def test_candidates_are_distinguished_by_their_places(twins):
    answer = twins("findAddressOrStop", {"rawText": "mil", "focusPoint": {"lat": 60.0, "lon": 25.0}})
    assert answer.body["meta"]["candidates"] == {
        "TEST:MILL": {"lines": ["7", "12"], "direction": "Alpha", "district": "near Alpha", "distance": 0},
        "TEST:OLD-MILL": {"lines": ["5"], "direction": "Beta", "district": "near Beta", "distance": 2224},
    }
    lines = answer.text.splitlines()
    assert lines[1].endswith("; lines 7 12, towards Alpha, near Alpha, 0 m away")
    assert lines[2].endswith("; lines 5, towards Beta, near Beta, 2224 m away")


def test_an_ambiguous_end_distinguishes_its_candidates(twins):
    """D2, A5: the error has the same details, with each candidate and in its text."""
    answer = twins("plan_trip", {"origin": label("il"), "destination": label("Beta")})
    first = answer.body["error"]["candidates"][0]
    assert (first["lines"], first["direction"], first["district"]) == (["7", "12"], "Alpha", "near Alpha")
    assert "Mill (TEST:MILL, lines 7 12, towards Alpha, near Alpha, at 60.0,25.0, score 0.6067)" in answer.text


def test_the_only_candidate_has_a_reason_and_a_remedy(town):
    ask = town(TOWN, PLACES)
    found = ask("findAddressOrStop", {"rawText": "Nort by"})
    refused = ask("plan_trip", {"origin": label("Nort by"), "destination": label("South")})
    assert "only North is similar, and may be a different place" in found.body["meta"]["reason"]
    assert "If that is the one, send its id or lat,lon;" in found.text
    error = refused.body["error"]
    assert "only North is similar" in error["message"]
    assert error["hint"] == "If you mean North, use TEST:NORTH as the label; otherwise spell it differently"
