"""``tool_details``: describe a tool's parameters and responses from its specification."""

import json
from collections.abc import Callable

from fingerpost.contract.tool import ToolSpec
from fingerpost.contract.wire import build_json_schema
from fingerpost.errors import ToolNotFound
from fingerpost.filings.query_params import StepParams, Word
from fingerpost.filings.reply import Reply
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool


class ToolDetailsParams(StepParams):
    tool_name: Word


ListSpecs = Callable[[], list[ToolSpec]]


def _answer_tool_details(list_specs: ListSpecs, params: ToolDetailsParams) -> Reply:
    specs = {spec.name: spec for spec in list_specs()}
    spec = specs.get(params.tool_name)
    if spec is None:
        error = ToolNotFound(params.tool_name)
        # The original tool sends this message in both fields.
        message = f"Tool '{params.tool_name}' not found"
        details = {**error.details, "available_tools": sorted(specs), "warning": message}
        raise error.with_message(message, details=details, hint=f"The tools are: {', '.join(sorted(specs))}")
    extra = {
        "tool_name": spec.name,
        "description": spec.description,
        "parameters_by_query_type": {
            query_type: build_json_schema(model) for query_type, model in spec.input_schema.items()
        },
        "documentation": _format_documentation(spec),
    }
    return Reply([extra], extra=extra)


def _format_documentation(spec: ToolSpec) -> str:
    """Format the query types and parameters as text; optional parameters get a question mark."""
    lines = [spec.name, spec.description]
    for query_type, model in spec.input_schema.items():
        schema = build_json_schema(model)
        required = schema.get("required", ())
        fields = schema.get("properties", {})
        lines.append(f"{query_type}:" if fields else f"{query_type}: no parameters")
        lines += [f"  {name}{'' if name in required else '?'}: {json.dumps(field)}" for name, field in fields.items()]
        lines += [f"  {name}: {json.dumps(definition)}" for name, definition in schema.get("$defs", {}).items()]
    return "\n".join(lines)


_QUERIES = (
    QueryType(
        name="tool_details",
        params=ToolDetailsParams,
        answer=_answer_tool_details,
        shape=shape.DetailsAnswer,
        text=lambda body: str(body["documentation"]),
        usage='tool_details {tool_name: "sec_financial_data"}',
        continuation_hint="The resource fingerpost://schemas/TOOL has a tool's complete schemas.",
        truncatable_paths=(("results",), ("parameters_by_query_type",), ("documentation",)),
    ),
)


class ToolDetails(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "tool_details",
        "What a tool expects",
        _QUERIES,
        intro="The parameters of each query type of a tool, as JSON Schema, and what it returns. query_type ",
    )
