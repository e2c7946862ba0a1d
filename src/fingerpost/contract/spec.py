"""Tool specifications (plan-step contract, statements S7 to S10)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


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
