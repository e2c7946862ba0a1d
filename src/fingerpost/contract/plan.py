"""A plan as data (plan-step contract, rule F6).

Unknown fields are errors, because a misspelled condition must not be ignored (rule A2).
"""

from contextvars import ContextVar
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from fingerpost.contract.wire import SnakeCaseModel


def _validate_timestamp(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"must be an ISO 8601 timestamp, such as 2022-02-22T06:00:00Z; you sent {value!r}") from error
    return value


Timestamp = Annotated[str, AfterValidator(_validate_timestamp)]
"""An instant as an ISO 8601 string, stored unchanged."""

Status = Literal["pending", "in_progress", "completed", "failed"]


class PlanStep(SnakeCaseModel):
    """A step in a plan.

    Attributes:
        agent: the agent to use, if any; if ``tool`` is set, the agent that calls the tool.
        dependencies: ids of the steps that must be completed before this step.
        expected_key: the memory key for the step's output; the ToolSpec's output key if None.
        output_path: the keys that lead to the value in the tool's result.
        done_check: a condition under which the step is skipped.
    """

    step_id: int
    description: str
    tool: str | None = None
    agent: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    dependencies: list[int] = Field(default_factory=list)
    expected_key: str | None = None
    output_path: list[str] | None = None
    done_check: str | None = None
    status: Status = "pending"
    completed_at: Timestamp | None = None
    skipped: bool = False


class Plan(SnakeCaseModel):
    """A plan; ``owner`` is free text, and ``can_modify`` allows changes to unfinished steps."""

    goal: str
    steps: list[PlanStep] = Field(default_factory=list)
    status: Status = "pending"
    created_at: Timestamp
    completed_at: Timestamp | None = None
    owner: str = "agent"
    can_modify: bool = True


IDEMPOTENCY_KEY: ContextVar[str | None] = ContextVar("fingerpost_idempotency_key", default=None)
"""The runner sets it for the task that executes a step."""


def find_idempotency_key() -> str | None:
    """Return the idempotency key of the current plan step, or None outside plans.

    All attempts of a step in a run have the same key, even after a crash, so sources can detect repeated requests.
    """
    return IDEMPOTENCY_KEY.get()
