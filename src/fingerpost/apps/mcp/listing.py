"""Convert tools and answers to the protocol's types."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from fingerpost.contract.published import Answer, PublishedTool

CORRELATION_ID = "fingerpost/correlationId"
# In a tool's entry: what can be asked for beside its answer.
OFFERS = "fingerpost/offers"
# What a request's _meta may ask for by a true beside it, and where the result's _meta has it.
BESIDE = {
    "fingerpost/geometry": "geometry",
    "fingerpost/lineColors": "lineColors",
    "fingerpost/basemap": "basemap",
}


def tool_of(tool: PublishedTool) -> types.Tool:
    """Return a tool's entry in ``tools/list``; all four annotations are stated, since absence means danger."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.full_description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
        _meta={OFFERS: [key for key, name in BESIDE.items() if name in tool.offers]} if tool.offers else None,
    )


def list_wants(params: types.CallToolRequestParams) -> list[str]:
    """Return what a call wants beside the tool's answer: each key of its ``_meta`` that is known and true."""
    meta: Mapping[str, Any] = params.meta or {}
    return [name for key, name in BESIDE.items() if meta.get(key) is True]


def states_wants(params: types.CallToolRequestParams) -> bool:
    """Whether a call says in its ``_meta``, either way, what it wants beside the tool's answer."""
    return not BESIDE.keys().isdisjoint(params.meta or {})


def result_of(answer: Answer) -> dict[str, Any]:
    """Return an answer as a ``CallToolResult``, whose structured content and text each stand alone.

    It is in the wire's form: the protocol reads every result into its own model before it sends it, so to build
    one here would be work done twice.
    """
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": answer.text}],
        "structuredContent": answer.body,
        "isError": answer.is_error,
        "_meta": {
            CORRELATION_ID: answer.correlation_id,
            **{key: answer.beside[name] for key, name in BESIDE.items() if name in answer.beside},
        },
    }
