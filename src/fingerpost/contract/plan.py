"""A plan as data (plan-step contract, rule F6).

Unknown fields are refused: a misspelt condition must not silently vanish (rule A2).
"""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from fingerpost.contract.wire import WireModel


def _read_timestamp(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(
            f"must be a timestamp in ISO 8601, such as 2022-02-22T06:00:00Z; you sent {value!r}"
        ) from error
    return value


Timestamp = Annotated[str, AfterValidator(_read_timestamp)]
"""An instant as text in ISO 8601, unchanged."""

Status = Literal["pending", "in_progress", "completed", "failed"]


class SnakeCaseModel(WireModel):
    """A wire object of the plan-step contract, which has snake_case names in JSON too."""

    model_config = ConfigDict(alias_generator=None)


class PlanStep(SnakeCaseModel):
    """Plan step.

    Attributes:
        agent: the agent to use, if any; with ``tool``, the agent that performs it.
        dependencies: ids of the steps that must be completed before this one.
        expected_key: the memory key for the step's output; the ToolSpec's output key where None.
        output_path: the way to the value in the tool's result.
        done_check: a condition under which the step need not run.
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
    """Plan; ``owner`` is free text, and ``can_modify`` allows changes of its unfinished steps."""

    goal: str
    steps: list[PlanStep] = Field(default_factory=list)
    status: Status = "pending"
    created_at: Timestamp
    completed_at: Timestamp | None = None
    owner: str = "agent"
    can_modify: bool = True


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a step.

    ``idempotency_key`` is the same for every attempt of one step of one run, before and after a crash, so a source that
    gets it can refuse to do a thing twice. ``number`` counts from 1 since the step was last begun.
    """

    idempotency_key: str
    number: int


_CURRENT: ContextVar[Attempt | None] = ContextVar("fingerpost_attempt", default=None)


def find_attempt() -> Attempt | None:
    """Return the attempt that the running code is part of; None outside plans."""
    return _CURRENT.get()


def begin_attempt(attempt: Attempt) -> None:
    """Make an attempt the current one of this task, until the next one begins."""
    _CURRENT.set(attempt)
