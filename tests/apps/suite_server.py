"""A server with the tools of the protocol's conformance suite that ours can have, for ``test_protocol_suite``."""

import asyncio
from dataclasses import replace

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.http import serve_http
from fingerpost.apps.mcp.listener import Address
from fingerpost.apps.settings import read_settings
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import build
from fingerpost.contract.published_tool import ToolReply
from fingerpost.errors import DataNotFound, PlaceAmbiguous
from tests.apps.scripted_tool import ScriptedTool

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {"address": {"$ref": "#/$defs/address"}, "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"required": ["address"]}, "then": {"required": ["phone"]}, "else": {"required": ["email"]},
    "additionalProperties": False,
}  # fmt: skip

# The server asks which place is meant.
ASKING = PlaceAmbiguous("Alpha is ambiguous", {"side": "stop", "candidates": [{"token": "A:1", "name": "Alpha"}]})


class SuiteTool(ScriptedTool):
    def __init__(self, name, outcome, schema=None):
        super().__init__(outcome)
        self.definition = replace(self.definition, name=name, input_json_schema=schema)


class Reporting(SuiteTool):
    async def handle(self, arguments, call):
        for done in (0, 50, 100):
            call.report(done, 100, "going on")
            # The suite asks for this, and a client that reads slowly gets only the last report.
            await asyncio.sleep(0.05)
        return ToolReply(self.outcome, "done")


if __name__ == "__main__":
    start_logging()
    application = build(read_settings())
    tools = (
        *(SuiteTool(name, {}) for name in ("test_simple_text", "test_streaming_elicitation", "test_logging_tool")),
        *(SuiteTool(f"test_input_required_result_{name}", ASKING) for name in ("elicitation", "request_state")),
        SuiteTool("test_error_handling", DataNotFound("This tool always fails")),
        SuiteTool("json_schema_2020_12_tool", {}, SCHEMA),
        Reporting("test_tool_with_progress", {}),
    )
    served = replace(application, tools={**application.tools, **{tool.name: tool for tool in tools}})
    serve_http(served, Address("127.0.0.1", 0), WarmUp(served.networks))
