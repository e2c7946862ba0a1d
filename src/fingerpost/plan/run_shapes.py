"""What ``run_plan`` and ``get_plan_run`` take and answer (contract 002's names: snake_case, nulls written)."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from fingerpost.contract.wire import Flag, Whole, WireModel


class StepWise(WireModel):
    """A closed shape whose names go over the wire as they are."""

    model_config = ConfigDict(alias_generator=None, extra="forbid")


class RunPlanInput(StepWise):
    """A plan to start, or something to do with a run."""

    plan: Annotated[
        Any,
        Field(
            description="{goal, steps: [{step_id, description, tool, parameters, expected_key, output_path?, "
            'dependencies?, done_check?, agent?}]}; {"$ref": key, "path"?: JMESPath, "default"?} takes a step\'s value'
        ),
    ] = None
    user_input: Annotated[str | None, Field(max_length=2000, description="instead of plan: the goal in words")] = None
    wanted: Annotated[list[str] | None, Field(max_length=50, description="with user_input: memory keys wanted")] = None
    memory: Annotated[Any, Field(description="values by key to start from")] = None
    memory_of: Annotated[str | None, Field(description="run_id whose memory to start from")] = None
    run_id: Annotated[str | None, Field(description="with action")] = None
    action: Literal["approve", "reject", "cancel", "resume", "replace"] | None = None
    step_id: Annotated[Whole | None, Field(description="the step to approve or reject")] = None
    note: Annotated[str | None, Field(max_length=2000, description="why")] = None
    value: Annotated[Any, Field(description="what the approval adds")] = None
    wait_seconds: Annotated[Whole, Field(ge=0, le=60, description="longest wait for the end")] = 20


class GetPlanRunInput(StepWise):
    """Which run, and how much of it."""

    run_id: Annotated[str | None, Field(description="left out: your runs")] = None
    include: Annotated[
        list[Literal["plan", "memory", "items", "events", "mermaid"]] | None, Field(max_length=5, description="more")
    ] = None
    after_event: Annotated[Whole, Field(ge=0, description="only later events")] = 0


class Progress(StepWise):
    """How many steps stand how."""

    completed: Whole
    failed: Whole
    total: Whole


class RunRemark(StepWise):
    """One thing that a step's tool said beside its value, as the tool wrote it; ``at`` is its place in the response."""

    kind: Literal["missing", "note", "hint", "did_you_mean", "candidates", "warning"]
    at: str
    value: Any


class RunStep(StepWise):
    """A step of a run; ``retryable`` says of a failure whether it may pass when the step runs again."""

    keeps_nulls: ClassVar[bool] = True

    step_id: Whole
    description: str
    tool: str | None = None
    agent: str | None = None
    status: Literal["pending", "in_progress", "completed", "failed"]
    skipped: Flag
    waiting: Flag
    completed_at: str | None = None
    attempts: Whole
    error: str | None = None
    error_code: str | None = None
    retryable: Flag | None = None
    remarks: list[RunRemark]


class RunValue(StepWise):
    """A partial result: what stands at a key's output path."""

    key: str
    value: Any = None
    left_out: Flag


class RunEvent(StepWise):
    """Something that happened."""

    seq: Whole
    at: str
    kind: str
    step_id: Whole | None = None
    data: Any = None


class RunView(StepWise):
    """A run."""

    run_id: str
    state: Literal["running", "waiting", "completed", "failed", "cancelled", "interrupted"]
    goal: str
    status: Literal["pending", "in_progress", "completed", "failed"]
    created_at: str
    ended_at: str | None = None
    replans: Whole
    progress: Progress
    waiting_for: list[Whole]
    steps: list[RunStep]
    values: list[RunValue]
    last_event: Whole
    next: str | None = None
    resumable: Annotated[Flag, Field(description="whether resuming may bring the run further")]
    remarks_left_out: Annotated[Whole, Field(description="they are in the memory that get_plan_run includes")]
    plan: Any = None
    memory: Any = None
    items: list[Any] | None = None
    events: list[RunEvent] | None = None
    mermaid: str | None = None


class RunLineView(StepWise):
    """A run in a list."""

    run_id: str
    state: str
    goal: str
    created_at: str
    ended_at: str | None = None
    completed: Whole
    total: Whole


class RunAnswer(StepWise):
    """The standard response; ``data`` is the run, ``results`` what it has found so far."""

    query_type: str
    parameters: Any
    results: list[RunValue]
    output_key: str
    success: Flag
    error: str | None = None
    data: RunView


class RunsAnswer(StepWise):
    """The standard response; ``results`` are the caller's runs, newest first."""

    query_type: str
    parameters: Any
    results: list[RunLineView]
    output_key: str
    success: Flag
