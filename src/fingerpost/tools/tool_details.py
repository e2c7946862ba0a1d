"""``tool_details``: what a tool expects and returns, from the specifications themselves."""

from collections.abc import Callable
from typing import Any, ClassVar

from fingerpost.contract.registry import ToolRegistry
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.wire import schema_of
from fingerpost.errors import ToolNotFound
from fingerpost.filings.reply import Reply
from fingerpost.tools import sec_shapes as shape
from fingerpost.tools.sec_params import Word
from fingerpost.tools.sec_query import QueryTool, QueryType, StepParams


class ToolDetailsParams(StepParams):
    """Which tool."""

    tool_name: Word


ListSpecs = Callable[[], list[ToolSpec]]


def _details(list_specs: ListSpecs, params: ToolDetailsParams) -> Reply:
    """Return one tool's specification.

    Raises:
        ToolNotFound: there is no such tool; ``details`` lists those that are.
    """
    specs = {spec.name: spec for spec in list_specs()}
    spec = specs.get(params.tool_name)
    if spec is None:
        error = ToolNotFound(params.tool_name)
        # The original's own sentence, and both of its fields.
        error.message = f"Tool '{params.tool_name}' not found"
        error.details |= {"available_tools": sorted(specs), "warning": error.message}
        error.hint = f"The tools are: {', '.join(sorted(specs))}"
        raise error
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
        names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
        lines.append(f"{kind}: {', '.join(names) or 'no parameters'}")
    return "\n".join(lines)


class ToolDetails(QueryTool):
    """The specifications of all tools."""

    name = "tool_details"
    title = "What a tool expects"
    queries: ClassVar[tuple[QueryType[ListSpecs, Any], ...]] = (
        QueryType(
            name="tool_details",
            params=ToolDetailsParams,
            answer=_details,
            output=shape.DetailsAnswer,
            text=lambda body: str(body["documentation"]),
            usage='tool_details {tool_name: "sec_financial_data"}',
        ),
    )
    intro = "The parameters of each query type of a tool, as JSON Schema, and what it answers. query_type "
    outro = "."

    def __init__(self, list_specs: ListSpecs = ToolRegistry.list_tool_specs) -> None:
        super().__init__(list_specs)
