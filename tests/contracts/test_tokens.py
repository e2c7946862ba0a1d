"""A token from any answer is a place wherever a tool accepts one."""

import pytest

NOON = "2022-02-22T12:00:00+02:00"
ESPOO = {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}}
STOP = {"type": "id", "value": "DEMO-HELSINKI:PASILA"}
TAKING = {
    "findAddressOrStop": lambda token: {"rawText": token},
    "plan_trip": lambda token: {"origin": token, "destination": ESPOO, "when": {"type": "depart", "time": NOON}},
    "planRoute": lambda token: {
        "origin": {"rawText": token},
        "destination": {"rawText": "Pasila"},
        "departureTime": NOON,
    },
    "get_departures": lambda token: {"stop": STOP, "at": NOON, "walkFrom": token},
}


@pytest.mark.parametrize("tool", TAKING)
def test_tokens_of_candidates_and_stops_are_places(demo, tool):
    kamppi = demo("findAddressOrStop", {"rawText": "Kamppi"}).body
    near = demo("find_stops", {"coordinate": kamppi["coordinate"]}).body["stops"][0]
    tokens = [kamppi["id"], near["id"], "60.1690,24.9310"]

    assert [demo(tool, TAKING[tool](token)).body.get("error") for token in tokens] == [None] * len(tokens)
