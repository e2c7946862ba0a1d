"""Tools with an envelope of their own build the standard response with the two methods of ``Tool`` (S49)."""

import asyncio

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.contract.tool import Tool
from fingerpost.contract.tool_definition import Contract
from fingerpost.store.variables import VariableStore
from tests.fakes import FakeNetworks

NAMES = (
    "plan_trip", "get_departures", "findAddressOrStop", "find_stops", "save_user_variable", "get_user_variables",
    "delete_user_variable", "planRoute", "getStopTimetable", "planJourney",
)  # fmt: skip


@pytest.fixture
def tools(tmp_path):
    return {tool.name: tool for tool in list_tools(FakeNetworks(), VariableStore(tmp_path / "variables.sqlite"))}


def test_every_tool_with_an_envelope_of_its_own_is_named_here(tools):
    assert tuple(name for name, tool in tools.items() if tool.definition.contract is not Contract.STEP) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_of_every_tool_is_the_tools_error_response(tools, monkeypatch, name):
    """S47, S49: no tool formats a failure in its own way."""
    made = []
    monkeypatch.setattr(Tool, "format_error_response", lambda self, *given, **_: made.append(given) or {"made": True})

    assert asyncio.run(tools[name].execute("weather", {})) == {"made": True}
    assert [given[0] for given in made] == ["weather"]


def test_a_success_is_the_tools_success_response(tools, monkeypatch):
    """S46, S49: the other method formats a success."""
    made = []
    monkeypatch.setattr(Tool, "format_success_response", lambda self, *given, **_: made.append(given) or {"made": True})

    assert asyncio.run(tools["get_user_variables"].execute("get_user_variables", {}, user="ann")) == {"made": True}
    assert made[0][0] == "get_user_variables"
