"""A real client and the real server, connected in memory, in old and new protocol versions."""

import json

import pytest
from mcp import MCPError

from tests.apps.clients import ERAS, connect
from tests.apps.questions import AMBIGUOUS, KAMPPI, KAMPPI_TO_ESPOO


@ERAS
async def test_every_tool_of_the_application_is_listed_with_both_schemas(application, mode):
    async with connect(application, mode) as client:
        listed = (await client.list_tools()).tools

    assert [tool.name for tool in listed] == list(application.tools)
    assert [tool.output_schema for tool in listed] == [
        tool.definition.output_schema for tool in application.tools.values()
    ]


@ERAS
async def test_a_trip_is_structured_and_its_text_is_self_contained(application, mode):
    async with connect(application, mode) as client:
        answer = await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)

    body = answer.structured_content
    assert not answer.is_error
    assert answer.meta["fingerpost/correlationId"] == body["correlationId"]
    assert [content.type for content in answer.content] == ["text"]
    assert answer.content[0].text.splitlines()[0] == "Kamppi to Espoo, depart 2026-03-10 08:00 (Europe/Helsinki)"


async def test_the_text_of_an_error_has_the_remedy_and_the_candidates(application):
    """Some hosts give a model only the text; the client has checked the structure by the schema that was listed."""
    async with connect(application) as client:
        await client.list_tools()
        refused = await client.call_tool("plan_trip", {**KAMPPI_TO_ESPOO, "limit": 4})
        answer = await client.call_tool("plan_trip", AMBIGUOUS)

    assert (refused.is_error, refused.structured_content["error"]["code"]) == (True, "validation-error")
    assert refused.content[0].text == "validation-error: limit must be at most 3; you sent 4."
    assert KAMPPI in [candidate["token"] for candidate in answer.structured_content["error"]["candidates"]]
    assert KAMPPI in answer.content[0].text


async def test_the_networks_can_be_read(application):
    async with connect(application) as client:
        read = await client.read_resource("fingerpost://networks")

    networks = {network["name"]: network for network in json.loads(read.contents[0].text)["networks"]}
    helsinki = networks["DEMO-HELSINKI"]
    assert sorted(networks) == ["DEMO-HELSINKI", "DEMO-LONDON"]
    assert (helsinki["demo"], helsinki["zone"], helsinki["firstDay"]) == (True, "Europe/Helsinki", None)


async def test_a_tools_schemas_can_be_read(application):
    async with connect(application) as client:
        read = await client.read_resource("fingerpost://schemas/find_stops")

    tool = application.tools["find_stops"].definition
    assert json.loads(read.contents[0].text) == {"input": tool.input_schema, "output": tool.output_schema}


async def test_an_unknown_resource_is_refused_by_its_address(application):
    async with connect(application) as client:
        with pytest.raises(MCPError, match="Unknown resource: fingerpost://schemas/nothing"):
            await client.read_resource("fingerpost://schemas/nothing")


async def test_an_unknown_cursor_is_refused(application):
    async with connect(application) as client:
        with pytest.raises(MCPError, match="every list has only one page"):
            await client.list_tools(cursor="2")
