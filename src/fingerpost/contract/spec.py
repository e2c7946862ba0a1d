"""Tool specifications and their registry (plan-step contract, statements S7 to S10 and S59)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from fingerpost.errors import BrokenContract


class ToolSpec(BaseModel):
    """Tool specification.

    Attributes:
        name: the name of the tool.
        input_schema: query type to parameter model.
        output_key: the key under which the tool's output is kept in memory.
        description: what the tool does.
        output_schema: query type to the answer's shape, a TypedDict or a model; ours, empty where there is none.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    input_schema: dict[str, type[BaseModel]]
    output_key: str
    description: str = ""
    output_schema: dict[str, type[object]] = Field(default_factory=dict)


class ToolInput(BaseModel):
    """Base model for tool inputs.

    Attributes:
        query_type: which of the tool's questions is asked.
        parameters: the arguments, as the query type's model wants them.
    """

    model_config = ConfigDict(extra="forbid")

    query_type: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolRegistry:
    """All tool specifications of this process, by name."""

    _specs: ClassVar[dict[str, ToolSpec]] = {}

    @classmethod
    def register(cls, spec: ToolSpec) -> None:
        """Add a specification; raise BrokenContract if a different one already has that name."""
        if cls._specs.setdefault(spec.name, spec) != spec:
            raise BrokenContract(f"Two different tools are called '{spec.name}'")

    @classmethod
    def replace(cls, spec: ToolSpec) -> None:
        """Add a specification in place of another of its name: a tool of one's own may be defined anew."""
        cls._specs[spec.name] = spec

    @classmethod
    def get_tool_spec(cls, name: str) -> ToolSpec | None:
        """Return the specification, or None for an unknown name (the contract says get)."""
        return cls._specs.get(name)

    @classmethod
    def list_tool_specs(cls) -> list[ToolSpec]:
        """Return all specifications, sorted by name."""
        return [cls._specs[name] for name in sorted(cls._specs)]

    @classmethod
    @contextmanager
    def only(cls, *specs: ToolSpec) -> Iterator[None]:
        """Replace all specifications for a block, then restore them."""
        before, cls._specs = cls._specs, {}
        try:
            for spec in specs:
                cls.register(spec)
            yield
        finally:
            cls._specs = before
