"""get_departures with ``walkFrom``: when to leave, computed from the walk on the streets (rule C1)."""

from unittest.mock import AsyncMock

import pytest

from fingerpost import clock
from fingerpost.errors import SourceUnreachable
from fingerpost.store.variables import VariableStore
from tests.contracts.conftest import ANN, asker, board_of, codes, refusal
from tests.contracts.test_get_departures_contract import STOP
from tests.realtime.messages import DAY, alert, call, read, update
from tests.streets.drawn import degrees
from tests.streets.stations import network_of, stop_row

TOWN = """
O  A--------------------B
|  |
+--+
"""
LINES = """
line 1 | Alpha 08:05 | Beta 08:50
line 2 | Alpha 08:30 | Beta 08:55
"""
ROWS = [stop_row("ALPHA", (3, 0)), stop_row("BETA", (24, 0))]
# 700 m along the streets to Alpha, which is 300 m away.
HERE = degrees(0.001, 0)
BOARD = {"stop": {"type": "id", "value": "TEST:ALPHA"}, "windowMinutes": 60}


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")
    network = network_of(TOWN, LINES, ROWS, tmp_path)
    variables = VariableStore(tmp_path / "variables.sqlite")
    variables.save(ANN, "home", "location", {"lat": HERE[0], "lon": HERE[1]}, clock.now())

    def board(walk_from, *entities):
        network.publish(read(network.timetable, *entities), DAY)
        return asker(tmp_path, network)("get_departures", {**BOARD, "walkFrom": walk_from})

    return board


def _leaving(answer):
    return [(row["departure"], row["at"][11:16], row["walkMeters"]) for row in answer.body["meta"]["leaveBy"]]


@pytest.mark.parametrize("walk_from", ["home", f"{HERE[0]:.7f},{HERE[1]:.7f}"])
def test_a_board_states_when_to_leave(ask, walk_from):
    """700 m at 1.25 m/s are 560 s: the bus of 08:05 is gone, for that of 08:30 one leaves at 08:20."""
    answer = ask(walk_from)

    assert _leaving(answer) == [(0, "07:55", pytest.approx(700, abs=1)), (1, "08:20", pytest.approx(700, abs=1))]
    assert [row.get("missed") for row in answer.body["meta"]["leaveBy"]] == [True, None]
    assert answer.body["meta"]["walking"] == "OpenStreetMap streets"
    assert "Streets: © OpenStreetMap contributors, ODbL 1.0" in answer.body["meta"]["attribution"]
    lines = answer.text.splitlines()
    assert lines[1].endswith(" m away: too late to walk")
    assert ", leave by 08:20 (" in lines[2]


def test_leave_by_is_later_for_late_rides_and_absent_for_cancelled_ones(ask):
    answer = ask("home", update("1-1", call("ALPHA", 600, 600)), update("2-1", relationship="CANCELED"))

    assert _leaving(answer) == [(0, "08:05", pytest.approx(700, abs=1))]


def test_leave_by_is_absent_unless_requested(ask):
    assert ask(None).body["meta"].keys().isdisjoint({"leaveBy", "walking"})


def test_an_unreachable_place_is_reported(ask):
    lat, lon = degrees(0, 50)
    answer = ask(f"{lat},{lon}")

    assert (answer.body["meta"]["leaveBy"], codes(answer)) == ([], ["preference-unmet"])
    assert "there is no walk of 3,000 m or less to the stop" in answer.body["warnings"][0]["message"]


def test_a_source_without_walk_lengths_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2022-02-22T08:00:00+02:00")
    tools = asker(tmp_path, board_of())
    answer = tools("get_departures", {**STOP, "walkFrom": "60.17,24.94"})

    assert answer.body["warnings"][0]["message"] == (
        "The time to leave from '60.17,24.94' is unknown: FAKE does not provide walking times."
    )


def test_a_name_is_refused_as_walk_from(ask):
    code, message, _ = refusal(ask("the harbour"))

    assert (code, message) == (
        "validation-error",
        "walkFrom 'the harbour' is not a saved place, a position or a stop id",
    )


def test_a_stop_is_not_unknown_where_its_network_fails(tmp_path, monkeypatch):
    network = board_of()
    monkeypatch.setattr(network, "find_stop", AsyncMock(side_effect=SourceUnreachable("FAKE is down")))
    tools = asker(tmp_path, network)

    assert refusal(tools("get_departures", {**STOP, "walkFrom": "T:A"}))[:2] == ("upstream-error", "FAKE is down")


def test_a_lift_out_of_order_does_not_affect_riders_who_take_stairs(ask):
    answer = ask("home", alert("lift", "Lift broken", effect="ACCESSIBILITY_ISSUE", stop_id="ALPHA"))

    assert _leaving(answer)[1][1] == "08:20"
