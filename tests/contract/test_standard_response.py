"""The plan-step contract's Tool base class and standard response."""

import asyncio

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.contract.envelope import Contract
from fingerpost.contract.tool import Tool
from fingerpost.errors import BrokenContract
from fingerpost.store.variables import VariableStore
from tests.fakes import FakeNetworks


class Revenue(Tool):
    name = "sec_financial_data"

    async def execute(self, query_type, parameters):
        return self.format_success_response(query_type, parameters, [{"value": 394}], {"data": {"Revenue": 394}})


ASKED = {"ticker": "AAPL"}


async def test_success_has_the_standard_fields_and_extras_at_the_top_level():
    """S46, S49: what a tool returns when it succeeds."""
    assert await Revenue().execute("financial_facts", ASKED) == {
        "query_type": "financial_facts",
        "parameters": {"ticker": "AAPL"},
        "results": [{"value": 394}],
        "output_key": "sec_financial_data",
        "success": True,
        "data": {"Revenue": 394},
    }


@pytest.mark.parametrize(("given", "error_type"), [(["error"], "error"), (["warning"], "warning"), ([], "error")])
def test_failure_has_no_results_and_one_message(given, error_type):
    """S46, S47, F1: results are empty, the message stands under its type, by default error; extras at the top."""
    told = Revenue().format_error_response("q", ASKED, "Nothing for 1890", *given, additional_data={"hint": "y"})
    assert told == {
        "query_type": "q",
        "parameters": {"ticker": "AAPL"},
        "results": [],
        "output_key": "sec_financial_data",
        "success": False,
        error_type: "Nothing for 1890",
        "hint": "y",
    }


def test_another_error_type_is_our_bug():
    """S47: error and warning, nothing else."""
    with pytest.raises(BrokenContract, match=r"must be error or warning, not 'problem'"):
        Revenue().format_error_response("q", {}, "x", "problem")


def test_additional_data_cannot_replace_a_standard_field():
    """S46: a standard field means what the contract says."""
    with pytest.raises(BrokenContract, match=r"standard fields of the response: results, success$"):
        Revenue().format_success_response("q", {}, [], {"success": False, "results": [1], "data": 1})


def test_a_tool_must_know_how_to_execute():
    """S2: Tool is an abstract base."""
    with pytest.raises(TypeError, match=r"abstract"):
        Tool()


def test_every_tool_formats_its_responses_with_the_methods_of_tool(tmp_path, monkeypatch):
    """S46, S47, S49."""
    tools = list_tools(FakeNetworks(), VariableStore(tmp_path / "variables.sqlite"))
    own = {tool.name: tool for tool in tools if tool.definition.contract is not Contract.STEP}
    made = []
    for method in ("format_error_response", "format_success_response"):
        monkeypatch.setattr(Tool, method, lambda self, *_, method=method: made.append((method, self.name)) or {})
    for tool in own.values():
        asyncio.run(tool.execute("weather", {}))
    asyncio.run(own["get_user_variables"].execute("get_user_variables", {}, user="ann"))

    expected = [("format_error_response", name) for name in own]
    assert made == [*expected, ("format_success_response", "get_user_variables")]
