"""Tools, their specifications and the standard response (plan-step contract, rule F1, statements S7 to S10 and S46)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from fingerpost.contract.wire import SnakeCaseModel
from fingerpost.errors import BrokenContract


def success_response(
    tool: str,
    query_type: str,
    parameters: Mapping[str, Any],
    results: Sequence[Any],
    additional_data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a standard response with ``success`` true, as ``Tool.format_success_response`` does."""
    standard: dict[str, Any] = {
        "query_type": query_type,
        "parameters": dict(parameters),
        "results": list(results),
        "output_key": tool,
        "success": True,
    }
    extra = additional_data or {}
    clashes = sorted(standard.keys() & extra.keys())
    if clashes:
        raise BrokenContract(
            f"{tool}: additional data would replace standard fields of the response: {', '.join(clashes)}"
        )
    return standard | dict(extra)


def failure_response(
    tool: str,
    query_type: str,
    parameters: Mapping[str, Any],
    error_message: str,
    error_type: str = "error",
    additional_data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a standard response with ``success`` false, as ``Tool.format_error_response`` does."""
    if error_type not in ("error", "warning"):
        raise BrokenContract(f"{tool}: error_type must be error or warning, not {error_type!r}")
    fields = {error_type: error_message, **(additional_data or {})}
    return success_response(tool, query_type, parameters, (), fields) | {"success": False, error_type: error_message}


class Tool(ABC):
    """A tool that returns the standard response; its name is the ``output_key`` of its responses."""

    name: str

    @abstractmethod
    async def execute(self, query_type: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the standard response, even for a failure."""

    def format_success_response(
        self,
        query_type: str,
        parameters: Mapping[str, Any],
        results: Sequence[Any],
        additional_data: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a standard response with ``success`` true; ``additional_data`` is added at the top level.

        Raise BrokenContract if additional data would replace a standard field.
        """
        return success_response(self.name, query_type, parameters, results, additional_data)

    def format_error_response(
        self,
        query_type: str,
        parameters: Mapping[str, Any],
        error_message: str,
        error_type: str = "error",
        additional_data: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a standard response with ``success`` false; ``error_type`` is ``error`` or ``warning``.

        Raise BrokenContract for any other error type, or if additional data would replace a standard field.
        """
        return failure_response(self.name, query_type, parameters, error_message, error_type, additional_data)


class ToolSpec(BaseModel):
    """Tool specification: the parameter model for each query type, and the memory key for the tool's output."""

    model_config = ConfigDict(extra="forbid")

    name: str
    input_schema: dict[str, type[BaseModel]]
    output_key: str
    description: str = ""


class ToolInput(SnakeCaseModel):
    """Base model for tool inputs: a query type and its parameters."""

    query_type: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolRegistry:
    """The specifications of the built-in tools, and of the tools that this process adds."""

    _specs: ClassVar[Mapping[str, ToolSpec]] = {}

    @classmethod
    def add(cls, specs: Iterable[ToolSpec]) -> None:
        """Add or replace specifications by name; raise BrokenContract if two in ``specs`` share a name but differ."""
        by_name: dict[str, ToolSpec] = {}
        for spec in specs:
            if by_name.setdefault(spec.name, spec) != spec:
                raise BrokenContract(f"Two different tools are called '{spec.name}'")
        cls._specs = {**cls._specs, **by_name}

    @classmethod
    def get_tool_spec(cls, name: str) -> ToolSpec | None:
        """Return the specification, or None for an unknown name; the contract prescribes this method's name."""
        return cls._specs.get(name)
