"""Plans, tools and errors in user code: every line here must type-check."""

from collections.abc import Mapping
from typing import Any, Literal, assert_type

from pydantic import BaseModel

import fingerpost
from fingerpost import (
    DataNotFound,
    FinancialFactsParams,
    ParameterError,
    Plan,
    PlanningCapability,
    PlanStep,
    QueryTypeUnsupported,
    StorageUnavailable,
    Tool,
    ToolError,
    ToolInput,
    ToolNotFound,
    ToolRegistry,
    ToolSpec,
    validate_call,
)


class Echo(Tool):
    """A tool of the user's own."""

    name = "echo"

    async def execute(self, query_type: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Answer with what was asked."""
        return self.format_success_response(query_type, parameters, [dict(parameters)], {"source": "here"})


class EchoParams(BaseModel):
    """What it takes."""

    text: str


def describe_plan() -> None:
    step = PlanStep(step_id=1, description="ask", tool="echo", parameters={"text": "hello"}, dependencies=[])
    plan = Plan(goal="greet", steps=[step], created_at="2026-03-10T08:00:00+02:00")
    assert_type(plan.steps, list[PlanStep])
    assert_type(plan.status, Literal["pending", "in_progress", "completed", "failed"])
    assert_type(plan.steps[0].tool, str | None)


def describe_tool() -> None:
    spec = ToolSpec(name="echo", input_schema={"say": EchoParams}, output_key="echo")
    ToolRegistry.add([spec])
    assert_type(ToolRegistry.get_tool_spec("echo"), ToolSpec | None)
    validate_call("echo", "say", ToolInput(query_type="say", parameters={"text": "hi"}).parameters)


async def run_tool(planning: PlanningCapability) -> None:
    assert_type(await Echo().execute("say", {"text": "hello"}), dict[str, Any])
    assert_type(await planning.create_plan("greet"), Plan)


def read_errors() -> None:
    facts = FinancialFactsParams(
        ticker="AAPL", metrics=["revenue"], start_date="2024-01-01", end_date="2024-12-31", filing_type=None
    )
    assert_type(facts.metrics, list[str])
    try:
        validate_call("echo", "say", {})
    except (ToolNotFound, QueryTypeUnsupported, ParameterError, DataNotFound, StorageUnavailable) as error:
        wide: ToolError = error
        assert_type(wide.message, str)
        assert_type(wide.hint, str | None)
    assert_type(fingerpost.__version__, str)
