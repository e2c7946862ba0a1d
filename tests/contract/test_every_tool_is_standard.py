"""Tools with an envelope of their own build the standard response with the two methods of ``Tool`` (S49)."""

import asyncio

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.contract.published_tool import Contract
from fingerpost.contract.tool import Tool
from fingerpost.store.variables import VariableStore
from tests.fakes import FakeNetworks


@pytest.fixture
def tools(tmp_path):
    return {tool.name: tool for tool in list_tools(FakeNetworks(), VariableStore(tmp_path / "variables.sqlite"))}


def test_a_failure_of_every_tool_is_the_tools_error_response(tools, monkeypatch):
    """S47, S49: no tool formats a failure in its own way."""
    made = []
    monkeypatch.setattr(Tool, "format_error_response", lambda self, *_, **__: made.append(self.name) or {})
    own = [tool for tool in tools.values() if tool.definition.contract is not Contract.STEP]
    for tool in own:
        asyncio.run(tool.execute("weather", {}))

    assert made == [tool.name for tool in own]


def test_a_success_is_the_tools_success_response(tools, monkeypatch):
    """S46, S49: the other method formats a success."""
    made = []
    monkeypatch.setattr(Tool, "format_success_response", lambda self, *given, **_: made.append(given) or {"made": True})

    assert asyncio.run(tools["get_user_variables"].execute("get_user_variables", {}, user="ann")) == {"made": True}
    assert made[0][0] == "get_user_variables"
