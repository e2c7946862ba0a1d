"""MCP resources: the networks, each tool's schemas, the user's plan runs, and the views."""

import json
from typing import Any, Literal

import mcp_types as types
from mcp import MCPError

from fingerpost.apps.mcp.listing import list_view_resources, read_view
from fingerpost.apps.overview import describe_networks
from fingerpost.apps.views.page import VIEW_BY_URI
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.plan.view import Part, describe_run

NETWORKS = "fingerpost://networks"
_SCHEMAS = "fingerpost://schemas/"
_RUNS = "fingerpost://runs/"
_JSON = "application/json"
_SCHEMA_TTL_MS = 3_600_000
# A limit, because encoding a resource blocks other calls.
_MAX_OUTPUT_BYTES = 300_000

_SCHEMA_TEMPLATE = types.ResourceTemplate(
    uri_template=f"{_SCHEMAS}{{tool}}",
    name="schemas",
    title="Tool schemas",
    description="JSON Schemas of a tool's arguments and answers",
    mime_type=_JSON,
)
_RUN_TEMPLATE = types.ResourceTemplate(
    uri_template=f"{_RUNS}{{run_id}}",
    name="runs",
    title="Plan runs",
    description="A run with its plan, memory items and events",
    mime_type=_JSON,
)
_NETWORKS_RESOURCE = types.Resource(
    uri=NETWORKS,
    name="networks",
    title="Networks",
    description="Where trips can be planned: areas, time zones, covered days, sources",
    mime_type=_JSON,
)


async def list_resources(_ctx: object, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[_NETWORKS_RESOURCE, *list_view_resources()])


async def list_resource_templates(
    _ctx: object, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[_SCHEMA_TEMPLATE, _RUN_TEMPLATE])


async def complete_tool(
    application: Application, _ctx: object, params: types.CompleteRequestParams
) -> types.CompleteResult:
    """Complete a tool's name for the schema template; return nothing for other templates."""
    is_template = (
        isinstance(params.ref, types.ResourceTemplateReference) and params.ref.uri == _SCHEMA_TEMPLATE.uri_template
    )
    prefix = params.argument.value
    names = [name for name in application.tools if is_template and name.startswith(prefix)]
    return types.CompleteResult(completion=types.Completion(values=names, total=len(names), has_more=False))


async def read_resource(application: Application, uri: str, *, user: str | None) -> types.ReadResourceResult:
    """Return a resource; raise MCPError if it does not exist, or if the networks cannot be opened."""
    if uri == NETWORKS:
        try:
            return _build_json_result(uri, {"networks": await describe_networks(application)}, ttl_ms=0)
        except ToolError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from error
    if uri.startswith(_RUNS):
        try:
            run = await application.runs.get(uri.removeprefix(_RUNS), user)
            parts: tuple[Part, ...] = ("plan", "items", "events")
            view = await describe_run(application.runs, run, parts, max_values_bytes=_MAX_OUTPUT_BYTES)
        except ToolError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message, data={"uri": uri}) from error
        return _build_json_result(uri, dict(view), ttl_ms=0, scope="private")
    if uri in VIEW_BY_URI:
        return read_view(VIEW_BY_URI[uri])
    tool = application.tools.get(uri.removeprefix(_SCHEMAS)) if uri.startswith(_SCHEMAS) else None
    if tool is None:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {uri}", data={"uri": uri})
    schemas = {"input": tool.definition.input_schema, "output": tool.definition.output_schema}
    return _build_json_result(uri, schemas, ttl_ms=_SCHEMA_TTL_MS)


def _build_json_result(
    uri: str, value: dict[str, Any], *, ttl_ms: int, scope: Literal["public", "private"] = "public"
) -> types.ReadResourceResult:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
    return types.ReadResourceResult(contents=[contents], ttl_ms=ttl_ms, cache_scope=scope)
