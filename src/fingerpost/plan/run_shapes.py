"""Input and output models of ``run_plan`` and ``get_plan_run`` (plan-step contract, snake_case names)."""

from typing import Annotated, Any, Literal, NotRequired, final

from pydantic import Field, WithJsonSchema

from fingerpost.contract.wire import SnakeCaseModel, TruncationNotice, WholeNumber, WireDict

TRUNCATABLE_PATHS = (
    ("results",),
    *(("data", part) for part in ("values", "steps", "waiting_for", "goal", "next")),
    *(("data", "plan", part) for part in ("steps", "goal")),
    *(("data", part) for part in ("memory", "items", "events")),
)
CONTINUATION_HINT = (
    "The resource fingerpost://runs/RUN_ID has more; fingerpost runs show RUN_ID --json prints everything. A plan "
    "whose memory_of is this run can use its values by $ref and path."
)


# A JSON value from a record. It is not validated again, because validation takes up to 0.1 s.
Recorded = Any


class RunPlanInput(SnakeCaseModel):
    """A plan to start, or an action on a run."""

    plan: Annotated[
        Any,
        Field(
            description="{goal, steps: [{step_id, description, tool, parameters, expected_key, output_path?, "
            'dependencies?, done_check?, agent?}]}; {"$ref": key, "path"?: JMESPath, "default"?} uses a step\'s value',
        ),
        WithJsonSchema({"type": "object"}),
    ] = None
    user_input: Annotated[str | None, Field(max_length=2000, description="the goal in words, instead of plan")] = None
    memory: Annotated[Any, Field(description="initial values by key"), WithJsonSchema({"type": "object"})] = None
    memory_of: Annotated[str | None, Field(description="run_id of an earlier run: start with its memory")] = None
    run_id: Annotated[str | None, Field(description="required with action")] = None
    action: Literal["approve", "reject", "cancel", "resume", "replace"] | None = None
    step_id: Annotated[WholeNumber | None, Field(description="the step to approve or reject")] = None
    note: Annotated[str | None, Field(max_length=2000, description="reason for the decision")] = None
    value: Annotated[Any, Field(description="a value to pass on with the approval")] = None
    wait_seconds: Annotated[WholeNumber, Field(ge=0, le=60, description="how long to wait for the run to end")] = 20


class GetPlanRunInput(SnakeCaseModel):
    run_id: str | None = None
    include: Annotated[list[Literal["plan", "memory", "items", "events"]] | None, Field(max_length=4)] = None


class Progress(WireDict):
    completed: int
    failed: int
    total: int


class RunRemark(WireDict):
    """A remark from a step's tool; ``at`` is its path in the response."""

    kind: Literal["missing", "note", "hint", "did_you_mean", "candidates", "warning"]
    at: str
    value: Recorded


class RunStep(WireDict):
    """A step of a run; if ``retryable`` is true, repeating the failed step may succeed."""

    step_id: int
    description: str
    tool: NotRequired[str]
    agent: NotRequired[str]
    status: Literal["pending", "in_progress", "completed", "failed"]
    skipped: bool
    waiting: bool
    completed_at: NotRequired[str]
    attempts: int
    error: NotRequired[str]
    error_code: NotRequired[str]
    retryable: NotRequired[bool]
    remarks: list[RunRemark]


class RunValue(WireDict):
    """A partial result: the value at a key's output path."""

    key: str
    value: NotRequired[Recorded]
    left_out: bool


class RunEvent(WireDict):
    seq: int
    at: str
    kind: str
    step_id: NotRequired[int]
    data: NotRequired[Recorded]


class RunView(WireDict):
    run_id: str
    state: Literal["running", "waiting", "completed", "failed", "cancelled", "interrupted"]
    goal: str
    status: Literal["pending", "in_progress", "completed", "failed"]
    created_at: str
    ended_at: NotRequired[str]
    replans: int
    progress: Progress
    waiting_for: list[int]
    steps: list[RunStep]
    values: list[RunValue]
    next: NotRequired[str]
    resumable: Annotated[bool, Field(description="whether resuming may make progress")]
    remarks_left_out: Annotated[int, Field(description="how many; get_plan_run with include memory returns them")]
    plan: NotRequired[Recorded]
    memory: NotRequired[Recorded]
    items: NotRequired[list[Recorded]]
    events: NotRequired[list[RunEvent]]


class RunSummaryView(WireDict):
    run_id: str
    state: str
    goal: str
    created_at: str
    ended_at: NotRequired[str]
    completed: int
    total: int


class _StandardResponse(WireDict):
    query_type: str
    parameters: Recorded
    output_key: str
    success: bool
    left_out: NotRequired[list[TruncationNotice]]


@final
class RunAnswer(_StandardResponse):
    """The standard response; ``data`` is the run, and ``results`` are its values so far."""

    results: list[RunValue]
    error: NotRequired[str]
    data: RunView


@final
class RunsAnswer(_StandardResponse):
    """The standard response; ``results`` are the caller's runs, newest first."""

    results: list[RunSummaryView]
