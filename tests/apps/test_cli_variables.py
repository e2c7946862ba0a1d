"""A variable that one command saves is found by the next, for the same user only."""

import json

import pytest


def test_a_saved_home_is_a_label_for_the_next_command(invoke):
    invoke("vars", "set", "home", '{"lat": 60.1690, "lon": 24.9320, "name": "Kamppi"}')
    planned = invoke("plan", "home", "Espoo", "--json")

    origin = json.loads(planned.stdout)["origin"]
    assert (origin["label"], origin["name"], origin["rawSource"]) == ("home", "Kamppi", "user-variable")


def test_another_user_does_not_see_it(invoke, monkeypatch):
    invoke("--user", "eva", "vars", "set", "home", "60.1690,24.9320")

    monkeypatch.setenv("FINGERPOST_USER", "eva")
    kept = json.loads(invoke("vars", "list", "--json").stdout)["variables"]
    assert invoke("--user", "bob", "vars", "list").stdout == "No variables are saved.\n"
    assert [variable["key"] for variable in kept] == ["home"]


def test_a_value_is_a_place_or_json_or_text(invoke):
    for key, value in (("home", " 60.2 , 24.9 "), ("style", '{"fast": true}')):
        invoke("vars", "set", key, value)
    invoke("vars", "set", "name", "Eva", "--type", "other")

    kept = json.loads(invoke("vars", "list", "--json").stdout)["variables"]
    assert [(each["key"], each["type"], each["value"]) for each in kept] == [
        ("home", "location", {"lat": 60.2, "lon": 24.9}),
        ("name", "other", "Eva"),
        ("style", "other", {"fast": True}),
    ]


def test_words_of_a_value_are_printed_as_they_were_saved(invoke):
    printed = invoke("vars", "set", "style", '{"maxTransfers": "find_stops"}').stdout
    assert printed.startswith("""Saved 'style', type other: {"maxTransfers": "find_stops"}""")


def test_forgetting_one_keeps_the_others_and_all_removes_everything(invoke):
    for key in ("a", "b", "c"):
        invoke("vars", "set", key, "1")

    assert json.loads(invoke("vars", "delete", "b", "--json").stdout)["deleted"] == ["b"]
    assert json.loads(invoke("vars", "delete", "--all", "--json").stdout)["deleted"] == ["a", "c"]


def test_an_unknown_name_to_delete_is_reported(invoke):
    invoke("vars", "set", "home", "1")
    done = invoke("vars", "delete", "Home")
    body = json.loads(invoke("vars", "delete", "Home", "--json").stdout)

    assert (done.returncode, done.stdout, body["deleted"]) == (1, "", [])
    assert done.stderr == "No variable is named 'Home'. List them: fingerpost vars list\n"


def test_a_position_south_of_the_equator_is_not_an_option(invoke):
    done = invoke("plan", "-33.86,151.20", "-33.90,151.10", "--json")

    assert json.loads(done.stdout)["error"]["code"] == "unsupported-region"


# Two minutes ago is now, three minutes ago is tomorrow.
@pytest.mark.parametrize(
    ("written", "meant"), [("07:58", "2026-03-10T08:00:00+02:00"), ("07:57", "2026-03-11T07:57:00+02:00")]
)
def test_a_bare_time_is_the_next_one_in_the_networks_zone(invoke, written, meant):
    """B12: at 08:00 in Helsinki, a time of day that has passed is tomorrow's."""
    body = json.loads(invoke("plan", "Kamppi", "Espoo", "--at", written, "--json").stdout)

    assert body["requested"] == {"type": "depart", "time": meant}
    assert body["itineraries"][0]["legs"][0]["departureTime"] >= meant


@pytest.mark.parametrize("said", ["Pasila", "DEMO-HELSINKI:PASILA"])
def test_vars_set_resolves_a_name_or_token_to_the_place(invoke, said):
    """C4, D2: what was kept plans like the name itself, and has its board."""
    told = invoke("vars", "set", "work", said).stdout
    (kept,) = json.loads(invoke("vars", "list", "--json").stdout)["variables"]
    planned, named = (json.loads(invoke("plan", "Kamppi", end, "--json").stdout) for end in ("work", "Pasila"))
    board, named_board = (json.loads(invoke("departures", end, "--json").stdout) for end in ("work", "Pasila"))

    assert (kept["type"], kept["value"]["name"], kept["value"]["stopId"]) == ("location", "Pasila", board["stopId"])
    assert f"Pasila, {board['stopId']}, " in told
    assert planned["itineraries"] == named["itineraries"] != []
    assert board["departures"] == named_board["departures"] != []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("kamp", "No certain match; 4 candidates. Choose one and send its id or lat,lon:"),
        ("Nirvana", "No stop, address or place matches 'Nirvana'"),
    ],
)
def test_an_ambiguous_place_is_not_saved(invoke, said, told):
    """C4: the candidates are shown, or that there are none, and how to keep a text as it is."""
    refused = invoke("vars", "set", "work", said)
    assert (refused.returncode, told in refused.stderr, "--type other" in refused.stderr) == (1, True, True)
    assert json.loads(invoke("vars", "list", "--json").stdout)["variables"] == []
