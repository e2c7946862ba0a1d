"""The MCP server: the protocol's requests on one side, the house on the other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from fingerpost import __version__
from fingerpost.apps import wall
from fingerpost.apps.mcp.asking import Choices, ask, can_be_asked, find_question
from fingerpost.apps.mcp.listing import list_wants, result_of, tool_of
from fingerpost.apps.mcp.progress import Reporting
from fingerpost.apps.mcp.resources import RUN_TEMPLATE, SCHEMA_TEMPLATE, complete_tool, list_resources, read_resource
from fingerpost.apps.wiring import House
from fingerpost.contract.published import Report

INSTRUCTIONS = (
    "Public transport that says where its answers come from. Plan with plan_trip, boards with get_departures. "
    "Send place names as labels: an unclear name is answered with candidates whose token is accepted everywhere. "
    "Stop ids look like FEED:LOCAL. Times carry the local offset; a time without one is read as local to the network. "
    "Tell the rider every warning and the demo note. The resource fingerpost://networks says what is covered. "
    "For what companies reported to the SEC take sec_financial_data: each figure names its filing."
)

_NO_HEADER_PARAMETERS: Mapping[str, Any] = {"type": "object"}
_Context = ServerRequestContext[Any, Any]
_STABLE = CacheHint(ttl_ms=3_600_000, scope="public")
_CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "server/discover": _STABLE,
    "tools/list": _STABLE,
    "resources/list": _STABLE,
    "resources/templates/list": _STABLE,
}


def new_server(house: House, *, user: str | None) -> Server[Any]:
    """Return a server that answers both protocol eras on any transport and keeps nothing between two calls.

    ``user`` owns the variables of every call; None where nobody may keep any (ruling A12).
    """
    tools = [tool_of(tool) for tool in house.tools.values()]
    # Over HTTP the protocol walks the called tool's schema for parameters that travel in headers. None of ours do.
    input_schemas = {tool.name: _NO_HEADER_PARAMETERS for tool in tools}

    async def on_list_tools(_ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        _refuse_cursor(params)
        return types.ListToolsResult(tools=tools)

    async def on_call_tool(ctx: _Context, params: types.CallToolRequestParams) -> HandlerResult:
        async with Reporting(ctx.session) as reporting:
            return await answer_or_ask(ctx, params, reporting.report)

    async def answer_or_ask(ctx: _Context, params: types.CallToolRequestParams, report: Report) -> HandlerResult:
        arguments = params.arguments or {}
        choices, wants = Choices.read(params), list_wants(params)
        while True:
            chosen = choices.apply_to(arguments)
            answer = await wall.answer(house.tools, params.name, chosen, user=user, report=report, wants=wants)
            question = find_question(answer, choices)
            if question is None or not can_be_asked(ctx):
                return result_of(answer)
            asked = await ask(ctx, question, choices)
            if isinstance(asked, types.InputRequiredResult):
                return asked
            choices = asked

    async def on_list_resources(
        _ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        _refuse_cursor(params)
        return types.ListResourcesResult(resources=list_resources())

    async def on_list_resource_templates(
        _ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        _refuse_cursor(params)
        return types.ListResourceTemplatesResult(resource_templates=[SCHEMA_TEMPLATE, RUN_TEMPLATE])

    async def on_read_resource(_ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await read_resource(house, params.uri, user=user)

    async def on_completion(_ctx: _Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        return complete_tool(house, params)

    server: Server[Any] = Server(
        "fingerpost",
        version=__version__,
        title="fingerpost",
        description="Public transport that an agent can trust.",
        instructions=INSTRUCTIONS,
        cache_hints=_CACHE_HINTS,
        get_tool_input_schema=input_schemas.get,
        on_list_tools=on_list_tools,
        on_list_resources=on_list_resources,
        on_list_resource_templates=on_list_resource_templates,
        on_read_resource=on_read_resource,
        on_completion=on_completion,
    )

    async def answer_odd_arguments(ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Answer a call whose arguments are no object in the tool's own envelope.

        The protocol's own check would refuse it with a code that no model gets to see.
        """
        params = ctx.params or {}
        arguments, name = params.get("arguments"), params.get("name")
        if ctx.method != "tools/call" or not isinstance(name, str) or isinstance(arguments, Mapping):
            return await call_next(ctx)
        if arguments is None:
            return await call_next(replace(ctx, params={**params, "arguments": {}}))
        return result_of(await wall.answer(house.tools, name, arguments, user=user))

    # The constructor would have the results of calls as models.
    server.add_request_handler("tools/call", types.CallToolRequestParams, on_call_tool)
    server.middleware.append(answer_odd_arguments)
    return server


def _refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message="Unknown cursor: every list here is one page")
