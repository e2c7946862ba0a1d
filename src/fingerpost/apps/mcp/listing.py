"""Convert tools and resources (the networks, tool schemas, plan runs and views) to the protocol's types.

Views follow the MCP Apps extension (revision 2026-01-26): each is a resource, and its tools link to it. The SDK's
implementation of the extension is not used, because it requires ``MCPServer``, which is slow to import.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

import mcp_types as types
from mcp import MCPError

from fingerpost.apps.views.page import VIEW_BY_TOOL, VIEW_BY_URI, VIEWS, read_page
from fingerpost.apps.wiring import Application
from fingerpost.contract.published_tool import ToolDefinition
from fingerpost.contract.size_bounds import SIZE_NOTE
from fingerpost.errors import ToolError
from fingerpost.plan.view import Part, describe_run
from fingerpost.transit.networks.overview import describe_networks

EXTENSION_ID = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_STABLE_TTL_MS = 3_600_000

# Views load no files. They have their own background, so they look better with the host's border.
_RESOURCE_META: dict[str, Any] = {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}

# The key in a tool's _meta that lists its optional parts.
OPTIONAL_PARTS = "fingerpost/offers"
# Optional parts by _meta key: a request sets a key to true, and the result has the part under the same key.
EXTRAS = {f"fingerpost/{name}": name for name in ("geometry", "lineColors", "basemap")}

NETWORKS = "fingerpost://networks"
_SCHEMAS = "fingerpost://schemas/"
_RUNS = "fingerpost://runs/"
_JSON = "application/json"
# Limited, because encoding a resource blocks other calls.
_MAX_OUTPUT_BYTES = 300_000


def build_tool_entry(tool: ToolDefinition) -> types.Tool:
    """Return a tool's ``tools/list`` entry with all annotations, because the defaults mark a tool as destructive."""
    parts = [key for key, name in EXTRAS.items() if name in tool.optional_parts]
    meta: dict[str, Any] = {OPTIONAL_PARTS: parts} if parts else {}
    if tool.name in VIEW_BY_TOOL:
        meta["ui"] = {"resourceUri": VIEW_BY_TOOL[tool.name].uri}
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=f"{tool.description} {SIZE_NOTE}",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
        _meta=meta or None,
    )


def list_requested_parts(
    params: types.CallToolRequestParams, tool: ToolDefinition | None, capabilities: types.ClientCapabilities | None
) -> list[str]:
    """Return the optional parts that a call requests.

    Keys in the call's ``_meta`` select parts. Without such keys, a client that shows views gets all optional parts if
    the tool has a view.
    """
    meta: Mapping[str, Any] = params.meta or {}
    if not EXTRAS.keys().isdisjoint(meta) or not can_show_views(capabilities):
        return [name for key, name in EXTRAS.items() if meta.get(key) is True]
    return list(tool.optional_parts) if tool is not None and tool.name in VIEW_BY_TOOL else []


def can_show_views(capabilities: types.ClientCapabilities | None) -> bool:
    settings = ((capabilities and capabilities.extensions) or {}).get(EXTENSION_ID)
    mime_types = settings.get("mimeTypes") if isinstance(settings, dict) else None
    return isinstance(mime_types, list | tuple) and MIME_TYPE in mime_types


_SCHEMA_TEMPLATE, _RUN_TEMPLATE = (
    types.ResourceTemplate(uri_template=uri, name=name, title=title, description=description, mime_type=_JSON)
    for uri, name, title, description in (
        (f"{_SCHEMAS}{{tool}}", "schemas", "Tool schemas", "JSON Schemas of a tool's arguments and answers"),
        (f"{_RUNS}{{run_id}}", "runs", "Plan runs", "A run with its plan, memory items and events"),
    )
)


async def list_resources(_ctx: object, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    networks = types.Resource(
        uri=NETWORKS,
        name="networks",
        title="Networks",
        description="Where trips can be planned: areas, time zones, covered days, sources",
        mime_type=_JSON,
    )
    views = [
        types.Resource(
            uri=view.uri,
            name=f"view-{view.name}",
            title=view.title,
            description=view.description,
            mime_type=MIME_TYPE,
            _meta=_RESOURCE_META,
        )
        for view in VIEWS
    ]
    return types.ListResourcesResult(resources=[networks, *views])


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
    names = [name for name in application.tools if is_template and name.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=names, total=len(names), has_more=False))


async def read_resource(application: Application, uri: str, *, user: str | None) -> types.ReadResourceResult:
    """Return a resource; raise MCPError if it does not exist, or if the networks cannot be opened."""
    if uri == NETWORKS:
        try:
            return _build_json_result(uri, {"networks": await describe_networks(application.networks)}, ttl_ms=0)
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
        page = read_page(VIEW_BY_URI[uri])
        contents = types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=page, _meta=_RESOURCE_META)
        return types.ReadResourceResult(contents=[contents], ttl_ms=_STABLE_TTL_MS, cache_scope="public")
    tool = application.tools.get(uri.removeprefix(_SCHEMAS)) if uri.startswith(_SCHEMAS) else None
    if tool is None:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {uri}", data={"uri": uri})
    schemas = {"input": tool.definition.input_schema, "output": tool.definition.output_schema}
    return _build_json_result(uri, schemas, ttl_ms=_STABLE_TTL_MS)


def _build_json_result(
    uri: str, value: dict[str, Any], *, ttl_ms: int, scope: Literal["public", "private"] = "public"
) -> types.ReadResourceResult:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    contents = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
    return types.ReadResourceResult(contents=[contents], ttl_ms=ttl_ms, cache_scope=scope)
