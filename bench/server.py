"""The real HTTP server, with a no-op tool on the same server object that shows the cost of the protocol.

The no-op bypasses all layers of the application: no validation, no log, one empty object.
"""

import sys
from typing import Any

import mcp_types as types

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp import http
from fingerpost.apps.mcp.listener import Address
from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.settings import read_settings
from fingerpost.apps.warm_up import SWITCH_INTERVAL_S, WarmUp
from fingerpost.apps.wiring import build

NOOP = "noop"
_CALL = "tools/call"


def new_server_with_noop(*given: Any, **named: Any) -> Any:
    server = new_server(*given, **named)
    entry = server.get_request_handler(_CALL)
    if entry is None:
        raise RuntimeError("the server answers no calls")

    async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
        if params.name == NOOP:
            return types.CallToolResult(content=[types.TextContent(type="text", text="")], structured_content={})
        return await entry.handler(ctx, params)

    server.add_request_handler(_CALL, types.CallToolRequestParams, call)
    # The protocol looks for header parameters, and no tool has any.
    server.get_tool_input_schema = lambda _name: {"type": "object"}
    return server


if __name__ == "__main__":
    http.new_server = new_server_with_noop
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    start_logging(can_block=False)
    application = build(read_settings())
    http.serve_http(application, Address.parse("127.0.0.1:0"), WarmUp(application.networks))
