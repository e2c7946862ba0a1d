"""Tokens in several networks, in a demo only, in saved places, and in unknown networks (rule A13)."""

import pytest

from tests.contracts.conftest import asker_of, label
from tests.feeds import timetable_from_drawing
from tests.homes import keep_network, open_networks, write_record

HERE = "line A | Alpha 08:05 | Beta 08:15"
ELSEWHERE = {"Beta": (61.50, 23.75), "Gamma": (61.52, 23.80)}


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-05-06T08:00:00+03:00")
    return lambda name, arguments: asker_of(open_networks(tmp_path), tmp_path)(name, arguments).body


def test_two_towns_with_shared_ids_plan_from_their_own_stops(tmp_path, ask):
    """TEST:BETA is a stop in both towns, TEST:GAMMA in the second only: the trip begins where its first leg does."""
    keep_network(tmp_path, "A-TOWN", timetable_from_drawing(HERE))
    there = timetable_from_drawing("line B | Beta 08:05 | Gamma 08:25", coordinates=ELSEWHERE)
    keep_network(tmp_path, "B-TOWN", there)
    trip = ask("plan_trip", {"origin": label("TEST:BETA"), "destination": label("TEST:GAMMA")})

    assert trip["origin"]["coordinate"] == trip["itineraries"][0]["legs"][0]["from"]["coordinate"]
    assert trip["origin"]["coordinate"] == {"lat": 61.5, "lon": 23.75}


@pytest.mark.parametrize("token_first", [False, True])
def test_the_token_of_a_demo_plans_from_either_end(tmp_path, ask, token_first):
    keep_network(tmp_path, "TOWN", timetable_from_drawing(HERE))
    ends = [{"type": "coords", "value": {"lat": 60.169, "lon": 24.9315}}, label("DEMO-HELSINKI:TAPIOLA")]
    origin, destination = reversed(ends) if token_first else ends
    trip = ask("plan_trip", {"origin": origin, "destination": destination})

    assert trip["meta"]["network"] == "DEMO-HELSINKI"


@pytest.mark.parametrize(
    ("stop", "problem"),
    [
        ({"type": "id", "value": "CLOSED:1"}, "no stop has the id 'CLOSED:1'"),
        ({"type": "label", "value": "Xyzzy"}, "stop 'Xyzzy' matches no saved variable, stop or place"),
    ],
)
def test_an_unknown_stop_names_a_network_that_cannot_be_opened(tmp_path, ask, stop, problem):
    write_record(tmp_path, "CLOSED")

    assert ask("get_departures", {"stop": stop})["error"]["message"] == (
        f"{problem}. CLOSED is not prepared. Run `fingerpost network add CLOSED FEED...`"
    )


KAMPPI, TAPIOLA = "DEMO-HELSINKI:KAMPPI", "DEMO-HELSINKI:TAPIOLA"


@pytest.fixture
def town(tmp_path, ask):
    keep_network(tmp_path, "TOWN", timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10"))
    return ask


def test_a_saved_demo_stop_still_has_its_board(town):
    town("save_user_variable", {"key": "work", "type": "other", "value": KAMPPI})
    board = town("get_departures", {"stop": label("work")})

    assert (board["stopId"], board["meta"]["demo"]) == (KAMPPI, True)


def test_a_saved_demo_place_still_has_its_trips(town):
    where = {"lat": 60.169, "lon": 24.9315, "stopId": KAMPPI}
    town("save_user_variable", {"key": "work", "type": "location", "value": where})
    trip = town("plan_trip", {"origin": label("work"), "destination": label(TAPIOLA)})

    assert (trip["meta"]["network"], trip["meta"]["demo"]) == ("DEMO-HELSINKI", True)


def test_the_name_of_a_demo_is_not_a_place(town):
    answer = town("findAddressOrStop", {"rawText": "Kamppi"})

    assert answer["error"]["code"] == "NO_MATCH"
