"""``tool_details``: what a tool expects and returns, from the specifications themselves."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from fingerpost.contract.registry import ToolRegistry
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.wire import schema_of
from fingerpost.errors import ToolNotFound
from fingerpost.filings.reply import Reply
from fingerpost.tools import sec_shapes as shape
from fingerpost.tools.sec_params import Word
from fingerpost.tools.sec_query import QueryKind, QueryTool, StepParams


class ToolDetailsParams(StepParams):
    """Which tool."""

    tool_name: Word


class ToolDetails(QueryTool):
    """The specifications of all tools."""

    name = "tool_details"
    title = "What a tool expects"
    description = (
        "The parameters of each query type of a tool, as JSON Schema, and what it answers. "
        'query_type tool_details {tool_name: "sec_financial_data"}.'
    )
    kinds: ClassVar[Mapping[str, QueryKind]] = {
        "tool_details": QueryKind(ToolDetailsParams, shape.DetailsAnswer, "what a tool expects and returns")
    }

    def __init__(self, list_specs: Callable[[], list[ToolSpec]] = ToolRegistry.list_tool_specs) -> None:
        self._list_specs = list_specs

    def reply(self, query_type: str, params: ToolDetailsParams) -> Reply:  # noqa: ARG002  (there is one)
        """Return one tool's specification.

        Raises:
            ToolNotFound: there is no such tool; ``details`` lists those that are.
        """
        specs = {spec.name: spec for spec in self._list_specs()}
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

    def say(self, query_type: str, body: Mapping[str, Any]) -> str:  # noqa: ARG002  (there is one)
        """Return the documentation."""
        text: str = body["documentation"]
        return text


def _document(spec: ToolSpec) -> str:
    lines = [spec.name, spec.description]
    for kind, model in spec.input_schema.items():
        schema = schema_of(model)
        required = set(schema.get("required", ()))
        names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
        lines.append(f"{kind}: {', '.join(names) or 'no parameters'}")
    return "\n".join(lines)
