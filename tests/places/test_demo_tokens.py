"""What was saved of a demo network still resolves once networks were added (rule A13)."""

import asyncio

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from fingerpost.testing.feeds import timetable_from_drawing
from tests.contracts.conftest import label
from tests.homes import keep_network, open_networks

KAMPPI, TAPIOLA = "DEMO-HELSINKI:KAMPPI", "DEMO-HELSINKI:TAPIOLA"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Ask a tool over the demos and one added network far away."""
    monkeypatch.setenv("FINGERPOST_NOW", "2026-05-06T08:00:00+03:00")
    keep_network(tmp_path, "TOWN", timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10"))
    tools = {
        tool.name: tool for tool in list_tools(open_networks(tmp_path), VariableStore(tmp_path / "variables.sqlite"))
    }
    return lambda name, arguments: asyncio.run(tools[name].answer(arguments, user="ann")).body


def test_a_saved_demo_stop_still_has_its_board(ask):
    """The token reaches the demo, and the answer is labelled."""
    ask("save_user_variable", {"key": "work", "type": "other", "value": KAMPPI})
    board = ask("get_departures", {"stop": label("work")})

    assert (board["stopId"], board["meta"]["demo"]) == (KAMPPI, True)


def test_a_saved_demo_place_still_has_its_trips(ask):
    """A position with a demo's stop id is planned on the demo, though no added network covers it."""
    where = {"lat": 60.169, "lon": 24.9315, "stopId": KAMPPI}
    ask("save_user_variable", {"key": "work", "type": "location", "value": where})
    trip = ask("plan_trip", {"origin": label("work"), "destination": label(TAPIOLA)})

    assert (trip["meta"]["network"], trip["meta"]["demo"]) == ("DEMO-HELSINKI", True)


def test_a_demos_name_is_no_longer_a_place(ask):
    """For points, names and boards alike the demo is silent."""
    answer = ask("findAddressOrStop", {"rawText": "Kamppi"})

    assert answer["error"]["code"] == "NO_MATCH"
