"""The MCP Apps extension (revision 2026-01-26): views as resources, and a link from each tool that has one.

The SDK's own implementation is bound to ``MCPServer``, which would have to be imported at every start.
"""

from typing import Any

import mcp_types as types

from fingerpost.apps.views.catalogue import VIEW_BY_TOOL, VIEW_BY_URI, VIEWS, View
from fingerpost.apps.views.page import read_page
from fingerpost.contract.published import PublishedTool

EXTENSION_ID = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_PAGE_TTL_MS = 3_600_000

# Views load nothing and ask for nothing; the host is to frame them, because they paint their own background.
_RESOURCE_META: dict[str, Any] = {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}


def can_show_views(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it shows views."""
    extensions = None if capabilities is None else capabilities.extensions
    settings = (extensions or {}).get(EXTENSION_ID)
    mime_types = settings.get("mimeTypes") if isinstance(settings, dict) else None
    return isinstance(mime_types, list | tuple) and MIME_TYPE in mime_types


def may_show_views(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether views are offered to a client: it says that it shows them, or nobody knows what it can.

    A client of the older protocol says so once, in its handshake, which a server without sessions has forgotten.
    """
    return capabilities is None or can_show_views(capabilities)


def link_view(entry: types.Tool) -> types.Tool:
    """Return a tool's entry with the address of its view, unchanged where it has none."""
    view = VIEW_BY_TOOL.get(entry.name)
    if view is None:
        return entry
    return entry.model_copy(update={"meta": {**(entry.meta or {}), "ui": {"resourceUri": view.uri}}})


def list_wants_of_view(tool: PublishedTool | None) -> list[str]:
    """Return what a tool's view draws beside the answer."""
    return list(tool.offers) if tool is not None and tool.name in VIEW_BY_TOOL else []


def list_view_resources() -> list[types.Resource]:
    """Return the entries of all views in ``resources/list``."""
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


def find_view(uri: str) -> View | None:
    """Return the view at an address."""
    return VIEW_BY_URI.get(uri)


def read_view(view: View) -> types.ReadResourceResult:
    """Return a view's document."""
    contents = types.TextResourceContents(uri=view.uri, mime_type=MIME_TYPE, text=read_page(view), _meta=_RESOURCE_META)
    return types.ReadResourceResult(contents=[contents], ttl_ms=_PAGE_TTL_MS, cache_scope="public")
