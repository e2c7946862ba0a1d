"""Tool specifications and their registry (plan-step contract, statements S7 to S10 and S59)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from fingerpost.contract.wire import WireModel
from fingerpost.errors import BrokenContract


class ToolSpec(BaseModel):
    """Tool specification: the parameter model for each query type, and the key of the tool's output in memory."""

    model_config = ConfigDict(extra="forbid")

    name: str
    input_schema: dict[str, type[BaseModel]]
    output_key: str
    description: str = ""


class ToolInput(WireModel):
    """Base model for tool inputs: a query type, and its parameters."""

    model_config = ConfigDict(alias_generator=None)

    query_type: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolRegistry:
    """The specifications of the built-in tools, and of tools that this process adds."""

    _specs: ClassVar[Mapping[str, ToolSpec]] = {}

    @classmethod
    def add(cls, specs: Iterable[ToolSpec]) -> None:
        """Add or replace specifications by name; raise BrokenContract if two of them share a name."""
        by_name: dict[str, ToolSpec] = {}
        for spec in specs:
            if by_name.setdefault(spec.name, spec) != spec:
                raise BrokenContract(f"Two different tools are called '{spec.name}'")
        cls._specs = {**cls._specs, **by_name}

    @classmethod
    def get_tool_spec(cls, name: str) -> ToolSpec | None:
        """Return the specification, or None for an unknown name; the contract prescribes this method's name."""
        return cls._specs.get(name)
