"""Views over the real protocol: which clients are offered them, what is served, and the optional parts."""

import json

import pytest

from fingerpost.apps.views.page import VIEWS, read_page
from tests.apps import clients
from tests.apps.clients import ERAS
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.views.hosting import EXTENSION, MIME_TYPE, connect

GEOMETRY = "fingerpost/geometry"
NETWORKS = "fingerpost://networks"


def views_of(tools):
    return {tool.name: tool.meta["ui"] for tool in tools if "ui" in (tool.meta or {})}


@ERAS
async def test_a_host_that_shows_views_finds_them_at_the_tools(application, mode):
    async with connect(application, mode) as client:
        tools = (await client.list_tools()).tools
        listed = {each.uri: each for each in (await client.list_resources()).resources}
        served = {view.name: (await client.read_resource(view.uri)).contents for view in VIEWS}

    assert views_of(tools) == {
        **{tool: {"resourceUri": "ui://fingerpost/trip"} for tool in ("plan_trip", "planRoute", "planJourney")},
        **{tool: {"resourceUri": "ui://fingerpost/board"} for tool in ("get_departures", "getStopTimetable")},
        "sec_financial_data": {"resourceUri": "ui://fingerpost/figures"},
    }
    assert list(listed) == [NETWORKS, *(view.uri for view in VIEWS)]
    for view in VIEWS:
        [contents] = served[view.name]
        assert (contents.uri, contents.mime_type, contents.text) == (view.uri, MIME_TYPE, read_page(view))
        assert listed[view.uri].mime_type == MIME_TYPE
        for meta in (contents.meta, listed[view.uri].meta):
            assert meta["ui"] == {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}


async def test_the_server_announces_its_views(application):
    async with connect(application) as client:
        assert EXTENSION in client.server_capabilities.extensions


@ERAS
@pytest.mark.parametrize(
    ("meta", "expected"), [(None, True), ({GEOMETRY: True}, True), ({GEOMETRY: False}, False)], ids=str
)
async def test_a_host_with_views_gets_lines_to_draw_unless_it_declines(application, mode, meta, expected):
    """They lie in ``_meta``, out of the model's sight (rule A10); the body is the same to the byte."""
    async with connect(application, mode) as client:
        answer = await client.call_tool("plan_trip", KAMPPI_TO_ESPOO, meta=meta)
        board = await client.call_tool("get_departures", {"stop": {"type": "label", "value": "Kamppi"}}, meta=None)
    async with clients.connect(application, mode) as client:
        plain = await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)

    assert (GEOMETRY in answer.meta, GEOMETRY in board.meta, GEOMETRY in plain.meta) == (expected, False, False)
    assert not board.is_error
    assert json.dumps(answer.structured_content) == json.dumps(plain.structured_content)


def test_every_tool_that_a_view_draws_is_served(application):
    assert [tool for view in VIEWS for tool in view.tools if tool not in application.tools] == []
