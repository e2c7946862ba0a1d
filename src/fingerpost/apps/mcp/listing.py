"""Convert tools and views to the protocol's types.

Views follow the MCP Apps extension (revision 2026-01-26): resources, and a link from each tool that has one. The SDK's
implementation requires ``MCPServer``, which is slow to import.
"""

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from fingerpost.apps.views.page import VIEW_BY_TOOL, VIEWS, View, read_page
from fingerpost.contract.published_tool import ToolDefinition
from fingerpost.contract.size_bounds import SIZE_NOTE

EXTENSION_ID = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_PAGE_TTL_MS = 3_600_000

# Views load no files, and look better with the host's border, because they have a background.
_RESOURCE_META: dict[str, Any] = {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}

# The key of the optional parts in a tool's _meta.
OPTIONAL_PARTS = "fingerpost/offers"
# Optional parts by _meta key: true in a request's _meta requests a part, which the result's _meta contains.
EXTRAS = {
    "fingerpost/geometry": "geometry",
    "fingerpost/lineColors": "lineColors",
    "fingerpost/basemap": "basemap",
}


def build_tool_entry(tool: ToolDefinition) -> types.Tool:
    """Return a tool's entry in ``tools/list``, with all four annotations, whose defaults describe a dangerous tool."""
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

    If its ``_meta`` has a known key, that decides; otherwise, a client that shows views gets all parts for the tool's
    view.
    """
    meta: Mapping[str, Any] = params.meta or {}
    if not EXTRAS.keys().isdisjoint(meta) or not can_show_views(capabilities):
        return [name for key, name in EXTRAS.items() if meta.get(key) is True]
    return list(tool.optional_parts) if tool is not None and tool.name in VIEW_BY_TOOL else []


def can_show_views(capabilities: types.ClientCapabilities | None) -> bool:
    extensions = None if capabilities is None else capabilities.extensions
    settings = (extensions or {}).get(EXTENSION_ID)
    mime_types = settings.get("mimeTypes") if isinstance(settings, dict) else None
    return isinstance(mime_types, list | tuple) and MIME_TYPE in mime_types


def list_view_resources() -> list[types.Resource]:
    return [
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


def read_view(view: View) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=view.uri, mime_type=MIME_TYPE, text=read_page(view), _meta=_RESOURCE_META)
    return types.ReadResourceResult(contents=[contents], ttl_ms=_PAGE_TTL_MS, cache_scope="public")
