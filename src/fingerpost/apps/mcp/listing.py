"""A tool and an answer as the protocol has them."""

from typing import Any

import mcp_types as types

from fingerpost.contract.published import Answer, PublishedTool

CORRELATION_ID = "fingerpost/correlationId"


def tool_of(tool: PublishedTool) -> types.Tool:
    """Return a tool's entry in ``tools/list``; all four annotations are stated, since absence means danger."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


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
        "_meta": {CORRELATION_ID: answer.correlation_id},
    }
