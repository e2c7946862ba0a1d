"""``tool_details``: the parameters and answers of a tool, from its specification."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.wire import schema_of
from fingerpost.errors import ToolNotFound
from fingerpost.filings.query_params import StepParams, Word
from fingerpost.filings.reply import Reply
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool


class ToolDetailsParams(StepParams):
    tool_name: Word


_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "entries at least",
    "maxItems": "entries at most",
    "pattern": "like",
}

ListSpecs = Callable[[], list[ToolSpec]]


def _details(list_specs: ListSpecs, params: ToolDetailsParams) -> Reply:
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
        "parameters_by_query_type": {kind: schema_of(model) for kind, model in spec.input_schema.items()},
        "documentation": _document(spec),
    }
    return Reply([extra], extra=extra)


def _document(spec: ToolSpec) -> str:
    lines = [spec.name, spec.description]
    for kind, model in spec.input_schema.items():
        schema = schema_of(model)
        required = set(schema.get("required", ()))
        fields = schema.get("properties", {})
        lines.append(f"{kind}:" if fields else f"{kind}: no parameters")
        for name, field in fields.items():
            optional = "" if name in required else "?"
            about = f": {field['description']}" if "description" in field else ""
            lines.append(f"  {name}{optional} ({_describe_type(field, schema)}){about}")
    return "\n".join(lines)


def _describe_type(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "$ref" in field:
        field = {**schema.get("$defs", {}).get(field["$ref"].rpartition("/")[2], {}), **field}
    if "enum" in field or "const" in field:
        text = " or ".join(json.dumps(value) for value in field.get("enum", [field.get("const")]))
    elif "anyOf" in field or "oneOf" in field:
        kinds = [_describe_type(part, schema) for part in field.get("anyOf", field.get("oneOf", ()))]
        text = " or ".join(kind for kind in dict.fromkeys(kinds) if kind != "null")
    elif field.get("type") == "array":
        text = f"list of {_describe_type(field.get('items', {}), schema)}"
    elif field.get("properties"):
        types = (f"{name}: {_describe_type(part, schema)}" for name, part in field["properties"].items())
        text = f"object of {', '.join(types)}"
    else:
        text = str(field.get("type", "anything"))
    bounds = [f"{word} {field[key]}" for key, word in _BOUNDS.items() if key in field]
    if field.get("default") is not None:
        bounds.append(f"default {json.dumps(field['default'])}")
    return ", ".join([text, *bounds])


_QUERIES: tuple[QueryType[ListSpecs, Any], ...] = (
    QueryType(
        name="tool_details",
        params=ToolDetailsParams,
        answer=_details,
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
        intro="The parameters of each query type of a tool, as JSON Schema, and what it answers. query_type ",
    )
